import { expect, it } from "vitest";
import { fill } from "../testing/index.js";
import { Key, Prefix } from "./key.js";
import { memoryStore } from "./memory.js";
import { meterStore } from "./meter.js";

it("meter counts requests and bytes, by kind", async () => {
  const store = meterStore(await fill(memoryStore(), { v: new Uint8Array(100) }));
  const k = Key.of;
  await store.get(k("v"));
  await store.get(k("v"), { range: { offset: 0, length: 7 } });
  await store.get(k("x"));
  await store.stat(k("v"));
  await store.set(k("w"), new Uint8Array(5));
  const sink = await store.write(k("s"));
  await sink.write(new Uint8Array(3));
  await sink.commit();
  for await (const _ of store.list(Prefix.root));
  await store.delete(k("s"));
  const counts = {
    get: 3,
    stat: 1,
    list: 1,
    set: 1,
    write: 1,
    delete: 1,
    requests: 8,
    bytesRead: 107,
    bytesWritten: 8,
  };
  expect(store.counts()).toEqual(counts);
  const before = store.counts();
  await store.get(k("v"));
  expect(before).toEqual(counts); // a snapshot stays as it is
  store.reset();
  expect(store.counts().requests).toBe(0);
});
