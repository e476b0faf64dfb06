/** Finds out of which kind a file is, and opens it. */
import { Unsupported } from "../../errors.js";
import type { FormatOptions } from "../../model/format.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type FileDataset, fileDataset } from "./dataset.js";
import { openFile } from "./file.js";
import { type Kind, kindNamed, kinds, refuseTable } from "./kinds.js";
import type { OpenFileOptions } from "./types.js";

export { kinds };

/** The kind of a file: the one that the caller names, else by its name, else by how it begins. */
export async function kindOf(store: Store, file: Key, options: FormatOptions): Promise<Kind | undefined> {
  const { as, signal } = options;
  const size = (await store.stat(file, { signal }))?.size;
  if (size === undefined) return undefined;
  const forced = kinds.find(({ id }) => id === as);
  if (forced !== undefined) return forced;
  const named = kindNamed(file);
  if (named !== undefined) return named;
  const longest = Math.max(0, ...kinds.map(({ magic }) => magic?.length ?? 0));
  const range = { offset: 0, length: Math.min(size, longest) };
  const start = range.length === 0 ? undefined : await store.get(file, { signal, range });
  return kinds.find(({ magic }) => magic?.every((byte, i) => start?.[i] === byte));
}

/** The same; Unsupported where it is none. */
export async function kindAt(store: Store, file: Key, options: FormatOptions): Promise<Kind> {
  const kind = await kindOf(store, file, options);
  const where = `${store.url}/${file}`;
  if (kind === undefined) throw new Unsupported(`${where} is of no kind of file that is known`, { where });
  return kind;
}

export async function openInterchange(
  kind: Kind,
  store: Store,
  key: Key,
  options: OpenFileOptions = {},
): Promise<FileDataset> {
  refuseTable(options.table, kind.id, `${store.url}/${key}`);
  const input = await openFile(store, key, options);
  const { file } = await kind.load();
  return fileDataset(kind.id, input.where, await file.open(input, options), options);
}
