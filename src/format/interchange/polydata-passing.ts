/**
 * VTK's polydata that are too large to be held, block by block, as polydata.ts makes them of those that are held. Every array of the file is put
 * aside as it is read.
 *
 * | put aside             | a row                                              |
 * |-----------------------|----------------------------------------------------|
 * | points                | three coordinates, as float64 or as float32        |
 * | cells of each kind    | where one begins, uint32; apart, a point of one    |
 * | data of points, cells | the numbers of one, in the type that they have     |
 */
import type { NumericType } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Unsupported } from "../../errors.js";
import type { Columns, Positions } from "../../model/vectors.js";
import type { Scratch } from "../../store/scratch.js";
import {
  type ByteSource,
  heldSource,
  type InputFile,
  passingRoom,
  refusalOf,
  sourceOf,
  wholeOrPassing,
} from "./file.js";
import type { Marks } from "./marks.js";
import { NumberRows } from "./number-rows.js";
import {
  cellBlocks,
  mustBeCountable,
  type PathFile,
  type PathObjects,
  type PutAsideCells,
  passPaths,
} from "./paths-passing.js";
import {
  type Cells,
  hold,
  idsIn,
  type Keep,
  loosePoints,
  noPoint,
  type PolyArray,
  type PolyData,
  type PolyOutline,
  polyOutline,
  polySurface,
  stripNotes,
  stripTriangles,
} from "./polydata.js";
import { fan, fanNotes } from "./polygons.js";
import { column, columns, surfaceContent } from "./surface.js";
import { NO_LINKS, NO_VERTICES } from "./surface-blocks.js";
import { passingContent, passSurface, type SurfaceBlock, type SurfaceFile } from "./surface-passing.js";
import { room } from "./surface-write.js";
import type { FileContent, OpenFileOptions, Passing } from "./types.js";

type Aside = NumberRows<NumericArray>;
type Arrays = ReadonlyMap<string, PolyArray<Aside>>;

const BLOCK = 1 << 15; // rows

/** What becomes of arrays that are put aside. */
const putAside =
  (scratch: Scratch): Keep<Aside> =>
  (type, _, channels) => {
    const rows = rowsOf(type, channels, scratch);
    return {
      add: (values) => rows.add(values),
      async done() {
        await rows.end();
        return rows;
      },
    };
  };

const rowsOf = (type: NumericType, channels: number, scratch: Scratch): Aside =>
  new NumberRows(room(type, 0).constructor as new (of: ArrayBufferLike | number) => NumericArray, channels, scratch);

/** A kind of file. */
export interface PolyReader {
  /** What is known of a file when it has begun. */
  outline(): Promise<Parameters<typeof passingContent>[0]>;
  /** All of it; of what is packed, blocks of at most so many bytes are unpacked. */
  read<A>(source: ByteSource, keep: Keep<A>, mostOfBlock: number): Promise<PolyData<A>>;
}

/** A file that is held, or passes where it, or what its arrays become, is too large for that. */
export async function polyContent(
  input: InputFile,
  options: OpenFileOptions,
  { outline, read }: PolyReader,
): Promise<FileContent> {
  const { where } = input;
  const bytes = await wholeOrPassing(input, options);
  let tooLarge = bytes instanceof Unsupported ? bytes : undefined;
  if (!(bytes instanceof Unsupported)) {
    const keep = hold(passingRoom(options), (size) => {
      tooLarge = refusalOf(where, size, options)!;
      return tooLarge;
    });
    try {
      const poly = await read(heldSource(bytes), keep, Number.POSITIVE_INFINITY);
      return surfaceContent(polySurface(poly, where, options), input, options);
    } catch (error) {
      if (error !== tooLarge) throw error;
    }
  }
  return passingContent(await outline(), tooLarge!, async (makeScratch, now) => {
    const scratch = makeScratch();
    const poly = await read(await sourceOf(input, now), putAside(scratch), scratch.memory);
    return passPoly(poly, where, scratch.memory, makeScratch, options.onBad);
  });
}

function passPoly(
  poly: PolyData<Aside>,
  where: string,
  memory: number,
  makeScratch: () => Scratch,
  onBad: OpenFileOptions["onBad"],
): Promise<Passing> {
  mustBeCountable(where, poly.points, ...Object.values(poly.cells).map(({ ends }) => ends.count));
  const outline = polyOutline(poly);
  return outline.geometry === "polylines"
    ? passPaths(pathFile(poly, outline, where, memory), onBad)
    : passSurface(surfaceFile(poly, outline, where, memory), makeScratch, onBad);
}

