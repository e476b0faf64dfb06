/**
 * An even sample of a file, for a first look: objects from places all over it, in memory, as a dataset of its own. Its ids are
 * numbers within the sample. A file that knows where its streamlines are after a few reads says so (`FileContent.sample`); of the others, the index
 * is made and some of the pieces are thinned. What has links keeps them: its pieces are taken whole.
 */
import type { ReadOptions } from "../../model/dataset.js";
import type { VectorDataset } from "../../model/vectors.js";
import type { Piece } from "../rows/row-source.js";
import { type FileDataset, fileDataset } from "./dataset.js";
import { pickParts, pickPoints } from "./filter.js";
import { numbered } from "./streamlines.js";
import type { FileContent, FileSample, PieceIndex } from "./types.js";

const VERTICES = 200_000;
const PLACES = 256;
const PIECES = 48; // a piece is some megabytes to read

export async function sampleOf(dataset: FileDataset, options: ReadOptions = {}): Promise<VectorDataset> {
  const { content, format, url } = dataset;
  const size = { places: PLACES, vertices: Math.ceil(VERTICES / PLACES) };
  const held = content.sample === undefined ? undefined : await content.sample(size, options);
  const index = held === undefined ? undefined : heldIndex(held, true);
  const own = index ?? (await thinned(content, await dataset.index(options), options));
  const { levels: _, bounds: __, ...rest } = content;
  const count = own.objects === undefined ? undefined : own.objects.ids.length;
  const vertices = own.vertices.reduce((sum, one) => sum + one, 0);
  const finite = true; // or not: a first look takes what is there
  const sample: FileContent = { ...rest, finite, vertices, objects: count, index: async () => own };
  return fileDataset(format, url, sample, options);
}

/** Some pieces, evenly, and of each some objects or points, evenly. */
async function thinned({ linkWidth, axes }: FileContent, index: PieceIndex, options: ReadOptions): Promise<PieceIndex> {
  const total = index.vertices.reduce((sum, one) => sum + one, 0);
  if (total <= VERTICES) return index;
  const count = index.vertices.length;
  const whole = linkWidth > 0 ? Math.max(1, Math.floor((count * VERTICES) / total)) : PIECES;
  const taken = Math.min(count, whole);
  const pieces: Piece[] = [];
  for (let i = 0; i < taken; i++) {
    const piece = await index.load(Math.floor((i * count) / taken), options);
    const every = linkWidth > 0 ? 1 : Math.max(1, Math.round((total * taken) / count / VERTICES));
    pieces.push(everyNth(piece, every, axes.length, index.objects !== undefined));
  }
  return heldIndex({ schema: { ...index.schema, group: [] }, pieces }, index.objects !== undefined);
}

function everyNth(piece: Piece, every: number, dims: number, hasObjects: boolean): Piece {
  if (every === 1) return piece;
  const all = hasObjects ? piece.parts.length - 1 : piece.positions.length / dims;
  const rows = Uint32Array.from({ length: Math.ceil(all / every) }, (_, i) => i * every);
  return (hasObjects ? pickParts : pickPoints)(piece, rows, dims);
}

/** Pieces in memory. */
function heldIndex({ schema, pieces }: FileSample, hasObjects: boolean): PieceIndex {
  const starts = new Uint32Array(pieces.length + 1);
  for (const [p, { parts }] of pieces.entries()) starts[p + 1] = starts[p]! + parts.length - 1;
  const empty = pieces.flatMap(({ parts }, p) =>
    Array.from(parts.subarray(1), (end, part) => (end === parts[part] ? starts[p]! + part : -1)).filter(
      (row) => row >= 0,
    ),
  );
  return {
    schema,
    objects: hasObjects ? { ids: numbered(starts.at(-1)!), starts } : undefined,
    empty: hasObjects ? Uint32Array.from(empty) : undefined,
    vertices: Uint32Array.from(pieces, ({ parts }) => parts.at(-1)!),
    bytes: Float64Array.from(pieces, ({ positions }) => positions.byteLength),
    load: async (piece) => pieces[piece]!,
  };
}
