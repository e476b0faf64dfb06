/** Where a result goes: a file (or a key of another store) that appears when it is whole, or stdout. */
import { Conflict } from "../errors.js";
import { openLocation } from "../node.js";
import { Key } from "../store/key.js";
import { splitPath } from "../store/open.js";
import type { Sink, Store } from "../store/types.js";
import type { Session } from "./verb.js";

/** "-" is stdout. Nothing that exists is replaced unless `overwrite` says so. */
export async function openSink(target: string, overwrite: boolean, { output, signal }: Session): Promise<Sink> {
  if (target === "-") {
    return { write: (bytes) => output.bytes(bytes), commit: async () => {}, abort: async () => {} };
  }
  const { store, key } = await placeOf(target, signal);
  if (!overwrite && (await store.stat(key, { signal })) !== undefined) {
    throw new Conflict(`${target} is already there`, { where: target, hint: "Add --overwrite to replace it." });
  }
  return store.write(key, { signal, ...(overwrite || !store.can.conditional ? {} : { if: { absent: true } }) });
}

/** The folder is opened and the last part is the key in it; the options behind "?" belong to the store. */
async function placeOf(target: string, signal: AbortSignal): Promise<{ store: Store; key: Key }> {
  const [address = "", query = ""] = /^[a-z][a-z0-9+.-]+:/i.test(target) ? target.split(/(?=\?)/) : [target];
  const [folder, file] = splitPath(address);
  const { store, at } = await openLocation(`${folder || (address.startsWith("/") ? "/" : ".")}${query}`, { signal });
  return { store, key: Key.join(at, file) };
}
