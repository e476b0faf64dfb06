/** Manifests from bytes, in one pass that counts and checks and one that fills; nothing is made for each object. */
import { Corrupt, LimitExceeded } from "../../../errors.js";
import { decodedCap, type Limits } from "../../../limits.js";
import { Blobs } from "./blobs.js";
import { Int64 } from "./int64.js";
import type { Manifests } from "./manifest.js";

/** The modes of the format, and one of ours: a block that goes on with the list before it. */
export const Mode = { single: 0, range: 1, list: 2, more: 3 } as const;

/** One manifest for each blob. */
export function parse(blobs: Blobs, dims: number, limits: Limits, where: string): Manifests {
  return parseBlobs(blobs, dims, limits, where, false);
}

/** 0.6 and 0.7 with `data` and `offsets`; zeros may follow the last manifest. */
export function fromLegacy(
  data: Uint8Array,
  offsets: Uint8Array,
  dims: number,
  limits: Limits,
  where: string,
): Manifests {
  return parseBlobs(Blobs.fromOffsets(data, offsets, where), dims, limits, where, true);
}

/** Up to 0.5: each object is int64 tuples, a chunk's coordinates and the number of a group in it. */
export function fromTuples(
  data: Uint8Array,
  offsets: Uint8Array,
  dims: number,
  limits: Limits,
  where: string,
): Manifests {
  const { count, starts, ends } = Blobs.fromOffsets(data, offsets, where);
  const tuple = 8 * (dims + 1);
  const out = room(count, dims, Math.floor(data.length / tuple), false, limits.chunkBytes, where);
  for (let i = 0; i < count; i++) {
    if (ends[i]! % tuple !== 0)
      throw new Corrupt(
        `object ${i} of ${where} should be tuples of ${tuple} bytes, found bytes ${starts[i]} to ${ends[i]}`,
        { where },
      );
    out.offsets[i + 1] = ends[i]! / tuple;
  }
  fillTuples(out, 0, viewOf(data), 0, out.first.length, where);
  return out;
}

/** 0.9.4: `spans` is int64 (n, 2), start and count, into `blocks`, int64 (m, dims + 1), coordinates and a fragment. */
export function fromDense(
  spans: Uint8Array,
  blocks: Uint8Array,
  dims: number,
  limits: Limits,
  where: string,
): Manifests {
  const pairs = Int64.unsigned(spans, where);
  const tuple = 8 * (dims + 1);
  const stored = blocks.length / tuple;
  const rows = pairs.length / 2;
  if (!Number.isInteger(rows) || !Number.isInteger(stored))
    throw new Corrupt(`${where} should be pairs, and tuples of ${dims + 1}, of int64, found a part of one`, { where });
  let total = 0;
  for (let i = 0; i < rows; i++) {
    if (pairs[2 * i]! + pairs[2 * i + 1]! > stored)
      throw new Corrupt(`object ${i} of ${where} ends beyond the ${stored} blocks that there are`, { where });
    total += pairs[2 * i + 1]!;
  }
  // Spans may overlap, so that a few bytes can name the same blocks again and again.
  const out = room(rows, dims, total, false, decodedCap(spans.length + blocks.length, limits), where);
  const view = viewOf(blocks);
  for (let i = 0, at = 0; i < rows; i++) {
    const size = pairs[2 * i + 1]!;
    fillTuples(out, at, view, pairs[2 * i]! * tuple, size, where);
    at += size;
    out.offsets[i + 1] = at;
  }
  return out;
}

function parseBlobs(blobs: Blobs, dims: number, limits: Limits, where: string, zerosFollow: boolean): Manifests {
  const { count: rows, bytes, starts, ends } = blobs;
  const view = viewOf(bytes);
  const singles = parseSingles(blobs, view, dims, limits, where);
  if (singles !== undefined) return singles;
  const corrupt = (row: number, problem: string) => new Corrupt(`manifest ${row} of ${where} ${problem}`, { where });
  let total = 0;
  let allSingle = true;
  for (let row = 0; row < rows; row++) {
    let at = starts[row]!;
    const end = ends[row]!;
    if (end - at < 4) throw corrupt(row, `should have 4 bytes or more, found ${end - at}`);
    const blocks = view.getUint32(at, true);
    at += 4;
    if (blocks * (8 * dims + 5) > end - at) throw corrupt(row, `claims ${blocks} blocks in ${end - at} bytes`);
    for (let b = 0; b < blocks; b++) {
      at += 8 * dims + 1; // may end beyond the bytes: what is read there must not be believed before that is known
      if (at + 4 > end) throw corrupt(row, `ends within block ${b} of ${blocks}`);
      const mode = bytes[at - 1]!;
      total++;
      if (mode === Mode.single) {
        at += 8;
      } else {
        allSingle = false;
        if (mode === Mode.range) at += 16;
        else if (mode === Mode.list) {
          const size = view.getUint32(at, true);
          at += 4 + 8 * size;
          if (size > 1) total += size - 1;
        } else throw corrupt(row, `should have mode 0, 1 or 2 in block ${b}, found ${mode}`);
      }
      if (at > end) throw corrupt(row, `ends within block ${b} of ${blocks}`);
    }
    if (at !== end && !(zerosFollow && row === rows - 1 && onlyZeros(bytes, at, end)))
      throw corrupt(row, `should end after ${at - starts[row]!} bytes, found ${end - starts[row]!}`);
  }
  const out = room(rows, dims, total, !allSingle, limits.chunkBytes, where);
  fillBlobs(out, view, starts, where);
  return out;
}

