/** A batch taken apart: each object with its vertices, in order, and the links between them. */
import type { NumericArray } from "../../codec/types.js";
import { upTo } from "../../format/zarr-vectors/write/write-layout.js";
import type { Batch, Geometry } from "../../model/vectors.js";
import { pick } from "../../query/columns.js";
import type { Tally } from "./tally.js";

/** Geometry whose vertices follow each other. */
export const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"];

/** An object of a batch. */
export interface Piece {
  /** Of the object; paths without one come after them. */
  readonly row: number;
  /** The vertices of the batch, ascending. */
  readonly vertices: Uint32Array;
  /** `width` places among them for each link; of a path two neighbours. */
  readonly links: Uint32Array;
}

/** The objects that have vertices; what belongs to none, or to several, is counted. */
export function* piecesOf(batch: Batch, width: 2 | 3, tally: Tally): Generator<Piece> {
  const { parts, objects, geometry } = batch;
  const isPath = PATHS.includes(geometry);
  if (isPath && inOrder(objects)) return yield* pathsOf(batch);
  const count = parts[objects.length]!;
  let rows = batch.ids.length;
  const owner = new Int32Array(count);
  for (let p = 0; p < objects.length; p++) {
    const row = objects[p]! >= 0 ? objects[p]! : isPath ? rows++ : -1;
    if (row < 0) tally.loose += parts[p + 1]! - parts[p]!;
    owner.fill(row, parts[p], parts[p + 1]);
  }
  const ends = isPath ? neighbours(parts, 0, objects.length) : (batch.links?.ends ?? new Uint32Array());
  const rowOf = (link: number): number => {
    const row = owner[ends[link]!]!;
    for (let k = 1; k < width; k++) if (owner[ends[link + k]!] !== row) return -1;
    return row;
  };
  const [starts, linkStarts] = [new Uint32Array(rows + 1), new Uint32Array(rows + 1)];
  for (let v = 0; v < count; v++) if (owner[v]! >= 0) starts[owner[v]! + 1]!++;
  for (let link = 0; link < ends.length; link += width) {
    const row = rowOf(link);
    if (row >= 0) linkStarts[row + 1]!++;
    else tally.between++;
  }
  for (let row = 0; row < rows; row++) {
    starts[row + 1]! += starts[row]!;
    linkStarts[row + 1]! += linkStarts[row]!;
  }
  const order = new Uint32Array(starts[rows]!);
  const place = new Uint32Array(count);
  const [filled, drawn] = [starts.slice(), linkStarts.slice()];
  for (let v = 0; v < count; v++) {
    const row = owner[v]!;
    if (row < 0) continue;
    place[v] = filled[row]! - starts[row]!;
    order[filled[row]!++] = v;
  }
  const links = new Uint32Array(width * linkStarts[rows]!);
  for (let link = 0; link < ends.length; link += width) {
    const row = rowOf(link);
    if (row < 0) continue;
    const at = width * drawn[row]!++;
    for (let k = 0; k < width; k++) links[at + k] = place[ends[link + k]!]!;
  }
  for (let row = 0; row < rows; row++) {
    const vertices = order.subarray(starts[row], starts[row + 1]);
    if (vertices.length > 0)
      yield { row, vertices, links: links.subarray(width * linkStarts[row]!, width * linkStarts[row + 1]!) };
  }
}

/** What the vertices of an object have, `width` numbers each; where they lie, if they lie together. */
export function valuesOf<T extends NumericArray>(values: T, width: number, vertices: Uint32Array): T {
  const first = vertices[0] ?? 0;
  const together = first + vertices.length - 1 === vertices.at(-1);
  if (!together) return pick(values, width, vertices);
  return values.subarray(width * first, width * (first + vertices.length)) as T;
}

/** Whether the parts of each object follow each other, and the objects too: then nothing has to be sorted. */
function inOrder(objects: Batch["objects"]): boolean {
  for (let p = 1, last = objects[0] ?? 0; p < objects.length; p++) {
    const row = objects[p]!;
    if (row >= 0 && (row < last || (row === last && objects[p - 1] !== row))) return false;
    if (row >= 0) last = row;
  }
  return true;
}

function* pathsOf({ parts, objects, ids }: Batch): Generator<Piece> {
  const all = upTo(parts[objects.length]!);
  let longest = 0;
  for (let p = 0; p < objects.length; p++) longest = Math.max(longest, parts[p + 1]! - parts[p]!);
  const links = neighbours(Uint32Array.of(0, longest), 0, 1); // of every path that has one part
  let rows = ids.length;
  for (let p = 0; p < objects.length; ) {
    const first = p++;
    const row = objects[first]! >= 0 ? objects[first]! : rows++;
    while (p < objects.length && objects[p] === row) p++;
    const vertices = all.subarray(parts[first], parts[p]);
    if (vertices.length === 0) continue;
    const own = p - first === 1 ? links.subarray(0, 2 * vertices.length - 2) : neighbours(parts, first, p);
    yield { row, vertices, links: own };
  }
}

/** The edges of the paths first … up to, counted from the first vertex of the first. */
function neighbours(parts: Batch["parts"], first: number, to: number): Uint32Array {
  const start = parts[first]!;
  const ends = new Uint32Array(2 * (parts[to]! - start));
  let at = 0;
  for (let p = first; p < to; p++)
    for (let v = parts[p]! - start + 1; v < parts[p + 1]! - start; v++) {
      ends[at++] = v - 1;
      ends[at++] = v;
    }
  return ends.subarray(0, at);
}
