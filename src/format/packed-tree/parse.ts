/**
 * From bytes to a tree. What begins with 144, in either byte order, has a header; anything else is taken for bare words, whose
 * box the caller must know, and whose byte order follows from the first word: the root's skip, which counts them all.
 */
import type { Endian } from "../../bytes/dtype.js";
import { xxh3 } from "../../bytes/hash/xxh3.js";
import { swapBytes } from "../../bytes/swap.js";
import { Corrupt, InvalidInput } from "../../errors.js";
import { TreeBox } from "./box.js";
import { HEADER_BYTES, TreeHeader } from "./header.js";
import { FIELDS, type NodeRule, parseNodes, STOP } from "./nodes.js";
import type { PackedTree } from "./types.js";

/** What bytes cannot tell. */
export interface ParseTreeOptions {
  /** The box of words without a header. */
  readonly box?: TreeBox | undefined;
  /** The threshold of words without a header; 400, the reference's default, unless told. */
  readonly threshold?: number | undefined;
  /** What the bytes are called in errors. */
  readonly where?: string | undefined;
}

export const DEFAULT_THRESHOLD = 400;

/** One thing that is wrong with the bytes of a tree. */
export interface TreeFault {
  readonly rule: "checksum" | NodeRule;
  /** The byte that the sentence is about. */
  readonly byte: number;
  readonly message: string;
}

/** The tree in these bytes; Corrupt at the first thing that is wrong with it, Unsupported where its version is not known. */
export function parseTree(bytes: Uint8Array, options: ParseTreeOptions = {}): PackedTree {
  const { where = "the packed tree" } = options;
  return inspectTree(bytes, options, ({ message }) => {
    throw new Corrupt(message, { where });
  });
}

/** The same, but each fault of checksum and nodes is told, and the tree is whole where there was none. */
export function inspectTree(
  bytes: Uint8Array,
  { box, threshold = DEFAULT_THRESHOLD, where = "the packed tree" }: ParseTreeOptions,
  fault: (fault: TreeFault) => void,
): PackedTree {
  const endian = TreeHeader.endianOf(bytes);
  const start = endian === undefined ? 0 : HEADER_BYTES;
  const parsed = endian && TreeHeader.parse(bytes.subarray(0, HEADER_BYTES), endian, where);
  const stored = bytes.subarray(start);
  if (stored.length === 0 || stored.length % (4 * FIELDS) !== 0)
    throw new Corrupt(
      `${where} should have nodes of ${4 * FIELDS} bytes behind byte ${start}, found ${stored.length} bytes`,
      {
        where,
      },
    );
  if (parsed === undefined && box === undefined)
    throw new InvalidInput(
      `${where} does not begin with a header of ${HEADER_BYTES} bytes; without one, its box must be given`,
    );
  const order = endian ?? orderOf(stored, where);
  if (parsed !== undefined && xxh3(stored) !== parsed.checksum)
    fault({
      rule: "checksum",
      byte: 84,
      message: `${where} has the checksum ${parsed.checksum}, and its nodes have ${xxh3(stored)}`,
    });
  const nodes = parseNodes(wordsOf(stored, order), order, (rule, word, message) =>
    fault({ rule, byte: start + 4 * word, message: `the node at byte ${start + 4 * word} of ${where} ${message}` }),
  );
  const header = parsed?.header ?? { version: [1, 0, 0], created: 0, box: TreeBox.check(box!), threshold };
  return { ...header, nodes, count: nodes.rows[STOP] ?? 0 };
}

/** The byte order of bare words. */
function orderOf(bytes: Uint8Array, where: string): Endian {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 4);
  const words = bytes.length / 4;
  if (view.getUint32(0, true) === words) return "little";
  if (view.getUint32(0, false) === words) return "big";
  throw new Corrupt(
    `${where} has neither a header nor a root of ${words} words; its first word is ${view.getUint32(0, true)}`,
    {
      where,
    },
  );
}

/** The words, without a copy where byte order and alignment allow it. */
function wordsOf(bytes: Uint8Array, endian: Endian): Uint32Array {
  const own = endian === "big" ? swapBytes(bytes, 4) : bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(own.buffer, own.byteOffset, own.length / 4);
}
