/** Everything that can be said against a file: it opens, its pieces are found, each is read, each number looked at. */
import type { Finding, ValidateOptions } from "../../model/format.js";
import type { FileDataset } from "./dataset.js";
import { notFinite, sentenceAt } from "./finite.js";
import { failure, finding, rules } from "./rules.js";
import type { PieceIndex } from "./types.js";

export async function* validateFile(
  where: string,
  open: () => Promise<FileDataset>,
  options: ValidateOptions = {},
): AsyncGenerator<Finding> {
  const { level = 5, signal, onProgress } = options;
  let dataset: FileDataset;
  try {
    dataset = await open();
  } catch (error) {
    return yield failure("opens", where, error);
  }
  if (level < rules.pieces.level) return;
  let index: PieceIndex;
  try {
    index = await dataset.index({ signal });
  } catch (error) {
    return yield failure("pieces", where, error);
  }
  for (const note of index.notes ?? []) yield finding("counts", where, note);
  if (level < rules.decodes.level) return;
  const total = index.vertices.length;
  const dims = dataset.axes.length;
  for (let piece = 0; piece < total; piece++) {
    signal?.throwIfAborted();
    try {
      const own = await index.load(piece, { signal, limits: options.limits });
      const bad = level < rules.finite.level ? -1 : notFinite(own.positions);
      if (bad >= 0) yield finding("finite", where, await sentenceAt(index, dims, piece, own, bad));
    } catch (error) {
      yield failure("decodes", where, error);
    }
    onProgress?.({ done: piece + 1, total, unit: "chunks" });
  }
}