/** These rows of all arrays. */
async function picked(arrays: Arrays, rows: Uint32Array): Promise<Columns> {
  const own = [];
  for (const { name, values, channels } of arrays.values()) own.push(column(name, await values.pick(rows), channels));
  return columns(...own);
}

async function pointsAt({ positions, pointData }: PolyData<Aside>, rows: Uint32Array, placesOnly?: true) {
  return {
    positions: (await positions.pick(rows)) as Positions,
    vertexColumns: placesOnly ? new Map() : await picked(pointData, rows),
  };
}

function pathFile(poly: PolyData<Aside>, outline: PolyOutline, where: string, memory: number): PathFile {
  const { points, cells, cellData } = poly;
  const { count } = cells.lines;
  const width = [...poly.pointData.values()].reduce((sum, { values }) => sum + values.width, 4 + poly.positions.width);
  const rowsOfPaths = (paths: Uint32Array): Uint32Array => paths.map((path) => outline.starts.lines + path);
  return {
    where,
    count,
    points,
    cells: asideCells(poly, "lines", memory, width),
    pick: (rows, placesOnly) => pointsAt(poly, rows, placesOnly),
    place: (row) => `point ${row}`,
    nowhere: (path, row) => noPoint(where, path, row, points),
    async objects(lost): Promise<PathObjects> {
      const own = cellData.get("object_id");
      const kept = own === undefined ? undefined : rowsOfPaths(without(lost, count));
      const ids = own && idsIn(column(own.name, await own.values.pick(kept!), own.channels));
      const rest = new Map(cellData);
      if (ids !== undefined) rest.delete("object_id");
      return { ids, columns: (paths) => picked(rest, rowsOfPaths(paths)) };
    },
    notes: (loose) => [...outline.notes, ...loosePoints(loose)],
  };
}

const without = (lost: Marks, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => i).filter((i) => !lost.has(i));

const NAMES = { lines: "line", polys: "polygon", strips: "strip" } as const;

function asideCells(
  { cells }: PolyData<Aside>,
  kind: keyof typeof NAMES,
  memory: number,
  width = 16, // with the triangle that most corners make
): PutAsideCells {
  const { count, offsets, ends } = cells[kind];
  return {
    count,
    offsets: offsets as NumberRows<Uint32Array>,
    ends: ends as NumberRows<Uint32Array>,
    name: (cell) => `${NAMES[kind]} ${cell}`,
    width,
    memory,
  };
}

function surfaceFile(poly: PolyData<Aside>, outline: PolyOutline, where: string, memory: number): SurfaceFile {
  const { geometry, starts, notes } = outline;
  let fanned = { many: 0, few: 0 };

  async function* vertices(): AsyncGenerator<SurfaceBlock> {
    for (let from = 0; from < poly.points; from += BLOCK) {
      const rows = Uint32Array.from({ length: Math.min(BLOCK, poly.points - from) }, (_, i) => from + i);
      yield { ...(await pointsAt(poly, rows)), ...NO_LINKS, place: (_, i) => `point ${from + i}` };
    }
  }
  const dataOf = (kind: "polys" | "strips", first: number, { offsets }: Cells): Promise<Columns> =>
    picked(
      poly.cellData,
      Uint32Array.from({ length: offsets.length - 1 }, (_, i) => starts[kind] + first + i),
    );

  async function* links(): AsyncGenerator<SurfaceBlock> {
    fanned = { many: 0, few: 0 };
    for await (const { first, ...cells } of cellBlocks(asideCells(poly, "polys", memory), where)) {
      const { from, many, few, ...own } = fan(
        { offsets: cells.offsets, corners: cells.ends },
        await dataOf("polys", first, cells),
      );
      fanned = { many: fanned.many + many, few: fanned.few + few };
      yield { ...NO_VERTICES, ...own, place: (_, i) => `polygon ${first + (from?.[i] ?? i)}` };
    }
    for await (const { first, ...cells } of cellBlocks(asideCells(poly, "strips", memory), where)) {
      const { from, ...own } = stripTriangles(cells, await dataOf("strips", first, cells));
      yield { ...NO_VERTICES, ...own, place: (_, i) => `strip ${first + from[i]!}` };
    }
  }
  return {
    where,
    geometry,
    async *blocks(what) {
      if (what !== "links") yield* vertices();
      if (what !== "vertices" && geometry === "mesh") yield* links();
    },
    told: () => ({ notes: [...notes, ...fanNotes(fanned), ...stripNotes(poly.cells.strips.count)] }),
  };
}
