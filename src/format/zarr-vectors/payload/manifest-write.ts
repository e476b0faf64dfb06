/** Manifests to bytes, and how blocks become single fragments, ranges and lists. */
import { InvalidInput, LimitExceeded } from "../../../errors.js";
import { type Fragment, runOf } from "./fragment-index.js";
import type { Manifests } from "./manifest.js";
import { Mode } from "./manifest-parse.js";

/** A block as it is thought of: one fragment, a run of them, or any. */
export interface Block {
  readonly chunk: ArrayLike<number>;
  readonly fragments: number | Fragment;
}

export interface PromoteOptions {
  /** Lists stay lists, even where they are runs. */
  readonly forceExplicit?: boolean | undefined;
}

/** By the rule of the reference: a number is single, a run a range, a list a range where it is a run and not empty. */
export function of(
  objects: readonly (readonly Block[])[],
  dims: number,
  { forceExplicit = false }: PromoteOptions = {},
): Manifests {
  const [chunks, first, count, modes]: [number[], number[], number[], number[]] = [[], [], [], []];
  const offsets = new Uint32Array(objects.length + 1);
  const add = (chunk: ArrayLike<number>, start: number, size: number, mode: number): void => {
    for (let d = 0; d < dims; d++) chunks.push(chunk[d]!);
    first.push(start);
    count.push(size);
    modes.push(mode);
  };
  for (let i = 0; i < objects.length; i++) {
    for (const { chunk, fragments } of objects[i]!) {
      const coords = Array.from(chunk);
      if (coords.length !== dims || coords.some((c) => c !== (c | 0)))
        throw new InvalidInput(`a chunk should have ${dims} whole coordinates below 2^31, found [${coords}]`);
      const run = runOf(typeof fragments === "number" ? [fragments] : fragments, forceExplicit);
      if (typeof fragments === "number") add(chunk, fragments, 1, Mode.single);
      else if (run !== undefined) add(chunk, run.start, run.count, Mode.range);
      else {
        const list = fragments as ArrayLike<number>;
        if (list.length === 0) add(chunk, 0, 0, Mode.list);
        for (let e = 0; e < list.length; e++) add(chunk, list[e]!, 1, e === 0 ? Mode.list : Mode.more);
      }
    }
    offsets[i + 1] = first.length;
  }
  return {
    rows: objects.length,
    dims,
    offsets,
    chunks: Int32Array.from(chunks),
    first: Uint32Array.from(first),
    count: Uint32Array.from(count),
    modes: Uint8Array.from(modes),
  };
}

/**
 * The same fragments in as few blocks as can be: what an object has in one chunk in a row becomes one block, a single fragment, a
 * range, or a list. With `forceExplicit` all of them are lists.
 */
export function promote(manifests: Manifests, { forceExplicit = false }: PromoteOptions = {}): Manifests {
  const { rows, dims, chunks, first, count } = manifests;
  let most = 0;
  for (let b = 0; b < count.length; b++) most += count[b]!;
  if (most > 2 ** 27)
    throw new LimitExceeded(`manifests name ${most} fragments, at most 2^27 can be put together at once`);
  const out = {
    chunks: new Int32Array(most * dims),
    first: new Uint32Array(most),
    count: new Uint32Array(most),
    modes: new Uint8Array(most),
  };
  const offsets = new Uint32Array(rows + 1);
  let to = 0;
  const add = (block: number, start: number, size: number, mode: number): void => {
    for (let d = 0; d < dims; d++) out.chunks[to * dims + d] = chunks[block * dims + d]!;
    out.first[to] = start;
    out.count[to] = size;
    out.modes[to++] = mode;
  };
  for (let row = 0; row < rows; row++) {
    const end = manifests.offsets[row + 1]!;
    for (let from = manifests.offsets[row]!, next = from; from < end; from = next) {
      next = from + 1;
      if (count[from] === 0) continue;
      let run = !forceExplicit;
      let size = count[from]!;
      for (; next < end && (count[next] === 0 || sameChunk(chunks, dims, from, next)); next++) {
        if (count[next]! > 0 && first[next] !== first[from]! + size) run = false;
        size += count[next]!;
      }
      if (run) {
        add(from, first[from]!, size, size === 1 ? Mode.single : Mode.range);
        continue;
      }
      const list = to;
      for (let b = from; b < next; b++)
        for (let i = 0; i < count[b]!; i++) add(b, first[b]! + i, 1, to === list ? Mode.list : Mode.more);
    }
    offsets[row + 1] = to;
  }
  return {
    rows,
    dims,
    offsets,
    chunks: out.chunks.slice(0, to * dims),
    first: out.first.slice(0, to),
    count: out.count.slice(0, to),
    modes: out.modes.subarray(0, to).some((mode) => mode !== Mode.single) ? out.modes.slice(0, to) : undefined,
  };
}

