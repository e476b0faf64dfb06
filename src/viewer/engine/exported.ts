/** A part of a dataset as a file, as the command line's `get` writes it. */
import { concat } from "../../bytes/concat.js";
import { InvalidInput } from "../../errors.js";
import { kinds } from "../../format/interchange/kinds.js";
import type { Query, VectorDataset } from "../../model/vectors.js";

export async function exported(dataset: VectorDataset, as: string, query: Query): Promise<Uint8Array> {
  const kind = kinds.find(({ id }) => id === as);
  if (kind === undefined) throw new InvalidInput(`there is no file of kind ${as}`);
  const [{ feedOf }, { convertToFile }] = await Promise.all([
    import("../../convert/feed.js"),
    import("../../convert/files.js"),
  ]);
  const feed = await feedOf(dataset, query, {});
  const pieces: Uint8Array[] = [];
  const sink = {
    write: async (bytes: Uint8Array): Promise<void> => {
      pieces.push(bytes.slice());
    },
    commit: async (): Promise<void> => {},
    abort: async (): Promise<void> => {},
  };
  await convertToFile(feed, kind, sink, {});
  return concat(pieces);
}
