/** When the column of owners is believed, and when all manifests are read instead. */
import { describe, expect, test } from "vitest";
import { change, copyOf } from "../../../../test/zarr-vectors-copy.js";
import { Key, Prefix } from "../../../store/key.js";
import { recordingStore } from "../../../testing/observe.js";
import { openZarrVectors } from "../index.js";
import { OWNERS, SEALS, sealOf } from "./owner-column.js";

const INDEX = Key.of("0/object_index/zarr.json");
const STORE = "v0.9.2/points_fragment_attributes"; // has the column, as the reference writes it

/** Who owns the first part of the first chunk, and whether manifests were read to say so. */
async function ask(store: Awaited<ReturnType<typeof copyOf>>) {
  const watched = recordingStore(store);
  const { objects } = await (await openZarrVectors(watched)).source(0);
  watched.log.length = 0;
  const { rows } = await objects!.owners({ chunk: Int32Array.of(0), part: Uint32Array.of(0) });
  return { owners: [...rows], manifests: watched.log.some(({ at }) => at.includes("manifests")) };
}

async function sealed() {
  const store = await copyOf(STORE);
  const document = new TextDecoder().decode((await store.get(INDEX))!);
  const compact = new TextEncoder().encode(JSON.stringify(JSON.parse(document)));
  await store.set(INDEX, compact);
  const seal = sealOf(compact);
  await change(store, `0/${OWNERS}/zarr.json`, ({ attributes }) => {
    Object.assign(attributes as object, { [SEALS]: { object_index: seal } });
  });
  return store;
}

describe("a column of owners", () => {
  test("with its seal saves reading the manifests, and says the same", async () => {
    const without = await ask(await copyOf(STORE));
    expect(without.manifests).toBe(true);
    expect(await ask(await sealed())).toEqual({ owners: without.owners, manifests: false });
  });

  test("is not believed once the document of the index is another, be it by white space", async () => {
    const store = await sealed();
    const document = (await store.get(INDEX))!;
    await store.set(INDEX, Uint8Array.of(...document, 10));
    expect((await ask(store)).manifests).toBe(true);
  });

  test("of another type, or with the seal of another index, is not believed", async () => {
    const store = await sealed();
    await change(store, `0/${OWNERS}/zarr.json`, ({ attributes }) => {
      Object.assign(attributes as object, { [SEALS]: { object_index: "0123456789abcdef" } });
    });
    expect((await ask(store)).manifests).toBe(true);
    const other = await sealed();
    await change(other, `0/${OWNERS}/zarr.json`, ({ attributes }) => {
      Object.assign(attributes as object, { dtype: "int32" });
    });
    expect((await ask(other)).manifests).toBe(true);
  });

  test("that is too short says that the rest belongs to nobody", async () => {
    const store = await sealed();
    const none = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0);
    for await (const { key } of store.list(Prefix.of(`0/${OWNERS}/c`))) await store.set(key, none);
    expect(await ask(store)).toEqual({ owners: [], manifests: false });
  });
});
