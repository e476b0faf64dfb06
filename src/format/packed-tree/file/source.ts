/** The particles of a `.ptree` file, or of a level of its sample, as the query engine wants them: each block is a chunk, in its box. */
import { numericView } from "../../../codec/numeric.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { numberedChunks } from "../../../model/numbered-chunks.js";
import type { LevelSource, Tile, Want } from "../../../model/source.js";
import type { Query } from "../../../model/vectors.js";
import { INSIDE, OUTSIDE, regionTest, type TreeRegion } from "../region.js";
import type { Blocks, Pages } from "./blocks.js";
import { ALL, type Description, type FileColumn, ORDER_TYPE, ORIGINAL, SAMPLE } from "./description.js";
import { type ParticleFile, splitParticles } from "./read.js";

/** Blocks that are read together: up to a million particles. */
const TOGETHER = 2048;

/** Level 0 is all particles, level 1 the finest one of the sample. Of the table those pages are read that the query may meet. */
export function particleSource(file: ParticleFile, level: number, query: Query): LevelSource {
  const { description } = file;
  const { particles, attributes } = description;
  const part = level === 0 ? ALL : SAMPLE;
  const until = untilOf(description, level);
  const columns = new Map(attributes.map((column) => [column.name, column]));
  const original = { name: ORIGINAL, dtype: ORDER_TYPE, channels: 1, description: ABOUT_ORIGINAL };
  const infos = new Map<string, AttributeInfo>([
    [ORIGINAL, original],
    ...attributes.map((column) => [column.name, infoOf(column)] as const),
  ]);
  const schema = { vertex: [...infos.values()], link: [], fragment: [], object: [], group: [] };
  const columnsOf = ({ positions, vertex }: Want): FileColumn[] => [
    ...(positions || vertex.includes(ORIGINAL) ? [particles] : []),
    ...vertex.flatMap((name) => columns.get(name) ?? []),
  ];
  let known: Promise<Blocks> | undefined;
  const blocksFor = (options: ReadOptions = {}): Promise<Blocks> => {
    known ??= file
      .blocks(part, pagesFor(file.pages[part], until, query), options)
      .then((blocks) => upTo(blocks, until))
      .catch((error: unknown) => {
        known = undefined; // nobody else should fail because one caller left
        throw error;
      });
    return known;
  };
  return {
    level,
    dims: 3,
    geometry: "points",
    linkWidth: 0,
    sequential: false,
    together: TOGETHER,
    schema: async () => schema,
    async chunks(options) {
      const { count, boxes, numbers } = await blocksFor(options);
      const find = (place: ArrayLike<number>, at = 0): number => numbers.indexOf(place[at]!);
      return { ...numberedChunks(count, boxes), coords: Int32Array.from(numbers), find };
    },
    async *tiles(wanted, want, options): AsyncGenerator<Tile> {
      const blocks = await blocksFor(options);
      const read = columnsOf(want);
      for (let from = 0; from < wanted.length; from += TOGETHER) {
        const some = wanted.slice(from, from + TOGETHER);
        const values = await file.read(part, read, blocks, some, options);
        for (const [i, chunk] of some.entries()) {
          const vertices = blocks.sizes[chunk]!;
          const own = new Map(read.map((column, k) => [column, values[i]![k]!]));
          const core = own.get(particles);
          const [positions, numbers] = core === undefined ? [] : splitParticles(core, vertices, particles);
          const vertexColumns = new Map<string, Column>();
          for (const name of want.vertex) {
            const [info, column] = [infos.get(name), columns.get(name)];
            if (name === ORIGINAL) vertexColumns.set(name, { info: original, values: numbers! });
            else if (column !== undefined)
              vertexColumns.set(name, { info: info!, values: numericView(column.dtype, own.get(column)!) });
          }
          const parts = Uint32Array.of(0, vertices);
          yield {
            chunk,
            vertices,
            positions: want.positions ? positions! : new Float32Array(),
            parts,
            vertexColumns,
            fragmentColumns: new Map(),
          };
        }
      }
    },
    async *links() {},
    objects: undefined,
    async cost(wanted, want, options) {
      const blocks = await blocksFor(options);
      const groups = Array.from({ length: Math.ceil(wanted.length / TOGETHER) }, (_, i) =>
        file.plan(part, columnsOf(want), blocks, wanted.slice(i * TOGETHER, (i + 1) * TOGETHER), options?.requests),
      );
      const spans = groups.flat();
      return { requests: spans.length, bytes: spans.reduce((sum, { length }) => sum + length, 0), exact: true };
    },
    async counts(wanted, options) {
      const { sizes } = await blocksFor(options);
      return Uint32Array.from(wanted, (chunk) => sizes[chunk]!);
    },
  };
}

