/**
 * COPC: a LAZ file whose chunks are the nodes of an octree. A point is in one node alone; the nodes up to some depth are a sample of all points, the
 * finer the deeper. So level 0 is all nodes, and each coarser level is one depth less. Which nodes there are says the hierarchy, in pages.
 *
 * | record "copc" 1 | f64 × 3 centre of the root, f64 half of its side, f64 spacing of its points, u64 u64 where its page is, and how long, f64 × 2, 88 bytes |
 * |-----------------|-------------------------------------------------------------------------------------------------------------------|
 * | entry of a page | i32 depth, i32 × 3 which cube of that depth, u64 offset, i32 bytes, i32 points; −1: it is a page with the nodes from there on |
 */
import { Reader } from "../../bytes/reader.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { exactly, type InputFile } from "./file.js";
import type { PointPieces } from "./las.js";
import { type LasHeader, recordOf } from "./las-header.js";
import { chunkReader } from "./laz.js";
import type { FileContent } from "./types.js";

const ENTRY = 32;
const DEEPEST = 30; // cubes of a depth are numbered by i32
const CHUNK = 1 << 16; // points of a chunk, about, where a store is made of it

interface Node {
  readonly depth: number;
  readonly cube: readonly number[];
  readonly offset: number;
  readonly length: number;
  readonly points: number;
}

interface Root {
  readonly centre: readonly number[];
  readonly half: number;
  readonly spacing: number;
}

export interface Octree {
  readonly levels: NonNullable<FileContent["levels"]>;
  readonly pieces: PointPieces & { readonly boxes: Float64Array; readonly until: readonly number[] };
}

export async function readOctree(input: InputFile, header: LasHeader, options: ReadOptions): Promise<Octree> {
  const { where } = input;
  const reader = new Reader(recordOf(header, "copc", 1)!.data, `${where}, its record of COPC`);
  const centre = [reader.f64(), reader.f64(), reader.f64()];
  const [half, spacing] = [reader.f64(), reader.f64()];
  const page = { offset: reader.size(), length: reader.size() };
  if (![...centre, half, spacing].every(Number.isFinite) || half <= 0 || spacing <= 0)
    throw new Corrupt(`${where} has an octree of side ${2 * half} and spacing ${spacing} at ${centre}`, { where });
  const nodes = (await nodesIn(input, page, options)).sort((a, b) => a.depth - b.depth || a.offset - b.offset);
  const counts = Uint32Array.from(nodes, ({ points }) => points);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total !== header.points)
    throw new Corrupt(`${where} has ${header.points} points, but the nodes of its octree have ${total}`, { where });
  const { until, levels } = levelsOf(nodes, { centre, half, spacing });
  const read = chunkReader(input, header, options);
  return {
    levels,
    pieces: {
      counts,
      bytes: Float64Array.from(nodes, ({ length }) => length),
      boxes: boxesOf(nodes, { centre, half, spacing }, header.scale),
      until,
      read: (piece, now) => read(nodes[piece]!, `node ${nodes[piece]!.depth}-${nodes[piece]!.cube.join("-")}`, now),
    },
  };
}

/** The nodes that have points, of all pages. */
async function nodesIn(
  input: InputFile,
  root: { readonly offset: number; readonly length: number },
  options: ReadOptions,
): Promise<Node[]> {
  const { where, size = 0 } = input;
  const { metadataBytes } = withLimits(options.limits);
  const nodes: Node[] = [];
  const pages = [root];
  const seen = new Set([root.offset]);
  let bytes = 0;
  for (const { offset, length } of pages) {
    bytes += length;
    if (offset + length > size || length % ENTRY !== 0)
      throw new Corrupt(`${where} has ${size} bytes, and a page of its octree at ${offset} with ${length}`, { where });
    if (bytes > metadataBytes)
      throw new LimitExceeded(
        `${where} has an octree of more than the ${metadataBytes} bytes of limits.metadataBytes`,
        {
          where,
        },
      );
    const reader = new Reader(await exactly(input, offset, length, "a page of its octree", options), where);
    while (reader.remaining > 0) {
      const [depth, ...cube] = [reader.i32(), reader.i32(), reader.i32(), reader.i32()] as [number, ...number[]];
      const own = { offset: reader.size(), length: reader.i32() };
      const points = reader.i32();
      const isPlace = depth >= 0 && depth <= DEEPEST && cube.every((at) => at >= 0 && at < 2 ** depth);
      if (!isPlace || points < -1 || own.length < 0 || (points !== 0 && own.offset + own.length > size))
        throw new Corrupt(
          `${where} has a node ${depth}-${cube.join("-")} of ${points} points at ${own.offset} with ${own.length} bytes`,
          { where },
        );
      if (points === -1) {
        if (seen.has(own.offset))
          throw new Corrupt(`${where} has the page of its octree at ${own.offset} twice`, { where });
        seen.add(own.offset);
        pages.push(own);
      } else if (points > 0) nodes.push({ depth, cube, ...own, points });
    }
  }
  return nodes;
}

/** Level 0 has all pieces; `until`: how many of the first each level has. */
function levelsOf(nodes: readonly Node[], { half, spacing }: Root) {
  const deepest = nodes.at(-1)?.depth ?? 0;
  const until: number[] = [];
  const levels = Array.from({ length: deepest + 1 }, (_, level) => {
    const depth = deepest - level;
    const end = nodes.findIndex((node) => node.depth > depth);
    until.push(end < 0 ? nodes.length : end);
    const vertices = nodes.slice(0, until[level]).reduce((sum, { points }) => sum + points, 0);
    const bin = spacing / 2 ** depth;
    // A whole number of bins.
    const times = Math.max(0, Math.ceil(Math.log2(vertices / CHUNK) / 2));
    const chunk = Math.max(1, Math.round((2 * half) / bin / 2 ** times)) * bin;
    return { vertices, binShape: [bin, bin, bin], chunkShape: [chunk, chunk, chunk] };
  });
  return { until, levels };
}

/** Cubes, and a step of the coordinates around: whoever has sorted points into them may have rounded. */
function boxesOf(nodes: readonly Node[], { centre, half }: Root, scale: readonly number[]): Float64Array {
  const boxes = new Float64Array(6 * nodes.length);
  for (const [i, { depth, cube }] of nodes.entries())
    for (let axis = 0; axis < 3; axis++) {
      const side = (2 * half) / 2 ** depth;
      const from = centre[axis]! - half + cube[axis]! * side;
      boxes[6 * i + axis] = from - Math.abs(scale[axis]!);
      boxes[6 * i + 3 + axis] = from + side + Math.abs(scale[axis]!);
    }
  return boxes;
}