/** The manifest of one object. */
export function encodeRow(manifests: Manifests, row: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(sizeOf(manifests, row));
  putRow(manifests, row, new DataView(out.buffer), 0);
  return out;
}

/** The objects from, up to as a vlen chunk of `size` elements (see blobs.ts), the last ones empty. */
export function encodeChunk(manifests: Manifests, from: number, to: number, size = to - from): Uint8Array<ArrayBuffer> {
  if (to - from > size) throw new InvalidInput(`${to - from} manifests do not fit a vlen chunk of ${size}`);
  let total = 4 + 4 * size;
  for (let row = from; row < to; row++) total += sizeOf(manifests, row);
  const out = new Uint8Array(total);
  const view = new DataView(out.buffer);
  view.setUint32(0, size, true);
  for (let row = from, at = 4; row < to; row++) {
    const end = putRow(manifests, row, view, at + 4);
    view.setUint32(at, end - at - 4, true);
    at = end;
  }
  return out;
}

function sizeOf({ dims, offsets, count, modes }: Manifests, row: number): number {
  const from = offsets[row]!;
  const end = offsets[row + 1]!;
  if (modes === undefined) return 4 + (end - from) * (8 * dims + 9);
  let size = 4;
  for (let b = from; b < end; b++) {
    if (modes[b] === Mode.more) size += 8;
    else if (modes[b] === Mode.list) size += 8 * dims + 5 + 8 * count[b]!;
    else size += 8 * dims + (modes[b] === Mode.range ? 17 : 9);
  }
  return size;
}

/** Answers where it ends. */
function putRow({ dims, offsets, chunks, first, count, modes }: Manifests, row: number, view: DataView, from: number) {
  const end = offsets[row + 1]!;
  let at = from + 4;
  let blocks = 0;
  let list = 0; // where the number of elements of the list under way is
  for (let b = offsets[row]!; b < end; b++) {
    const mode = modes === undefined ? Mode.single : modes[b]!;
    if (mode !== Mode.more) {
      blocks++;
      for (let d = 0; d < dims; d++, at += 8) {
        const coordinate = chunks[b * dims + d]!;
        view.setInt32(at, coordinate, true);
        view.setInt32(at + 4, coordinate >> 31, true);
      }
      view.setUint8(at++, mode);
      if (mode === Mode.list) {
        list = at;
        at += 4;
        if (count[b] === 0) continue;
      }
    }
    // The high halves are zeros already.
    view.setUint32(at, first[b]!, true);
    at += 8;
    if (mode === Mode.range) {
      view.setUint32(at, count[b]!, true);
      at += 8;
    } else if (mode !== Mode.single) view.setUint32(list, (at - list - 4) / 8, true);
  }
  view.setUint32(from, blocks, true);
  return at;
}

function sameChunk(chunks: Int32Array, dims: number, a: number, b: number): boolean {
  for (let d = 0; d < dims; d++) if (chunks[a * dims + d] !== chunks[b * dims + d]) return false;
  return true;
}