const ABOUT_ORIGINAL = "the number of the particle in the data that the tree was built from";

const infoOf = ({ name, dtype, channels, unit, description }: FileColumn): AttributeInfo => ({
  name,
  dtype,
  channels,
  unit,
  description,
});

/** How many particles a level answers with at least, by what the head of the file says of its pages. */
export function atLeast({ description, pages }: ParticleFile, level: number, query: Query): number {
  if ((query.where ?? query.nearest ?? query.limit) !== undefined) return 0;
  const until = untilOf(description, level);
  const { count, boxes, starts, sizes } = pages[level === 0 ? ALL : SAMPLE];
  const region = regionOf(query);
  if (region === undefined) return until;
  const { relation } = regionTest(region);
  let sum = 0;
  for (let page = 0; page < count; page++)
    if (starts[page]! + sizes[page]! <= until && relation(boxes, 6 * page) === INSIDE) sum += sizes[page]!;
  return sum;
}

/** Of a part the particles of a level are those before this one. */
const untilOf = (description: Description, level: number): number =>
  level === 0 ? description.count : description.levels.at(-level)!.count;

const regionOf = ({ box, sphere }: Query): TreeRegion | undefined =>
  box !== undefined ? { box } : sphere && { sphere };

/** The pages that have anything up to a particle and that a query may meet. */
function pagesFor(pages: Pages, until: number, query: Query): number[] {
  const all = Array.from({ length: pages.count }, (_, page) => page).filter((page) => pages.starts[page]! < until);
  const { nearest, where } = query;
  const region = regionOf(query);
  if (region !== undefined) {
    const { relation } = regionTest(region);
    return all.filter((page) => relation(pages.boxes, 6 * page) !== OUTSIDE);
  }
  if (nearest === undefined || where !== undefined) return all;
  const within = reachOf(pages, all, nearest, until);
  return all.filter((page) => distances(pages.boxes, 6 * page, nearest)[0] <= within);
}

/** A distance within which there are as many particles as are asked for, squared: pages are taken whole, those that end first. */
function reachOf(
  { boxes, starts, sizes }: Pages,
  all: readonly number[],
  nearest: readonly number[],
  until: number,
): number {
  const ends = all.map((page) => ({
    far: distances(boxes, 6 * page, nearest)[1],
    size: Math.min(until, starts[page]! + sizes[page]!) - starts[page]!,
  }));
  let left = nearest[3]!;
  for (const { far, size } of ends.sort((a, b) => a.far - b.far)) {
    left -= size;
    if (left <= 0) return far * (1 + 1e-12); // others may round otherwise
  }
  return Infinity;
}

/** From a place to the nearest and to the farthest point of a box, squared. */
function distances(boxes: Float64Array, at: number, place: readonly number[]): [near: number, far: number] {
  let [near, far] = [0, 0];
  for (let axis = 0; axis < 3; axis++) {
    const [below, above] = [boxes[at + axis]! - place[axis]!, place[axis]! - boxes[at + axis + 3]!];
    near += Math.max(below, above, 0) ** 2;
    far += Math.max(below ** 2, above ** 2);
  }
  return [near, far];
}

/** Those blocks that begin before a particle. */
function upTo(blocks: Blocks, until: number): Blocks {
  const count = blocks.starts.findLastIndex((start) => start < until) + 1;
  return count === blocks.count ? blocks : { ...blocks, count, numbers: blocks.numbers.subarray(0, count) };
}
