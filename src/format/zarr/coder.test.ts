import { describe, expect, it } from "vitest";
import { Corrupt, InvalidInput } from "../../errors.js";
import type { NdArray } from "../../model/array.js";
import { ndarray, typed } from "../../model/elements.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { inlinePool } from "../../worker/inline.js";
import type { Pool } from "../../worker/pool.js";
import { type ArrayDescription, createArray } from "./create.js";
import { writeRegion } from "./write.js";

/** A pool that counts its tasks and, as real workers do, takes away the memory that it is given. */
function watchedPool(): Pool & { readonly tasks: string[] } {
  const tasks: string[] = [];
  return {
    size: 2,
    tasks,
    run: (async (task, payload, options) => {
      tasks.push(task);
      const moved = structuredClone(payload, { transfer: [...(options?.transfer ?? [])] });
      await new Promise((resolve) => setTimeout(resolve, 1));
      return inlinePool.run(task, moved, options);
    }) as Pool["run"],
    async close() {},
  };
}

const SIDE = 192; // chunks of 96 × 192 × 4 bytes are worth a worker
const numbers = (): NdArray =>
  ndarray(
    [SIDE, SIDE],
    Int32Array.from({ length: SIDE * SIDE }, (_, i) => i * 7),
  );

async function made(description: Partial<ArrayDescription>, pool?: Pool) {
  const store: Store = memoryStore();
  const shape = [SIDE, SIDE];
  const array = await createArray(store, Prefix.root, {
    shape,
    chunkShape: [96, SIDE],
    dtype: "int32",
    ...description,
  });
  await writeRegion(array, [], numbers(), { pool });
  return array;
}

describe.each([
  ["chunks", {}],
  ["big-endian chunks", { dtype: ">i4", version: 2 }],
  ["uncompressed chunks", { codecs: "none" }],
  ["shards", { shardShape: [SIDE, SIDE] }],
] as [string, Partial<ArrayDescription>][])("%s in workers", (_, description) => {
  it("are the same bytes and the same values as without", async () => {
    const pool = watchedPool();
    const array = await made(description, pool);
    const plain = await made(description);
    for await (const { key } of plain.stored()!) {
      expect(Buffer.compare((await array.store.get(key))!, (await plain.store.get(key))!)).toBe(0);
    }
    expect(pool.tasks).toEqual(["codec.encode", "codec.encode"]);
    pool.tasks.length = 0;
    for (let round = 0; round < 3; round++) {
      const got = await array.read(undefined, { pool });
      expect(Buffer.compare(got.data as Uint8Array, numbers().data as Uint8Array)).toBe(0);
    }
    expect(new Set(pool.tasks)).toEqual(new Set(["codec.decode"]));
    for (const buffer of [ArrayBuffer, SharedArrayBuffer]) {
      const into = new Uint8Array(new buffer(SIDE * SIDE * 4)).fill(255);
      const got = await array.read(undefined, { pool, into });
      expect(got.data).toBe(into);
      expect(Buffer.compare(into, numbers().data as Uint8Array)).toBe(0);
    }
    const part = typed(await array.read([{ start: 90, stop: 100, step: 3 }, 5], { pool }));
    expect([...part]).toEqual([90, 93, 96, 99].map((row) => (row * SIDE + 5) * 7));
  });
});

it("given memory must fit, and absent chunks are fill there too", async () => {
  const array = await createArray(memoryStore(), Prefix.root, { shape: [3], chunkShape: [2], dtype: "int32" });
  await writeRegion(array, [2], ndarray([], Int32Array.of(9)));
  const into = new Uint8Array(12).fill(255);
  expect([...typed(await array.read(undefined, { into }))]).toEqual([0, 0, 9]);
  await expect(array.read([0], { into })).rejects.toThrow(InvalidInput);
  const texts = await createArray(memoryStore(), Prefix.root, { shape: [1], dtype: "string" });
  await expect(texts.read([0], { into })).rejects.toThrow(InvalidInput);
});

it("small chunks stay here, and a worker's error names the chunk", async () => {
  const pool = watchedPool();
  const small = await made({ chunkShape: [1, SIDE] }, pool);
  await small.read(undefined, { pool });
  expect(pool.tasks).toEqual([]);
  const array = await made({});
  await array.store.set(Key.of("c/1/0"), new Uint8Array(100));
  const reading = array.read(undefined, { pool });
  await expect(reading).rejects.toThrow(Corrupt);
  await expect(reading).rejects.toThrow("c/1/0");
});

it("two reads at once do not meet in the memory that they share", async () => {
  const [a, b] = [await made({}), await made({ chunkShape: [48, 96] })];
  const results = await Promise.all([a.read(), b.read(), a.read([{ step: -1 }]), b.read()]);
  for (const at of [0, 1, 3]) {
    expect(Buffer.compare(results[at]!.data as Uint8Array, numbers().data as Uint8Array)).toBe(0);
  }
  expect((typed(results[2]!) as Int32Array)[0]).toBe((SIDE - 1) * SIDE * 7);
});
