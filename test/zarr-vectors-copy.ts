/** Golden stores of Zarr Vectors in memory, to be changed. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Json, parseJson, stringifyJson } from "../src/bytes/json.js";
import { encodeUtf8 } from "../src/bytes/text.js";
import { defaultLimits } from "../src/limits.js";
import { Key } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/types.js";
import { fixtures } from "./fixtures.js";

/** Where the store of a fixture lies: "v0.9.2/graph_2d". */
export const folderOf = (path: string): string => join(fixtures("zarr-vectors"), path, "store.zarrvectors");

/** A copy of a fixture. */
export async function copyOf(path: string): Promise<Store> {
  const store = memoryStore();
  const folder = folderOf(path);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    await store.set(Key.of(relative(folder, file)), readFileSync(file));
  }
  return store;
}

/** Changes a JSON document of a store. */
export async function change(store: Store, at: string, edit: (document: { [key: string]: Json }) => void) {
  const bytes = (await store.get(Key.of(at)))!;
  const document = parseJson(bytes, defaultLimits, at, { tokens: true }) as { [key: string]: Json };
  edit(document);
  await store.set(Key.of(at), encodeUtf8(stringifyJson(document), at));
}
