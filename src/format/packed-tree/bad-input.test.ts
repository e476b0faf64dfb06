/** Every damaged file of the golden set, every word of a tree changed behind a checksum that fits, and questions that are none. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { xxh3 } from "../../bytes/hash/xxh3.js";
import { Corrupt, InvalidInput, LimitExceeded, OctavoError } from "../../errors.js";
import { buildTree } from "./build.js";
import { HEADER_BYTES } from "./header.js";
import { nearestParticles } from "./nearest.js";
import { parseTree } from "./parse.js";
import { joinParticles } from "./particles.js";
import { slicesIn } from "./slices.js";
import { validateTree } from "./validate.js";

const folder = join(fixtures("packed-tree"), "corrupt");
const bytesOf = (name: string) => new Uint8Array(readFileSync(join(folder, `${name}.bin`)));
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".bin") ? [file.slice(0, -4)] : []));

/** What is not damaged, but other: copies, the other byte order, and what the seed describes. */
const SOUND = ["base_copy", "base_valid", "big_endian_native", "method_ascii", "spec_byte_order"];
/** Damage of what is before the nodes, or of how many there are. */
const WHOLE = [
  "empty",
  "trunc_in_header",
  "header_only",
  "not_multiple_of_4",
  "bad_header_size",
  "byteswapped_u32",
].concat(
  ["field_size_8", "field_size_neg4", "version_2_0_0", "unknown_method", "box_dx0", "box_nan"],
  ["bad_checksum", "bad_tree_byte", "tree_truncated"],
);

/** The fastest of three, in milliseconds: this machine may have other work. */
function fastest(work: () => unknown): number {
  const times = [0, 1, 2].map(() => {
    const start = performance.now();
    try {
      work();
    } catch (error) {
      expect(error).toBeInstanceOf(OctavoError);
    }
    return performance.now() - start;
  });
  return Math.min(...times);
}

function fitted(bytes: Uint8Array): Uint8Array {
  new DataView(bytes.buffer).setBigUint64(84, xxh3(bytes.subarray(HEADER_BYTES)), true);
  return bytes;
}

describe("the damaged files of the golden set", () => {
  it.each(SOUND)("%s is read", (name) => {
    expect(parseTree(bytesOf(name)).count).toBe(1000);
  });

  it.each(names.filter((name) => !SOUND.includes(name)))("%s is one of Octavo's errors, in milliseconds", (name) => {
    const bytes = bytesOf(name);
    const box = { origin: [0, 0, 0], size: [1, 1, 1] } as const; // what has no header needs one
    expect(() => parseTree(bytes, { box })).toThrow(OctavoError);
    expect(fastest(() => parseTree(bytes, { box }))).toBeLessThan(50);
    expect(fastest(() => validateTree(bytes, { box }))).toBeLessThan(50);
    const found = validateTree(bytes, { box, where: name }).filter(({ severity }) => severity === "error");
    expect(found.length).toBeGreaterThan(0);
    if (!WHOLE.includes(name)) for (const { where } of found) expect(where).toMatch(/, byte \d+$/);
  });
});

describe("behind a checksum that fits", () => {
  const base = bytesOf("base_valid");
  const words = (base.length - HEADER_BYTES) / 4;

  it("no word of a node can be another one: each is Corrupt, and a finding names a node", () => {
    for (let word = 0; word < words; word++) {
      const at = HEADER_BYTES + 4 * word;
      const was = new DataView(base.buffer).getUint32(at, true);
      for (const value of [0, 1, was - 1, was + 1, was + 5, 2 ** 31, 2 ** 32 - 1]) {
        if (value === was || value < 0 || value >= 2 ** 32) continue;
        const bytes = base.slice();
        new DataView(bytes.buffer).setUint32(at, value, true);
        fitted(bytes);
        expect(() => parseTree(bytes), `word ${word} = ${value}`).toThrow(Corrupt);
        const [first] = validateTree(bytes, { where: "it" });
        expect([first!.severity, first!.where], `word ${word} = ${value}`).toEqual([
          "error",
          expect.stringMatching(/^it, byte \d+$/),
        ]);
      }
    }
  });

  it("no cut of a tree is a tree, wherever it is", () => {
    for (let length = HEADER_BYTES; length < base.length; length += 4)
      expect(() => parseTree(fitted(base.slice(0, length)))).toThrow(Corrupt);
  });

  it("a chain as deep as a level can be is read or refused, at once", () => {
    for (const depth of [51, 52, 200, 254, 255, 256, 100_000]) {
      const list = new Uint32Array(5 * depth);
      for (let i = 0; i < depth; i++) {
        const place = i === 0 ? 0 : 1;
        const flags = i === depth - 1 ? 0 : 1;
        list.set([5 * (depth - i), 0, 0, (flags << 24) | (place << 16) | (((i + 1) & 255) << 8)], 4 * i);
        list[list.length - 1 - i] = i === 0 ? 0 : 4;
      }
      const bytes = new Uint8Array(list.buffer);
      const read = () =>
        slicesIn(parseTree(bytes, { box: { origin: [0, 0, 0], size: [1, 1, 1] } }), { sphere: [0, 0, 0, 1] });
      expect(fastest(read)).toBeLessThan(50);
      if (depth <= 52) expect(read().length).toBe(3);
      if (depth > 255) expect(read).toThrow(Corrupt);
    }
  });
});

describe("what nobody can mean", () => {
  it("more particles than a tree has numbers for, without room for one of them", async () => {
    const many = (length: number) => Object.defineProperty(new Float32Array(), "length", { value: length });
    await expect(buildTree(many(3 * 2 ** 32))).rejects.toThrow(LimitExceeded);
    await expect(buildTree([many(2 ** 32), many(2 ** 32), many(2 ** 32)])).rejects.toThrow(LimitExceeded);
  });

  it("no neighbours; more than there are particles are all of them", async () => {
    const particles = await joinParticles(await buildTree(Float64Array.of(0, 0, 0, 1, 1, 1, 2, 2, 2)));
    for (const k of [0, -1, 0.5, Number.NaN])
      expect(() => nearestParticles(particles, [0, 0, 0], k)).toThrow(InvalidInput);
    expect(nearestParticles(particles, [0, 0, 0], 2 ** 31).numbers.length).toBe(3);
  });
});
