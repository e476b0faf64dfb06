/**
 * The links of one chunk: rows of int64, `perm_idx` first where the array has it, then the endpoints as entries of their chunks'
 * fragments (the rows of the buffers, where those tile).
 *
 * | form   | bytes                                                                                                       |
 * |--------|-------------------------------------------------------------------------------------------------------------|
 * | flat   | the rows; groups of links are in `link_fragments`. All endpoints in the chunk, within a level                |
 * | ragged | i64 K groups, i64[K] the byte at which each starts among the rows, the rows. Every other array from 0.9       |
 */
import { Corrupt } from "../../../errors.js";
import { Int64, outside, words } from "./int64.js";
import { Permutation } from "./permutation.js";

export interface LinkCell {
  readonly count: number;
  /** Endpoints of each link. */
  readonly width: number;
  /** Link i is ends[i × width] and what follows, as stored; `Permutation.restore` gives the order in which they were given. */
  readonly ends: Uint32Array;
  /** `perm_idx` of each link. */
  readonly perms: Uint32Array | undefined;
  /** Group g is the links groups[g] up to groups[g + 1]; flat cells are one group. */
  readonly groups: Uint32Array;
}

export interface LinkForm {
  readonly width: number;
  readonly ragged: boolean;
  readonly perm: boolean;
}

export const LinkCell = {
  parse(bytes: Uint8Array, { width, ragged, perm }: LinkForm, where: string): LinkCell {
    const rowBytes = 8 * (width + (perm ? 1 : 0));
    if (!ragged) return { ...rowsOf(bytes, width, perm, where), groups: Uint32Array.of(0, bytes.length / rowBytes) };
    const from = words(bytes);
    const groups = bytes.length < 8 || from[1] !== 0 ? -1 : from[0]!;
    if (groups < 0 || 8 + 8 * groups > bytes.length)
      throw new Corrupt(
        `the links ${where} should begin with their number of groups, found no such in ${bytes.length} bytes`,
        {
          where,
        },
      );
    const data = bytes.subarray(8 + 8 * groups);
    const starts = Int64.unsigned(bytes.subarray(8, 8 + 8 * groups), `the groups of the links ${where}`);
    const cell = rowsOf(data, width, perm, where);
    const offsets = new Uint32Array(groups + 1);
    for (let g = 0; g <= groups; g++) {
      const at = g < groups ? starts[g]! : data.length;
      if (at % rowBytes !== 0 || at > data.length || (g === 0 ? at !== 0 : at < starts[g - 1]!))
        throw new Corrupt(
          `the links ${where} should have groups of whole rows of ${rowBytes} bytes in ascending order from 0, found ${at} of ${data.length} bytes`,
          { where },
        );
      offsets[g] = at / rowBytes;
    }
    return { ...cell, groups: offsets };
  },

  encode({ count, width, ends, perms, groups }: LinkCell, ragged: boolean): Uint8Array<ArrayBuffer> {
    const columns = width + (perms === undefined ? 0 : 1);
    const head = ragged ? groups.length : 0; // K and K offsets: as many as `groups` has
    const out = new Uint32Array(2 * (head + count * columns)); // the high halves stay 0
    if (ragged) {
      out[0] = head - 1;
      for (let g = 0; g < head - 1; g++) out[2 + 2 * g] = groups[g]! * columns * 8;
    }
    let at = 2 * head;
    for (let i = 0; i < count; i++) {
      if (perms !== undefined) {
        out[at] = perms[i]!;
        at += 2;
      }
      for (let k = 0; k < width; k++, at += 2) out[at] = ends[i * width + k]!;
    }
    return new Uint8Array(out.buffer);
  },
};

function rowsOf(bytes: Uint8Array, width: number, perm: boolean, where: string): Omit<LinkCell, "groups"> {
  const columns = width + (perm ? 1 : 0);
  if (bytes.length % (8 * columns) !== 0)
    throw new Corrupt(`the links ${where} should be rows of ${columns} int64, found ${bytes.length} bytes`, { where });
  const count = bytes.length / (8 * columns);
  const from = words(bytes);
  const ends = new Uint32Array(count * width);
  const perms = perm ? new Uint32Array(count) : undefined;
  const orders = perm ? Permutation.count(width) : 0;
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (perms !== undefined) {
      if (from[2 * at + 1] !== 0 || from[2 * at]! >= orders) throw outside(from, at, `the order of links in ${where}`);
      perms[i] = from[2 * at++]!;
    }
    for (let k = 0; k < width; k++, at++) {
      if (from[2 * at + 1] !== 0) throw outside(from, at, `the links ${where}`);
      ends[i * width + k] = from[2 * at]!;
    }
  }
  return { count, width, ends, perms };
}
