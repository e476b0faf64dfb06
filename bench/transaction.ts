/**
 * `npm run bench transaction`: what it costs that 40 keys change together, on a disk, beside 40 plain writes of the same
 * values one after another and eight at once. By turns, so that whatever else the disk does falls on all; the middle counts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileStore } from "../src/store/file.js";
import { Key, Prefix } from "../src/store/key.js";
import { overlay } from "../src/store/overlay.js";
import { Transaction } from "../src/store/transaction.js";
import type { Store } from "../src/store/types.js";

const RUNS = 15;
const keys = Array.from({ length: 40 }, (_, i) => Key.of(`data/${i % 8}/c/${i}`)); // an append touches some arrays
const value = new Uint8Array(20_000).map((_, i) => i);
const at = Prefix.of("data");

const ways: Record<string, (store: Store) => Promise<unknown>> = {
  "40 writes, one after another": async (store) => {
    for (const key of keys) await store.set(key, value);
  },
  "40 writes, eight at once": async (store) => {
    for (let i = 0; i < keys.length; i += 8)
      await Promise.all(keys.slice(i, i + 8).map((key) => store.set(key, value)));
  },
  "a transaction of 40 writes": (store) =>
    Transaction.run(store, at, async (view) => {
      for (const key of keys) await view.set(key, value);
    }),
  "opening an overlay": (store) => overlay(store, at),
};

console.log("| | durability full, ms | none, ms |\n|---|---|---|");
const times = new Map<string, number[]>();
for (const durability of ["full", "none"] as const) {
  const folder = mkdtempSync(join(tmpdir(), "octavo-bench-"));
  const store = fileStore(folder, { durability });
  for (let run = 0; run <= RUNS; run++) {
    for (const [name, way] of Object.entries(ways)) {
      const started = performance.now();
      await way(store);
      const list = times.get(`${name} ${durability}`) ?? [];
      times.set(`${name} ${durability}`, list);
      if (run > 0) list.push(performance.now() - started); // the first makes directories
    }
  }
  rmSync(folder, { recursive: true });
}
const middle = (name: string): string =>
  times
    .get(name)!
    .sort((a, b) => a - b)
    [RUNS >> 1]!.toFixed(1);
for (const name of Object.keys(ways))
  console.log(`| ${name} | ${middle(`${name} full`)} | ${middle(`${name} none`)} |`);
