/** A batch taken apart: each object with its vertices, in order, and the links between them. */
import type { Batch, Geometry } from "../../model/vectors.js";
import type { Tally } from "./tally.js";

/** Geometry whose vertices follow each other. */
export const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"];

/** An object of a batch. */
export interface Piece {
  /** Of the object; paths without one come after them. */
  readonly row: number;
  /** The vertices of the batch. */
  readonly vertices: Uint32Array;
  /** `width` places among them for each link; of a path two neighbours. */
  readonly links: Uint32Array;
}

/** The objects that have vertices; what belongs to none, or to several, is counted. */
export function* piecesOf(batch: Batch, width: 2 | 3, tally: Tally): Generator<Piece> {
  const { parts, objects, geometry } = batch;
  const isPath = PATHS.includes(geometry);
  const count = parts[objects.length]!;
  let rows = batch.ids.length;
  const owner = new Int32Array(count);
  for (let p = 0; p < objects.length; p++) {
    const row = objects[p]! >= 0 ? objects[p]! : isPath ? rows++ : -1;
    if (row < 0) tally.loose += parts[p + 1]! - parts[p]!;
    owner.fill(row, parts[p], parts[p + 1]);
  }
  const ends = isPath ? neighbours(batch) : (batch.links?.ends ?? new Uint32Array());
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

/** The edges of paths. */
function neighbours({ parts }: Batch): Uint32Array {
  const ends = new Uint32Array(2 * parts.at(-1)!);
  let at = 0;
  for (let p = 0; p + 1 < parts.length; p++)
    for (let v = parts[p]! + 1; v < parts[p + 1]!; v++) {
      ends[at++] = v - 1;
      ends[at++] = v;
    }
  return ends.subarray(0, at);
}
