/**
 * One skeleton, as it is stored.
 *
 * | bytes             | holds                                                                                         |
 * |-------------------|-----------------------------------------------------------------------------------------------|
 * | 4                 | number of vertices, v                                                                         |
 * | 4                 | number of edges, e                                                                            |
 * | 12 v              | positions: x, y, z as float32                                                                 |
 * | 8 e               | edges: two vertex numbers as uint32                                                           |
 * | for each attribute v × components × size | its values, vertex after vertex; nothing between attributes, so they may lie anywhere |
 *
 * All numbers are little-endian. Bytes that follow belong to attributes that the info does not name: every reader passes
 * over them, and so does this one; `validate` tells.
 */
import { Reader } from "../../../bytes/reader.js";
import type { NumericArray } from "../../../codec/types.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { typed } from "../../../model/elements.js";
import { numberDtype } from "../info.js";
import type { SkeletonAttribute } from "./info.js";

/** Vertices, the edges between them, and numbers for each vertex. */
export interface Skeleton {
  /** x, y, z of each, as stored: `transform` of the info makes nanometres of them. */
  readonly vertices: Float32Array;
  /** Pairs of vertex numbers. */
  readonly edges: Uint32Array;
  /** By id; `components` numbers for each vertex. */
  readonly attributes: ReadonlyMap<string, NumericArray>;
}

/** From bytes, and to them. */
export const Skeleton = {
  /** What comes out may share the memory of `bytes`. `unread` is how many bytes follow what the attributes account for. */
  parse(bytes: Uint8Array, attributes: readonly SkeletonAttribute[], where: string): Skeleton & { unread: number } {
    const reader = new Reader(bytes, where);
    const [claimed, claimedEdges] = [reader.u32(), reader.u32()];
    const count = reader.count(claimed, 12);
    const at = reader.offset;
    reader.skip(12 * count);
    reader.skip(8 * reader.count(claimedEdges, 8));
    // Where they lie, if they are aligned there and most of that memory is theirs; else a copy lets go of the rest.
    const shared = bytes.byteOffset % 4 === 0 && 2 * bytes.length >= bytes.buffer.byteLength;
    const own = shared ? bytes : new Uint8Array(bytes);
    const start = own.byteOffset + at;
    const vertices = new Float32Array(own.buffer as ArrayBuffer, start, 3 * count);
    const edges = new Uint32Array(own.buffer as ArrayBuffer, start + 12 * count, 2 * claimedEdges);
    for (let i = 0; i < edges.length; i++)
      if (edges[i]! >= count)
        throw new Corrupt(`${where} has an edge to vertex ${edges[i]}, but there are ${count} vertices`, { where });
    const values = new Map<string, NumericArray>();
    for (const { id, type, components } of attributes) {
      const dtype = numberDtype(type);
      const from = reader.offset;
      reader.skip(count * components * dtype.size);
      values.set(id, typed({ shape: [count, components], dtype, data: own.subarray(from, reader.offset) }));
    }
    return { vertices, edges, attributes: values, unread: reader.remaining };
  },

  /** InvalidInput where an attribute is not of its type, or an edge leads nowhere. In `room`, where that is large enough. */
  encode(
    skeleton: Skeleton,
    attributes: readonly SkeletonAttribute[],
    room?: Uint8Array<ArrayBuffer>,
  ): Uint8Array<ArrayBuffer> {
    const { vertices, edges } = skeleton;
    const count = vertices.length / 3;
    if (!Number.isInteger(count) || edges.length % 2 !== 0)
      throw new InvalidInput(
        `a skeleton has 3 numbers per vertex and 2 per edge, found ${vertices.length} and ${edges.length} numbers`,
      );
    for (let i = 0; i < edges.length; i++)
      if (edges[i]! >= count)
        throw new InvalidInput(`a skeleton of ${count} vertices cannot have an edge to vertex ${edges[i]}`);
    const columns = attributes.map((attribute) => columnOf(skeleton, attribute, count));
    const size = 8 + 12 * count + 4 * edges.length + columns.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const out = room !== undefined && size <= room.length ? room.subarray(0, size) : new Uint8Array(size);
    new Uint32Array(out.buffer, 0, 2).set([count, edges.length / 2]);
    new Float32Array(out.buffer, 8, vertices.length).set(vertices);
    new Uint32Array(out.buffer, 8 + 12 * count, edges.length).set(edges);
    let at = 8 + 12 * count + 4 * edges.length;
    for (const column of columns) {
      out.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
      at += column.byteLength;
    }
    return out;
  },
};

/** The values of an attribute, which must be of exactly its type: nothing is converted in silence. */
function columnOf({ attributes }: Skeleton, { id, type, components }: SkeletonAttribute, count: number): NumericArray {
  const values = attributes.get(id);
  const expected = typed({ shape: [0], dtype: numberDtype(type), data: new Uint8Array() });
  if (values?.constructor !== expected.constructor || values.length !== count * components)
    throw new InvalidInput(
      `the attribute ${id} of a skeleton should be a ${expected.constructor.name} of ${count * components} values, found ${
        values === undefined ? "nothing" : `a ${values.constructor.name} of ${values.length}`
      }`,
    );
  return values;
}
