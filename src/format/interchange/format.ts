/** The files of other software as formats: each kind is one, found by the file's name, or by how it begins. */
import { InvalidInput } from "../../errors.js";
import type { Format, FormatOptions } from "../../model/format.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type Kind, kinds } from "./kinds.js";
import type { OpenFileOptions } from "./types.js";

export const interchange: readonly Format[] = kinds.map((kind) => ({
  id: kind.id,
  name: kind.name,
  single: true,
  async detect(store, _at, options = {}) {
    const file = fileOf(options);
    if (!(await isOf(kind, store, file, options))) return undefined;
    const open = () => openAt(kind, store, file, options);
    return { format: kind.id, version: "", summary: kind.name, open };
  },
  open: (store, _at, options = {}) => openAt(kind, store, fileOf(options), options),
  async *validate(store, _at, options = {}) {
    const { validateFile } = await import("./validate.js");
    yield* validateFile(kind, store, fileOf(options), options);
  },
}));

async function isOf({ extensions, magic }: Kind, store: Store, file: Key, options: FormatOptions): Promise<boolean> {
  const plain = file.toLowerCase().replace(/\.gz$/, "");
  if (extensions.some((end) => plain.endsWith(`.${end}`))) return (await store.stat(file, options)) !== undefined;
  if (magic === undefined) return false;
  const size = (await store.stat(file, options))?.size ?? 0;
  if (size < magic.length) return false;
  const start = await store.get(file, { signal: options.signal, range: { offset: 0, length: magic.length } });
  return magic.every((byte, i) => start?.[i] === byte);
}

async function openAt(kind: Kind, store: Store, key: Key, options: OpenFileOptions) {
  const { openInterchange } = await import("./open.js");
  return openInterchange(kind, store, key, options);
}

function fileOf({ file }: FormatOptions): Key {
  if (file === undefined) throw new InvalidInput("this is a format of files, and no file is named");
  return file;
}
