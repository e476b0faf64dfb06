/** A plain dataset as the query engine wants it: in memory, tiles in any order, everything that is asked written down. */
import type { Column } from "../../src/model/attributes.js";
import type { ChunkTable, Joints, LevelSource, LinkSet, ObjectSource, Tile } from "../../src/model/source.js";
import type { Axis, Columns, Positions, VectorLevel } from "../../src/model/vectors.js";
import type { Queryable } from "../../src/query/select.js";
import { Dice, type PlainDataset, type PlainLevel } from "./plain.js";

export interface Recorded {
  /** Chunks of which positions were read. */
  readonly chunks: Set<number>;
  /** Calls so far; called after each. */
  calls: number;
  onCall?: (calls: number) => void;
}

export interface PlainSource extends Queryable {
  readonly recorded: Recorded;
}

export function plainSource({ levels }: PlainDataset, seed = 1): PlainSource {
  const recorded: Recorded = { chunks: new Set(), calls: 0 };
  const dims = levels[0]!.dims;
  const sources = levels.map((level) => levelSource(level, new Dice(seed), recorded));
  return {
    recorded,
    axes: Array.from({ length: dims }, (_, axis): Axis => ({ name: `x${axis}`, type: axis === 3 ? "time" : "space" })),
    levels: levels.map(
      ({ level, chunkShape, binShape }): VectorLevel => ({
        level,
        chunkShape,
        binShape,
        vertices: undefined,
        objects: undefined,
      }),
    ),
    source: async (level) => sources[level]!,
  };
}

const order = (a: readonly number[], b: readonly number[]): number => {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return 0;
};

/** The rows of a column. */
export function rowsOf({ info, values }: Column, rows: readonly number[]): Column {
  const at = rows.flatMap((row) => Array.from({ length: info.channels }, (_, c) => row * info.channels + c));
  if (Array.isArray(values)) return { info, values: at.map((i) => values[i] as string) };
  const out = new (values.constructor as new (length: number) => Uint8Array)(at.length);
  for (const [to, from] of at.entries()) out[to] = (values as Uint8Array)[from]!;
  return { info, values: out };
}

const columnsOf = (columns: readonly Column[], names: readonly string[], rows: readonly number[]): Columns =>
  new Map(columns.filter(({ info }) => names.includes(info.name)).map((own) => [own.info.name, rowsOf(own, rows)]));

/** Where the fragments and vertices of a level lie. */
export function placesOf({ fragments }: PlainLevel): {
  readonly coords: readonly (readonly number[])[];
  readonly ofFragment: readonly { readonly chunk: number; readonly part: number }[];
  readonly ofVertex: readonly { readonly chunk: number; readonly vertex: number }[];
  readonly byChunk: readonly (readonly number[])[];
} {
  const coords = [...new Map(fragments.map(({ chunk }) => [chunk.join(), chunk])).values()].sort(order);
  const byChunk: number[][] = coords.map(() => []);
  const ofFragment = fragments.map(({ chunk }, f) => {
    const at = coords.findIndex((own) => order(own, chunk) === 0);
    return { chunk: at, part: byChunk[at]!.push(f) - 1 };
  });
  const ofVertex: { chunk: number; vertex: number }[] = [];
  for (const [chunk, list] of byChunk.entries()) {
    let next = 0;
    for (const f of list) for (const v of fragments[f]!.vertices) ofVertex[v] = { chunk, vertex: next++ };
  }
  return { coords, ofFragment, ofVertex, byChunk };
}

function levelSource(level: PlainLevel, dice: Dice, recorded: Recorded): LevelSource {
  const { dims, chunkShape, fragments, columns } = level;
  const places = placesOf(level);
  const { coords, ofVertex, byChunk } = places;
  const called = (): void => recorded.onCall?.(++recorded.calls);
  const table: ChunkTable = {
    count: coords.length,
    rank: dims,
    coords: Int32Array.from(coords.flat()),
    find: (wanted, at = 0) => coords.findIndex((own) => own.every((x, axis) => x === wanted[at + axis])),
    box(chunk, min, max) {
      for (let axis = 0; axis < dims; axis++) {
        min[axis] = coords[chunk]![axis]! * chunkShape[axis]!;
        max[axis] = (coords[chunk]![axis]! + 1) * chunkShape[axis]!;
      }
    },
  };
  const tileOf = (chunk: number, positions: boolean, vertex: readonly string[], fragment: readonly string[]): Tile => {
    const list = byChunk[chunk]!;
    const vertices = list.flatMap((f) => fragments[f]!.vertices);
    const parts = new Uint32Array(list.length + 1);
    for (const [i, f] of list.entries()) parts[i + 1] = parts[i]! + fragments[f]!.vertices.length;
    const Type = level.positions.constructor as new (values: readonly number[]) => Positions;
    const at = vertices.flatMap((v) => Array.from({ length: dims }, (_, axis) => level.positions[v * dims + axis]!));
    return {
      chunk,
      vertices: vertices.length,
      positions: positions ? new Type(at) : new Type([]),
      parts,
      vertexColumns: columnsOf(columns.vertex, vertex, vertices),
      fragmentColumns: columnsOf(columns.fragment, fragment, list),
    };
  };
  const linkChunks = level.links.map((link) => link.map((v) => ofVertex[v]!.chunk));
  const hull = (chunks: readonly number[]): [Float64Array, Float64Array] => {
    const [min, max] = [new Float64Array(dims).fill(Infinity), new Float64Array(dims).fill(-Infinity)];
    const [low, high] = [new Float64Array(dims), new Float64Array(dims)];
    for (const chunk of chunks) {
      table.box(chunk, low, high);
      for (let axis = 0; axis < dims; axis++) {
        min[axis] = Math.min(min[axis]!, low[axis]!);
        max[axis] = Math.max(max[axis]!, high[axis]!);
      }
    }
    return [min, max];
  };
  return {
    level: level.level,
    dims,
    geometry: level.geometry,
    linkWidth: level.linkWidth,
    sequential: level.sequential,
    schema: async () => ({
      vertex: columns.vertex.map(({ info }) => info),
      link: columns.link.map(({ info }) => info),
      fragment: columns.fragment.map(({ info }) => info),
      object: columns.object.map(({ info }) => info),
      group: columns.group.map(({ info }) => info),
    }),
    chunks: async () => table,
    async *tiles(chunks, want) {
      if (new Set(chunks).size !== chunks.length) throw new Error("a chunk is asked for twice");
      for (const chunk of [...chunks].sort(() => dice.below(3) - 1)) {
        called();
        if (want.positions) recorded.chunks.add(chunk);
        yield tileOf(chunk, want.positions, want.vertex, want.fragment);
      }
    },
    async *links(filter, names) {
      const rows = level.links.flatMap((_, l) => {
        const chunks = linkChunks[l]!;
        if ("meets" in filter) return filter.meets(...hull(chunks)) ? [l] : [];
        const stored = filter.incoming === true ? chunks : [Math.min(...chunks)];
        return stored.some((chunk) => filter.chunks.includes(chunk)) ? [l] : [];
      });
      for (let from = 0; from < rows.length; ) {
        called();
        const some = rows.slice(from, from + 1 + dice.below(8));
        from += some.length;
        const set: LinkSet = {
          width: level.linkWidth,
          count: some.length,
          chunks: Int32Array.from(some.flatMap((l) => linkChunks[l]!)),
          vertices: Uint32Array.from(some.flatMap((l) => level.links[l]!.map((v) => ofVertex[v]!.vertex))),
          columns: columnsOf(columns.link, names, some),
        };
        yield set;
      }
    },
    objects: level.objects && objectSource(level, places, hull, called),
    cost: async (chunks) => ({ requests: chunks.length, bytes: 0, exact: true }),
    counts: async (chunks) =>
      Uint32Array.from(chunks, (chunk) => byChunk[chunk]!.reduce((sum, f) => sum + fragments[f]!.vertices.length, 0)),
  };
}

