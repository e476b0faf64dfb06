/**
 * Packed trees: bytes whose checksum is made to fit, so that the nodes are looked at, and then asked for slices; and ptree files, as
 * they are validated, asked and read whole.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { concat } from "../../src/bytes/concat.js";
import { xxh3 } from "../../src/bytes/hash/xxh3.js";
import { HEADER_BYTES, TreeHeader } from "../../src/format/packed-tree/header.js";
import {
  buildTree,
  encodeParticles,
  encodeTree,
  joinParticles,
  openParticles,
  packedTree,
  parseTree,
  slicesIn,
  validateTree,
} from "../../src/format/packed-tree/index.js";
import { defaultLimits } from "../../src/limits.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { fixtures } from "../fixtures.js";
import type { Decoder, Target } from "./driver.js";

const cap = 1 << 24;
const limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };
const box = { origin: [0, 0, 0], size: [1, 1, 1] } as const;
const seeds = (...names: string[]): Uint8Array[] =>
  names.map((name) => new Uint8Array(readFileSync(join(fixtures("packed-tree"), name))));

function use(bytes: Uint8Array): void {
  validateTree(bytes, { box });
  const tree = parseTree(bytes, { box });
  encodeTree(tree);
  slicesIn(tree, { sphere: [0.5, 0.5, 0.5, 0.25] });
  slicesIn(tree, { box: [0.1, 0.1, 0.1, 0.7, 0.7, 0.7] }, { asReference: true });
}

/** With the checksum that the nodes have. */
function fitted(bytes: Uint8Array): Uint8Array {
  const endian = TreeHeader.endianOf(bytes);
  if (endian === undefined || bytes.length < HEADER_BYTES) return bytes;
  const own = bytes.slice();
  new DataView(own.buffer).setBigUint64(84, xxh3(own.subarray(HEADER_BYTES)), endian === "little");
  return own;
}

const target = (name: string, decoder: () => Decoder): Target => ({ name, cap, load: async () => decoder() });

const file = Key.of("some.ptree");

/** A small file of each kind. */
async function files(): Promise<Uint8Array[]> {
  const sets = [
    new Float64Array(),
    Float64Array.of(0.1, 0.2, 0.3),
    Float32Array.from({ length: 90 }, (_, i) => (i * i) % 37),
  ];
  const heat = { name: "heat", dtype: { kind: "float", size: 4, endian: "little" }, channels: 2 } as const;
  return Promise.all(
    sets.map(async (positions) => {
      const particles = await joinParticles(await buildTree(positions, { threshold: 5, created: 1 }));
      const values = new Float32Array((2 * positions.length) / 3);
      const pieces: Uint8Array[] = [];
      for await (const piece of encodeParticles(particles, { attributes: [{ info: heat, values }] }))
        pieces.push(piece);
      return concat(pieces);
    }),
  );
}

/** With the checksum that description and blocks have, where the end can be understood. */
function summed(bytes: Uint8Array): Uint8Array {
  const own = bytes.slice();
  const view = new DataView(own.buffer);
  const end = own.length - 32;
  if (end < 0) return own;
  const offset = Number(view.getBigUint64(end, true));
  if (offset <= end) view.setBigUint64(end + 16, xxh3(own.subarray(offset, end)), true);
  return own;
}

async function readFile(bytes: Uint8Array): Promise<void> {
  const store = memoryStore();
  await store.set(file, bytes);
  for await (const _ of packedTree.validate(store, Prefix.root, { file, limits }));
  const dataset = await openParticles(store, file, { limits });
  await dataset.select({ sphere: [1, 1, 1, 5] }).read({ limits });
  await dataset.select({ maxVertices: 5 }).read({ limits });
  await dataset.file.particles();
}

export const packedTreeTargets: readonly Target[] = [
  target("packed-tree", () => ({
    seeds: seeds(
      "n0.tree.bin",
      "n2.tree.bin",
      "u1k.tree.bin",
      "corrupt/base_valid.bin",
      "corrupt/big_endian_native.bin",
    ),
    run: use,
  })),
  target("packed-tree-nodes", () => ({
    seeds: seeds("n2.tree.bin", "u1k.tree.bin", "corrupt/base_valid.bin", "corrupt/big_endian_native.bin"),
    run: (bytes) => use(fitted(bytes)),
  })),
  target("packed-tree-words", () => ({
    seeds: seeds("n2.tree.bin", "u1k.tree.bin", "corrupt/base_valid.bin").map((bytes) => bytes.slice(HEADER_BYTES)),
    run: use,
  })),
  { name: "ptree", cap, load: async () => ({ seeds: await files(), run: readFile }) },
  { name: "ptree-head", cap, load: async () => ({ seeds: await files(), run: (bytes) => readFile(summed(bytes)) }) },
];
