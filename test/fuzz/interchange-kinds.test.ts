/**
 * Every kind of file that Octavo reads has a fuzz target, and a hostile set that is made of its seeds: cut off after every byte,
 * every byte turned to ones, and four and eight bytes as large as they can be. A new kind without a target fails here.
 */
import { describe, expect, it } from "vitest";
import { OctavoError } from "../../src/errors.js";
import { kinds } from "../../src/format/interchange/kinds.js";
import { targets } from "./targets.js";

const MOST = 100; // places of a seed that are damaged, evenly

/** Where else a kind is read. */
const ELSEWHERE: { readonly [id: string]: string } = { hdf5: "snapshot" };

const targetOf = (id: string) => targets.find(({ name }) => [id, `interchange ${id}`, ELSEWHERE[id]].includes(name));

function* damaged(seed: Uint8Array): Generator<Uint8Array> {
  const step = Math.max(1, Math.ceil(seed.length / MOST));
  for (let at = 0; at < seed.length; at += step) {
    yield seed.slice(0, at);
    for (const width of [1, 4, 8]) {
      const own = seed.slice();
      own.fill(0xff, at, at + width);
      yield own;
      if (width === 1) continue;
      own[Math.min(at + width, own.length) - 1] = 0x7f; // the largest that is not negative
      yield own;
    }
  }
}

describe.each(kinds)("$id", ({ id }) => {
  it("has a fuzz target, and survives its hostile set", async () => {
    const target = targetOf(id);
    expect(target, `a fuzz target "interchange ${id}" in test/fuzz`).toBeDefined();
    const { seeds, run } = await target!.load();
    let refused = 0;
    for (const seed of seeds)
      for (const bytes of damaged(seed)) {
        try {
          await run(bytes.slice());
        } catch (error) {
          if (!(error instanceof OctavoError))
            throw new Error(`${id}, ${bytes.length} bytes: ${error}`, { cause: error });
          refused++;
        }
      }
    expect(refused).toBeGreaterThan(0);
  });
});