function objectSource(
  level: PlainLevel,
  { ofFragment, byChunk }: ReturnType<typeof placesOf>,
  hull: (chunks: readonly number[]) => [Float64Array, Float64Array],
  called: () => void,
): ObjectSource {
  const objects = level.objects!;
  const { fragments, columns, groups } = level;
  const owners = fragments.map((_, f) => objects.flatMap((own, row) => (own.fragments.includes(f) ? [row] : [])));
  return {
    rows: objects.length,
    ids: async (rows) =>
      BigInt64Array.from(rows === undefined ? objects.map(({ id }) => id) : [...rows].map((row) => objects[row]!.id)),
    rowsOf: async (ids) => Int32Array.from(ids, (id) => objects.findIndex((own) => own.id === id)),
    async place(rows) {
      called();
      const offsets = [0];
      const blocks: { chunk: number; first: number; count: number }[] = [];
      for (const row of rows) {
        for (const [i, f] of objects[row]!.fragments.entries()) {
          const { chunk, part } = ofFragment[f]!;
          const last = blocks.at(-1);
          const follows = i > 0 && last !== undefined && last.chunk === chunk && last.first + last.count === part;
          if (follows) last.count++;
          else blocks.push({ chunk, first: part, count: 1 });
        }
        offsets.push(blocks.length);
      }
      return {
        offsets: Uint32Array.from(offsets),
        chunk: Int32Array.from(blocks, ({ chunk }) => chunk),
        first: Uint32Array.from(blocks, ({ first }) => first),
        count: Uint32Array.from(blocks, ({ count }) => count),
      };
    },
    async owners({ chunk, part }) {
      called();
      const lists = Array.from(chunk, (c, i) => owners[byChunk[c]![part[i]!]!]!);
      const offsets = [0];
      for (const list of lists) offsets.push(offsets.at(-1)! + list.length);
      return { offsets: Uint32Array.from(offsets), rows: Uint32Array.from(lists.flat()) };
    },
    async orphans() {
      called();
      const lone = fragments.flatMap(({ vertices }, f) =>
        owners[f]!.length === 0 && vertices.length > 0 ? [ofFragment[f]!] : [],
      );
      return { chunk: Int32Array.from(lone, ({ chunk }) => chunk), part: Uint32Array.from(lone, ({ part }) => part) };
    },
    async *joints(meets) {
      for (const [row, own] of objects.entries()) {
        const full = own.fragments.filter((f) => fragments[f]!.vertices.length > 0).map((f) => ofFragment[f]!);
        const pairs = full.slice(1).map((b, i) => [full[i]!, b] as const);
        const met = pairs.filter(([a, b]) => meets(...hull([a.chunk, b.chunk])));
        if (met.length === 0) continue;
        called();
        const joints: Joints = {
          count: met.length,
          object: new Int32Array(met.length).fill(row),
          chunkA: Int32Array.from(met, ([a]) => a.chunk),
          partA: Uint32Array.from(met, ([a]) => a.part),
          chunkB: Int32Array.from(met, ([, b]) => b.chunk),
          partB: Uint32Array.from(met, ([, b]) => b.part),
        };
        yield joints;
      }
    },
    columns: async (names, rows) => columnsOf(columns.object, names, [...rows]),
    group: async (group) => (groups[group] === undefined ? undefined : Uint32Array.from(groups[group])),
    groupColumns: async (names) => ({
      count: groups.length,
      columns: columnsOf(columns.group, names, [...groups.keys()]),
    }),
  };
}
