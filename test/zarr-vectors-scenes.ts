/** Small geometry of every kind, the same for the same seed: several objects that cross chunks of 10, with all attributes. */
import type { DataType } from "../src/bytes/dtype.js";
import type { BatchParts } from "../src/format/zarr-vectors/write/write.js";
import type { AttributeInfo, Column } from "../src/model/attributes.js";
import type { Columns, Geometry } from "../src/model/vectors.js";

export const KINDS: readonly Geometry[] = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"];

const f4: DataType = { kind: "float", size: 4, endian: "little" };
const i2: DataType = { kind: "int", size: 2, endian: "little" };

export const info = (name: string, dtype: DataType, channels = 1): AttributeInfo => ({ name, dtype, channels });
export const columnsOf = (...list: readonly (readonly [AttributeInfo, Column["values"]])[]): Columns =>
  new Map(list.map(([own, values]) => [own.name, { info: own, values }]));

/** Numbers in [0, 1). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** `count` objects with the ids 0, 1, 2 … */
export function scene(geometry: Geometry, seed: number, count = 6, dims = 3): BatchParts {
  const next = random(seed);
  const parts = [0];
  const positions: number[] = [];
  for (let o = 0; o < count; o++) {
    const size = geometry === "lines" ? 2 : 1 + Math.floor(12 * next());
    const place = Array.from({ length: dims }, () => -15 + 45 * next());
    for (let v = 0; v < size; v++) {
      for (let d = 0; d < dims; d++) place[d]! += 12 * (next() - 0.5);
      positions.push(...place);
    }
    parts.push(positions.length / dims);
  }
  const vertices = parts.at(-1)!;
  const width = geometry === "mesh" ? 3 : geometry === "graph" || geometry === "skeletons" ? 2 : 0;
  const ends: number[] = [];
  for (let o = 0; o < count && width > 0; o++) {
    const [from, to] = [parts[o]!, parts[o + 1]!];
    if (geometry === "skeletons")
      for (let v = from + 1; v < to; v++) ends.push(v, v - 1 - Math.floor(Math.min(3, v - from) * next() ** 3));
    else
      for (let l = from; l < to; l++) {
        const own = new Set<number>();
        while (own.size < Math.min(width, to - from)) own.add(from + Math.floor((to - from) * next()));
        if (own.size === width) ends.push(...own);
      }
  }
  const floats = (length: number): Float32Array => Float32Array.from({ length }, () => next());
  const numbers = (length: number): Int16Array => Int16Array.from({ length }, (_, i) => i);
  const links = ends.length / Math.max(1, width);
  return {
    positions: Float32Array.from(positions),
    parts: Uint32Array.from(parts),
    objects: Int32Array.from({ length: count }, (_, o) => o),
    ids: BigInt64Array.from({ length: count }, (_, o) => BigInt(o)),
    links:
      width === 0
        ? undefined
        : {
            width,
            ends: Uint32Array.from(ends),
            columns: geometry === "skeletons" ? new Map() : columnsOf([info("w", f4), floats(links)]),
          },
    vertexColumns: columnsOf([info("uid", i2), numbers(vertices)], [info("dir", f4, 3), floats(3 * vertices)]),
    objectColumns: columnsOf(
      [info("score", f4), floats(count)],
      [info("name", { kind: "string" }), Array.from({ length: count }, (_, o) => `n${"é".repeat(o % 3)}`)],
    ),
  };
}
