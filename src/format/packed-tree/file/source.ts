/** The particles of a `.ptree` file as the query engine wants them: each block is a chunk, in the box around its particles. */

import type { AttributeInfo, Column } from "../../../model/attributes.js";
import { numberedChunks } from "../../../model/numbered-chunks.js";
import type { LevelSource, Tile, Want } from "../../../model/source.js";
import type { Positions } from "../../../model/vectors.js";
import { type FileColumn, ORIGINAL } from "./description.js";
import type { ParticleFile } from "./read.js";

/** Blocks that are read together. */
const GROUP = 64;

export function particleSource(file: ParticleFile): LevelSource {
  const { blocks, description } = file;
  const columns = new Map<string, FileColumn>([
    [ORIGINAL, description.order],
    ...description.attributes.map((column) => [column.name, column] as const),
  ]);
  const infos = new Map([...columns].map(([name, column]) => [name, infoOf(name, column)]));
  const named = (names: readonly string[]): string[] => names.filter((name) => columns.has(name));
  const wantedOf = ({ positions, vertex }: Want): FileColumn[] => [
    ...(positions ? [description.positions] : []),
    ...named(vertex).map((name) => columns.get(name)!),
  ];
  const schema = { vertex: [...infos.values()], link: [], fragment: [], object: [], group: [] };
  const chunks = numberedChunks(blocks.count, blocks.boxes);
  return {
    level: 0,
    dims: 3,
    geometry: "points",
    linkWidth: 0,
    sequential: false,
    schema: async () => schema,
    chunks: async () => chunks,
    async *tiles(wanted, want, options): AsyncGenerator<Tile> {
      const read = wantedOf(want);
      for (let from = 0; from < wanted.length; from += GROUP) {
        const some = wanted.slice(from, from + GROUP);
        const values = await file.blocksOf(read, some, options);
        for (const [i, chunk] of some.entries()) {
          const vertices = blocks.starts[chunk + 1]! - blocks.starts[chunk]!;
          const own = values[i]!;
          const positions = want.positions ? (own.shift() as Positions) : new Float32Array();
          const vertexColumns = new Map(
            named(want.vertex).map((name, k): [string, Column] => [name, { info: infos.get(name)!, values: own[k]! }]),
          );
          const parts = Uint32Array.of(0, vertices);
          yield { chunk, vertices, positions, parts, vertexColumns, fragmentColumns: new Map() };
        }
      }
    },
    async *links() {},
    objects: undefined,
    async cost(wanted, want) {
      const groups = Array.from({ length: Math.ceil(wanted.length / GROUP) }, (_, i) =>
        file.plan(wantedOf(want), wanted.slice(i * GROUP, (i + 1) * GROUP)),
      );
      const spans = groups.flat();
      return { requests: spans.length, bytes: spans.reduce((sum, { length }) => sum + length, 0), exact: true };
    },
    counts: async (wanted) => Uint32Array.from(wanted, (chunk) => blocks.starts[chunk + 1]! - blocks.starts[chunk]!),
  };
}

const infoOf = (name: string, { dtype, channels, unit, description }: FileColumn): AttributeInfo => ({
  name,
  dtype,
  channels,
  unit,
  description: name === ORIGINAL ? "the number of the particle in the data that the tree was built from" : description,
});
