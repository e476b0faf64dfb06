/** Good bytes to start from: files of the golden data, and small chunks of every character. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type FixtureSet, fixtures } from "../fixtures.js";
import { random } from "./mutate.js";

const SMALL = 8192; // a mutation of a large file mostly hits what no decoder looks at

/** The small files of a set whose path matches, smallest first, each content once. */
export function files(set: FixtureSet, path: RegExp, most = 60): Uint8Array[] {
  const folder = fixtures(set);
  const found = new Map<string, Uint8Array>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !path.test(full.slice(folder.length + 1))) continue;
    const bytes = readFileSync(full);
    if (bytes.length <= SMALL) found.set(bytes.toString("latin1"), new Uint8Array(bytes));
  }
  return [...found.values()].sort((a, b) => a.length - b.length).slice(0, most);
}

/** 2048 bytes each: one value, counting int32, few values at random, noise. */
export function chunks(): Uint8Array[] {
  const dice = random(1);
  const counting = new Uint8Array(Int32Array.from({ length: 512 }, (_, i) => i * 3 - 100).buffer);
  return [
    new Uint8Array(2048).fill(7),
    counting,
    Uint8Array.from({ length: 2048 }, () => dice.below(3)),
    Uint8Array.from({ length: 2048 }, () => dice.below(256)),
  ];
}