/**
 * Nearly every index has single fragments only. Then the length of a manifest says how many, and one pass over the bytes will do:
 * they are larger than the caches, so that each pass is paid for. Undefined where there is anything else.
 */
function parseSingles(
  { count: rows, starts, ends }: Blobs,
  view: DataView,
  dims: number,
  limits: Limits,
  where: string,
): Manifests | undefined {
  const block = 8 * dims + 9;
  let total = 0;
  for (let row = 0; row < rows; row++) {
    const size = ends[row]! - starts[row]! - 4;
    if (size < 0 || size % block !== 0) return undefined;
    total += size / block;
  }
  const out = room(rows, dims, total, false, limits.chunkBytes, where);
  const { offsets, chunks, first } = out;
  let to = 0;
  for (let row = 0; row < rows; row++) {
    let at = starts[row]! + 4;
    const end = ends[row]!;
    if (view.getUint32(at - 4, true) !== (end - at) / block) return undefined;
    for (; at < end; to++) {
      if (view.getUint8(at + 8 * dims) !== Mode.single) return undefined;
      for (let d = 0; d < dims; d++, at += 8) chunks[to * dims + d] = coordinate(view, at, where);
      first[to] = fragment(view, ++at, where);
      at += 8;
    }
    offsets[row + 1] = to;
  }
  return out;
}

/** The second pass: lengths and modes are known to be right. */
function fillBlobs(out: Manifests, view: DataView, starts: Uint32Array, where: string): void {
  const { rows, dims, offsets, chunks, first, count, modes } = out;
  let to = 0;
  for (let row = 0; row < rows; row++) {
    let at = starts[row]!;
    const blocks = view.getUint32(at, true);
    at += 4;
    for (let b = 0; b < blocks; b++) {
      const coords = to * dims;
      for (let d = 0; d < dims; d++, at += 8) chunks[coords + d] = coordinate(view, at, where);
      const mode = modes === undefined ? Mode.single : view.getUint8(at);
      at++;
      if (mode === Mode.list) {
        const size = view.getUint32(at, true);
        at += 4;
        modes![to] = Mode.list;
        for (let i = 0; i < size; i++, at += 8) {
          first[to + i] = fragment(view, at, where);
          if (i === 0) continue;
          chunks.copyWithin(coords + i * dims, coords, coords + dims);
          modes![to + i] = Mode.more;
        }
        if (size === 0) count[to] = 0;
        to += Math.max(1, size);
      } else {
        first[to] = fragment(view, at, where);
        at += 8;
        if (mode === Mode.range) {
          modes![to] = Mode.range;
          count[to] = fragment(view, at, where);
          at += 8;
        }
        to++;
      }
    }
    offsets[row + 1] = to;
  }
}

/** Tuples of coordinates and one fragment as blocks from `to` on. */
function fillTuples(out: Manifests, to: number, view: DataView, from: number, size: number, where: string): void {
  const { dims, chunks, first } = out;
  let at = from;
  for (let i = 0; i < size; i++, at += 8) {
    for (let d = 0; d < dims; d++, at += 8) chunks[(to + i) * dims + d] = coordinate(view, at, where);
    first[to + i] = fragment(view, at, where);
  }
}

/** The high half must be nothing but the sign of the low one. */
function coordinate(view: DataView, at: number, where: string): number {
  const low = view.getInt32(at, true);
  if (view.getInt32(at + 4, true) !== low >> 31)
    throw new LimitExceeded(
      `${where} has the chunk coordinate ${view.getBigInt64(at, true)} at byte ${at}, at most ±2^31 are read`,
      { where },
    );
  return low;
}

/** Fragments are counted by a u32 in their chunk: what is larger, or negative, can be none. */
function fragment(view: DataView, at: number, where: string): number {
  if (view.getInt32(at + 4, true) !== 0)
    throw new Corrupt(`${where} has ${view.getBigInt64(at, true)} at byte ${at}, which can be no fragment`, { where });
  return view.getUint32(at, true);
}

/** Empty manifests, each block one fragment until told otherwise. */
function room(rows: number, dims: number, blocks: number, modes: boolean, most: number, where: string): Manifests {
  const bytes = blocks * (4 * dims + 9);
  if (bytes > most)
    throw new LimitExceeded(`${where} has ${blocks} blocks, which take ${bytes} bytes; at most ${most} are allowed`, {
      where,
      reason: "chunk-bytes",
      hint: "Raise limits.chunkBytes and limits.ratio.",
    });
  return {
    rows,
    dims,
    offsets: new Uint32Array(rows + 1),
    chunks: new Int32Array(blocks * dims),
    first: new Uint32Array(blocks),
    count: new Uint32Array(blocks).fill(1),
    modes: modes ? new Uint8Array(blocks) : undefined,
  };
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function onlyZeros(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== 0) return false;
  return true;
}
