/** Opens a file of one kind. */
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type FileDataset, fileDataset } from "./dataset.js";
import { openFile } from "./file.js";
import type { Kind } from "./kinds.js";
import type { OpenFileOptions } from "./types.js";

export async function openInterchange(
  kind: Kind,
  store: Store,
  key: Key,
  options: OpenFileOptions = {},
): Promise<FileDataset> {
  const input = await openFile(store, key, options);
  const { file } = await kind.load();
  return fileDataset(kind.id, input.where, await file.open(input, options), options.limits);
}
