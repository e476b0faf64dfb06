/** Paths with fewer vertices: polylines and streamlines. Lines stay: they have two. */
import { marked, thinChain } from "./chain.js";
import type { Coarse, Fine } from "./types.js";

export function thinPaths({ positions, dims, parts }: Fine, allowed: number): Coarse {
  const kept = new Uint8Array(positions.length / dims);
  const longest = parts.reduce((most, from, p) => Math.max(most, (parts[p + 1] ?? from) - from), 0);
  const all = Uint32Array.from({ length: longest }, (_, i) => i);
  const chain = new Uint32Array(longest);
  let error = 0;
  for (let part = 0; part + 1 < parts.length; part++) {
    const [from, count] = [parts[part]!, parts[part + 1]! - parts[part]!];
    if (count === 0) continue;
    for (let i = 0; i < count; i++) chain[i] = from + all[i]!;
    error = Math.max(error, thinChain(positions, dims, chain.subarray(0, count), allowed, kept));
  }
  return { rows: marked(kept), error };
}
