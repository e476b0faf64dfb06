/** From a tree to the bytes that the reference would have written; little-endian, with a header. */
import { xxh3 } from "../../bytes/hash/xxh3.js";
import { HEADER_BYTES, TreeHeader } from "./header.js";
import { encodeNodes } from "./nodes.js";
import type { PackedTree } from "./types.js";

/** A tree as bytes, with header and checksum. */
export function encodeTree(tree: PackedTree): Uint8Array<ArrayBuffer> {
  const words = encodeNodes(tree.nodes);
  const stored = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const bytes = new Uint8Array(HEADER_BYTES + stored.length);
  bytes.set(TreeHeader.encode(tree, xxh3(stored)));
  bytes.set(stored, HEADER_BYTES);
  return bytes;
}
