/** PackedTree as a format: `.ptree` files. What opens them is loaded when there is one. */
import { InvalidInput } from "../../../errors.js";
import type { Format, FormatOptions } from "../../../model/format.js";
import type { Key } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { isMagic, MAGIC } from "./magic.js";

/** PackedTree as a format. */
export const packedTree: Format = {
  id: "packed-tree",
  name: "a ptree file of particles",
  single: true,
  async detect(store, _at, options = {}) {
    const file = fileOf(options);
    const stat = await store.stat(file, options);
    if (stat === undefined || stat.size < MAGIC.length) return undefined;
    const start = await store.get(file, { signal: options.signal, range: { offset: 0, length: MAGIC.length } });
    if (start === undefined || !isMagic(start, 0)) return undefined;
    const open = () => openAt(store, options);
    return { format: "packed-tree", version: "ptree 1", summary: "octree over particles", open };
  },
  open: (store, _at, options) => openAt(store, options),
  async *validate(store, _at, options = {}) {
    const { validateParticleFile } = await import("./validate.js");
    yield* validateParticleFile(store, fileOf(options), options);
  },
};

async function openAt(store: Store, options: FormatOptions = {}) {
  return (await import("./dataset.js")).openParticles(store, fileOf(options), options);
}

function fileOf({ file }: FormatOptions): Key {
  if (file === undefined) throw new InvalidInput("a ptree is a file, and none is named");
  return file;
}
