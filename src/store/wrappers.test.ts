import { describe, it } from "vitest";
import { fill, recordingStore, runStoreSuite } from "../testing/index.js";
import { cacheStore } from "./cache.js";
import { coalesceStore } from "./coalesce.js";
import { Prefix } from "./key.js";
import { memoryStore } from "./memory.js";
import { meterStore } from "./meter.js";
import { prefixStore } from "./prefix.js";
import { readonlyStore } from "./readonly.js";
import { retryStore } from "./retry.js";
import type { Store } from "./types.js";

const all = { list: true, write: true, conditional: true };

function suite(name: string, wrapper: (store: Store) => Store): void {
  runStoreSuite({ describe, it }, name, all, async (values) => wrapper(await fill(memoryStore(), values)));
}

suite("cache", (store) => cacheStore(store));
suite("cache that remembers absence", (store) => cacheStore(store, { absent: true }));
suite("cache that holds next to nothing", (store) => cacheStore(store, { bytes: 300 }));
suite("coalesce", (store) => coalesceStore(store));
suite("retry", (store) => retryStore(store));
suite("meter", (store) => meterStore(store));
suite("recording", (store) => recordingStore(store));
suite("coalesce, cache, retry and meter together", (store) => coalesceStore(cacheStore(retryStore(meterStore(store)))));
runStoreSuite({ describe, it }, "readonly", { list: true, write: false, conditional: false }, async (values) =>
  readonlyStore(await fill(memoryStore(), values)),
);
runStoreSuite({ describe, it }, "prefix", all, async (values) => {
  const store = memoryStore();
  await fill(store, { "deep/er": Uint8Array.of(1), "deep/down2/x": Uint8Array.of(2), x: Uint8Array.of(3) });
  return fill(prefixStore(store, Prefix.of("deep/down")), values);
});
