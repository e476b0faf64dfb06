/** Packed trees: bytes whose checksum is made to fit, so that the nodes are looked at, and then asked for slices. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { xxh3 } from "../../src/bytes/hash/xxh3.js";
import { HEADER_BYTES, TreeHeader } from "../../src/format/packed-tree/header.js";
import { encodeTree, parseTree, slicesIn, validateTree } from "../../src/format/packed-tree/index.js";
import { fixtures } from "../fixtures.js";
import type { Decoder, Target } from "./driver.js";

const cap = 1 << 24;
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
];
