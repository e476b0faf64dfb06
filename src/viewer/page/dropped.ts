/** Files and folders that were dropped on the page, as a store: they are read where they are, piece by piece, and go nowhere. */
import { NotFound } from "../../errors.js";
import { Key, Prefix } from "../../store/key.js";
import type { Location } from "../../store/open.js";
import { spanFor } from "../../store/range.js";
import type { Store } from "../../store/types.js";
import { childrenOf, withoutWriting } from "../../store/wrap.js";

/** The files of a drop, by their paths below what was dropped. */
export async function droppedFiles(items: DataTransferItemList): Promise<Map<string, File>[]> {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return Promise.all(
    entries.map(async (entry) => {
      const files = new Map<string, File>();
      await walk(entry, entry.isDirectory ? entry.fullPath.length + 1 : 1, files);
      return files;
    }),
  );
}

async function walk(entry: FileSystemEntry, skip: number, files: Map<string, File>): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    files.set(entry.fullPath.slice(skip), file);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return; // a reader gives a hundred at a time
    for (const child of some) await walk(child, skip, files);
  }
}

/** Where they are, for `detect`: one file by itself is a format of single files. */
export function locationOf(files: ReadonlyMap<string, File>, name: string): Location {
  const store = filesStore(files, name);
  const [only] = files.keys();
  if (files.size === 1 && only !== undefined && !only.includes("/"))
    return { store, at: Prefix.root, file: Key.of(only) };
  return { store, at: Prefix.root };
}

function filesStore(files: ReadonlyMap<string, File>, name: string): Store {
  const url = `dropped:${name}`;
  return {
    url,
    can: { list: true, write: false, conditional: false },
    ...withoutWriting(url),
    async get(key, options = {}) {
      options.signal?.throwIfAborted();
      const file = files.get(key);
      if (file === undefined) return undefined;
      const { offset, length } = spanFor(options, file.size, `${url}/${key}`);
      const part = file.slice(offset, offset + length);
      try {
        return new Uint8Array(await part.arrayBuffer());
      } catch (cause) {
        throw new NotFound(`${url}/${key} can no longer be read: it was moved or changed`, { cause });
      }
    },
    async stat(key) {
      const file = files.get(key);
      return file && { size: file.size };
    },
    async *list(prefix) {
      for (const [key, { size }] of files) if (key.startsWith(prefix)) yield { key: Key.of(key), size };
    },
    children: async (prefix) => childrenOf(files.keys(), prefix),
  };
}
