/**
 * From a chunk's place in the grid to its key below the array, and back.
 *
 * | keys                  | (1, 2)                | (3)                 | ()  |
 * |-----------------------|-----------------------|---------------------|-----|
 * | v0                    | `__zdata__/1.2.blosc` | `__zdata__/3.blosc` | —   |
 * | v2, "." (v1, v2, v3)  | `1.2`                 | `3`                 | `0` |
 * | v2, "/"               | `1/2`                 | `3`                 | `0` |
 * | default, "/" (v3)     | `c/1/2`               | `c/3`               | `c` |
 * | default, "."          | `c.1.2`               | `c.3`               | `c` |
 *
 * The way back accepts only what the way there gives: no leading zeros, no `.lock`, no `.partial`.
 */
import type { ChunkKeys } from "./types.js";

export function chunkKey(keys: ChunkKeys, coords: readonly number[]): string {
  switch (keys.kind) {
    case "v0":
      return `__zdata__/${coords.join(".")}.blosc`;
    case "v2":
      return coords.length === 0 ? "0" : coords.join(keys.separator);
    case "default":
      return ["c", ...coords].join(keys.separator);
  }
}

/** Where the chunk of this key lies in the grid, or undefined if no chunk of this rank has that key. */
export function parseChunkKey(keys: ChunkKeys, rank: number, key: string): number[] | undefined {
  const coords = rank === 0 ? [] : (key.match(/\d+/g)?.map(Number) ?? []);
  const isPlace = coords.length === rank && coords.every(Number.isSafeInteger);
  return isPlace && chunkKey(keys, coords) === key ? coords : undefined;
}
