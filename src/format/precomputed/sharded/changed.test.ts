/** Maps that others change while they are read. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fileStore } from "../../../store/file.js";
import { httpStore } from "../../../store/http.js";
import { Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { serveStore } from "../../../testing/http-server.js";
import { faultyStore } from "../../../testing/index.js";
import { createValues, editValues, openValues, type ValueReader } from "../values.js";
import type { Sharding } from "./types.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-changed-"));
afterAll(() => rmSync(folder, { recursive: true }));

// Raw throughout: a place of the old file is as good as any other in the new one.
const sharding: Sharding = {
  hash: "identity",
  preshiftBits: 0,
  minishardBits: 1,
  shardBits: 1,
  indexEncoding: "raw",
  dataEncoding: "raw",
};
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const IDS = BigUint64Array.from({ length: 16 }, (_, i) => BigInt(i));

async function begin(store: Store): Promise<void> {
  const writer = await createValues(store, Prefix.root, sharding);
  for (const id of IDS) await writer.put(id, text(`value ${id}, first`));
  await writer.commit();
}

/** Value 0 becomes longer, so that all others of its shard move. */
async function edit(store: Store, word: string): Promise<void> {
  const editor = await editValues(store, Prefix.root, sharding);
  for (const id of IDS.filter((id) => id % 4n === 0n)) await editor.put(id, text(`value ${id}, ${word}`));
  await editor.delete(15n);
  await editor.commit();
}
const after = (word: string): string[] =>
  Array.from(IDS, (id) => (id === 15n ? "none" : `value ${id}, ${id % 4n === 0n ? word : "first"}`));

async function all(reader: ValueReader): Promise<string[]> {
  const found: string[] = [];
  for await (const { rows, values } of reader.getMany(IDS))
    for (const [i, row] of rows.entries()) found[row] = values[i] ? new TextDecoder().decode(values[i]) : "none";
  return found;
}
const one = async (reader: ValueReader, id: bigint): Promise<string> =>
  new TextDecoder().decode((await reader.get(id)) ?? text("none"));

async function listed(reader: ValueReader): Promise<string[]> {
  const found: string[] = [];
  for await (const { ids, values } of reader.entries())
    for (const [i, id] of ids.entries()) found[Number(id)] = new TextDecoder().decode(values[i]);
  return Array.from(IDS, (id) => found[Number(id)] ?? "none");
}

test.each([
  ["memory", () => memoryStore()],
  ["files", () => fileStore(join(folder, "files"), { durability: "none" })],
])("in %s, an index that was kept is not taken for that of a shard that came later", async (_name, make) => {
  const store = make();
  await begin(store);
  const reader = await openValues(store, Prefix.root, sharding);
  await all(reader);
  for (const word of ["a little longer", "again", "x"]) {
    await edit(store, word);
    expect(await one(reader, 4n)).toBe(`value 4, ${word}`);
    expect(await all(reader)).toEqual(after(word));
    expect(await listed(reader)).toEqual(after(word));
    expect(await reader.get(15n)).toBe(undefined);
  }
});

test("over HTTP a shard with another ETag is read again from its index on", async () => {
  const below = memoryStore();
  await begin(below);
  const server = await serveStore(below);
  try {
    const reader = await openValues(httpStore(server.url), Prefix.root, sharding);
    await all(reader);
    await edit(below, "a little longer");
    expect(await one(reader, 4n)).toBe("value 4, a little longer");
    await edit(below, "again");
    expect(await all(reader)).toEqual(after("again"));
    expect(await reader.get(15n)).toBe(undefined);
  } finally {
    await server.close();
  }
});

test("a shard that is replaced while it is read is read as it was, to the end", async () => {
  const store = fileStore(join(folder, "during"), { durability: "none" });
  await begin(store);
  const reader = await openValues(store, Prefix.root, sharding);
  const found: string[] = [];
  for await (const { ids, values } of reader.entries()) {
    if (found.length === 0) await edit(store, "a little longer");
    for (const [i, id] of ids.entries()) found[Number(id)] = new TextDecoder().decode(values[i]);
  }
  const [old, next] = [Array.from(IDS, (id) => `value ${id}, first`), after("a little longer")];
  for (const shard of [0, 2]) {
    const own = (list: string[]) => list.filter((_, id) => (id & 2) === shard);
    expect([own(old), own(next).filter((line) => line !== "none")]).toContainEqual(own(found));
  }
});

test("what was read from a log that is gone by now is read again", async () => {
  const store = memoryStore();
  await begin(store);
  // The writer dies as soon as it has committed: nothing of it is in its place.
  const dying = faultyStore(store, ({ kind, at }) => {
    if (kind === "set" && at.endsWith(".shard")) throw new Error("gone");
  });
  await edit(dying, "in the log").catch(() => {});
  const reader = await openValues(store, Prefix.root, sharding);
  expect(await all(reader)).toEqual(after("in the log"));
  await edit(store, "after that");
  expect(await all(reader)).toEqual(after("after that"));
  expect(await one(reader, 4n)).toBe("value 4, after that");
});
