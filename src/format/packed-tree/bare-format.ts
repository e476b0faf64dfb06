/**
 * Packed trees alone as a format: bytes as packingcubes writes them, known by their header. They have no positions, so what they are as
 * a dataset is their nodes. What opens them is loaded when there is one.
 */
import { InvalidInput } from "../../errors.js";
import type { Format, FormatOptions } from "../../model/format.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { HEADER_BYTES, TreeHeader } from "./header.js";

/** A packed tree without its particles. */
export const bareTree: Format = {
  id: "tree",
  name: "a packed tree",
  single: true,
  async detect(store, _at, options = {}) {
    const file = fileOf(options);
    const stat = await store.stat(file, options);
    if (stat === undefined || stat.size < HEADER_BYTES) return undefined;
    const start = await store.get(file, { signal: options.signal, range: { offset: 0, length: 20 } });
    if (start === undefined || !isHeader(start)) return undefined;
    const open = () => openAt(store, options);
    return { format: "tree", version: "1", summary: "packed tree without its particles", open };
  },
  open: (store, _at, options) => openAt(store, options),
  async *validate(store, _at, options = {}) {
    const { validateBareTree } = await import("./bare.js");
    yield* validateBareTree(store, fileOf(options), options);
  },
};

/** The number 144, then a size of fields or the first letter of the checksum's name: either may be damaged. */
function isHeader(bytes: Uint8Array): boolean {
  const endian = TreeHeader.endianOf(bytes);
  if (endian === undefined) return false;
  const letter = endian === "little" ? [120, 0, 0, 0] : [0, 0, 0, 120]; // "x"
  return bytes[4] === 4 || bytes[7] === 4 || letter.every((byte, i) => bytes[16 + i] === byte);
}

async function openAt(store: Store, options: FormatOptions = {}) {
  return (await import("./bare.js")).openBareTree(store, fileOf(options), options);
}

function fileOf({ file }: FormatOptions): Key {
  if (file === undefined) throw new InvalidInput("a packed tree is a file, and none is named");
  return file;
}
