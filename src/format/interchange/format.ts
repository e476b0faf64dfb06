/** The files of other software as a format that stands for many: what a file is, its name says, or how it begins. */
import { InvalidInput } from "../../errors.js";
import type { Format, FormatOptions } from "../../model/format.js";
import type { Key } from "../../store/key.js";

const reader = () => import("./open.js");

export const interchange: Format = {
  id: "file",
  name: "a file of another kind that is known",
  single: true,
  kinds: async () => (await reader()).kinds.map(({ id }) => id),
  async detect(store, _at, options = {}) {
    const file = fileOf(options);
    const { kindOf, openInterchange } = await reader();
    const kind = await kindOf(store, file, options);
    if (kind === undefined) return undefined;
    const open = () => openInterchange(kind, store, file, options);
    return { format: kind.id, version: "", summary: kind.name, open };
  },
  async open(store, _at, options = {}) {
    const file = fileOf(options);
    const { kindAt, openInterchange } = await reader();
    return openInterchange(await kindAt(store, file, options), store, file, options);
  },
  async *validate(store, _at, options = {}) {
    const file = fileOf(options);
    const { kindAt, openInterchange } = await reader();
    const { validateFile } = await import("./validate.js");
    const kind = await kindAt(store, file, options);
    yield* validateFile(`${store.url}/${file}`, () => openInterchange(kind, store, file, options), options);
  },
};

function fileOf({ file }: FormatOptions): Key {
  if (file === undefined) throw new InvalidInput("this is a format of files, and no file is named");
  return file;
}
