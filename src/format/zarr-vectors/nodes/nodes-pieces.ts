/**
 * The stored pieces of a vlen-bytes array: what is encoded by itself, a chunk or, in shards, an inner chunk. A piece is given
 * after its compressors are undone and without a copy where there are none, as a vlen chunk (blobs.ts takes it apart).
 *
 * A piece is named by its number in the grid of pieces, in C order. Of a shard the index is read once and kept; then only the
 * pieces that are wanted, near ones together.
 */
import { CodecChain } from "../../../codec/chain.js";
import type { ShardEntries } from "../../../codec/shard-index.js";
import type { BytesCodec, Room } from "../../../codec/types.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../../errors.js";
import { type Limits, withLimits } from "../../../limits.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { elementCount, strides } from "../../../space/shape.js";
import { runs } from "../../../store/coalesce.js";
import type { FileStore } from "../../../store/file.js";
import type { Key, Prefix } from "../../../store/key.js";
import { heldLong, nextTurn } from "../../../store/turn.js";
import type { Store } from "../../../store/types.js";
import { PlainFiles } from "../../../worker/file-task.js";
import { innermost } from "../../zarr/coder.js";
import { chunkCodec } from "../../zarr/decode.js";
import { chunkKey, parseChunkKey } from "../../zarr/keys.js";
import { inChunk } from "../../zarr/read.js";
import type { ArrayMeta } from "../../zarr/types.js";
import type { CellOptions } from "../types.js";
import { oncePerKey } from "./once.js";

/** Requests under way at once: enough to hide the way to a server, few enough not to be refused by one. */
const REQUESTS = 32;
const GAP = 32 << 10;
const RUN = 16 << 20;

export interface Pieces {
  /** The elements of a piece along each axis, and the pieces of the array along each axis. */
  readonly shape: readonly number[];
  readonly grid: readonly number[];
  /** The vlen chunks of these pieces; undefined where there is none. */
  read(pieces: ArrayLike<number>, options?: CellOptions): Promise<(Uint8Array | undefined)[]>;
  /** What `read` would cost. Sizes are known from the indexes of shards, and of plain chunks where the store lists them. */
  cost(pieces: ArrayLike<number>, options?: ReadOptions): Promise<{ requests: number; bytes: number; exact: boolean }>;
  /** Every piece that is stored, in no particular order; the store must be able to list. */
  stored(options?: ReadOptions): Promise<number[]>;
}

export async function piecesOf(store: Store, at: Prefix, meta: ArrayMeta, where: string): Promise<Pieces> {
  if (meta.dtype.kind !== "vlen-bytes")
    throw new Corrupt(`${where} should have elements of bytes of variable length, found ${meta.dtype.kind}`, { where });
  const { shard } = await chunkCodec(meta, where, { decodeOnly: true });
  if (shard?.inner.shard !== undefined)
    throw new Unsupported(`${where} has shards within shards, which Octavo does not read here`, { where });
  const undo = await compressors(meta, where);
  const decode = (bytes: Uint8Array, limits: Limits, room: Room | undefined): Uint8Array => {
    let stage = bytes;
    for (let i = undo.length - 1; i >= 0; i--)
      stage = undo[i]!.decode(stage, undefined, limits, i === 0 ? room : undefined);
    return stage;
  };

  const shape = shard?.inner.spec.shape ?? meta.chunkShape;
  const grid = meta.shape.map((length, axis) => Math.ceil(length / shape[axis]!));
  const perChunk = meta.chunkShape.map((length, axis) => length / shape[axis]!);
  const gridStrides = strides(grid);
  const inStrides = strides(perChunk);
  if (!Number.isSafeInteger(grid.reduce((product, length) => product * length, 1)))
    throw new LimitExceeded(`${where} has a grid of ${grid.join(" × ")}, whose cells cannot be counted exactly`, {
      where,
    });

  /** The chunk of a piece, and its number in there. */
  const locate = (piece: number): { key: Key; inner: number } => {
    const chunk = new Array<number>(grid.length);
    let inner = 0;
    for (let axis = 0; axis < grid.length; axis++) {
      const place = Math.floor(piece / gridStrides[axis]!) % grid[axis]!;
      chunk[axis] = Math.floor(place / perChunk[axis]!);
      inner += (place % perChunk[axis]!) * inStrides[axis]!;
    }
    return { key: `${at}${chunkKey(meta.keys, chunk)}` as Key, inner }; // numbers below a prefix: always a key
  };

  const indexOf = oncePerKey(async (key, signal): Promise<ShardEntries | undefined> => {
    const { index } = shard!;
    const range = index.location === "end" ? { suffix: index.bytes } : { offset: 0, length: index.bytes };
    const table = await store.get(key as Key, { range, signal });
    return table && inChunk(`${store.url}/${key}`, () => index.parse(table, withLimits(undefined)));
  });
  const sizes = oncePerKey(async (_, signal): Promise<ReadonlyMap<string, number>> => {
    const known = new Map<string, number>();
    for await (const { key, size } of store.list(at, { signal })) if (size !== undefined) known.set(key, size);
    return known;
  });

  /** Wanted pieces by the key of their shard: where each lies, and its place in the answer. */
  const spans = async (pieces: ArrayLike<number>, signal: AbortSignal | undefined) => {
    const byShard = new Map<Key, { inner: number; to: number }[]>();
    for (let to = 0; to < pieces.length; to++) {
      const { key, inner } = locate(pieces[to]!);
      const list = byShard.get(key);
      if (list === undefined) byShard.set(key, [{ inner, to }]);
      else list.push({ inner, to });
    }
    const found: { key: Key; run: { offset: number; length: number; to: number }[] }[] = [];
    await forEachConcurrent(byShard, REQUESTS, async ([key, wanted]) => {
      const entries = await indexOf(key, signal);
      if (entries === undefined) return;
      const there = wanted.flatMap(({ inner, to }) => {
        const entry = entries.find(inner);
        return entry === undefined ? [] : [{ ...entry, to }];
      });
      for (const run of runs(there, GAP, RUN)) found.push({ key, run });
    });
    return { shards: byShard.size, found };
  };

  /** Pieces that are files here, and encoded: their bytes are gone when they are decoded, and need no memory of their own. */
  const fromFiles = async (
    pieces: ArrayLike<number>,
    out: (Uint8Array | undefined)[],
    limits: Limits,
    { room, signal }: CellOptions,
  ): Promise<void> => {
    const { pathOf } = store as Partial<FileStore>;
    if (undo.length === 0 || pathOf === undefined) return;
    const files = new PlainFiles();
    try {
      for (let i = 0; i < pieces.length; i++) {
        if (heldLong()) await nextTurn();
        signal?.throwIfAborted();
        const path = pathOf(locate(pieces[i]!).key);
        const bytes = path === undefined ? undefined : files.read(path, limits);
        if (bytes !== undefined) out[i] = decodedFile(bytes, limits, room);
      }
    } finally {
      files.close();
    }
  };
  const decodedFile = (bytes: Uint8Array, limits: Limits, room: Room | undefined): Uint8Array | undefined => {
    try {
      const decoded = decode(bytes, limits, room);
      return decoded.buffer === bytes.buffer ? decoded.slice() : decoded;
    } catch {
      return undefined; // whoever asks the store says what is wrong, and where
    }
  };

  return {
    shape,
    grid,
    async read(pieces, options = {}) {
      const limits = withLimits(options.limits);
      const { signal, room } = options;
      const out = new Array<Uint8Array | undefined>(pieces.length).fill(undefined);
      if (shard === undefined) {
        await fromFiles(pieces, out, limits, options);
        const others = [...out.keys()].filter((to) => out[to] === undefined);
        await forEachConcurrent(others, REQUESTS, async (to) => {
          signal?.throwIfAborted();
          const { key } = locate(pieces[to]!);
          const bytes = await store.get(key, { signal, most: limits.chunkBytes });
          if (bytes === undefined) return;
          out[to] = undo.length === 0 ? bytes : await inChunk(`${store.url}/${key}`, () => decode(bytes, limits, room));
        });
        return out;
      }
      const { found } = await spans(pieces, signal);
      await forEachConcurrent(found, REQUESTS, async ({ key, run }) => {
        const { offset } = run[0]!;
        const length = run.reduce((end, span) => Math.max(end, span.offset + span.length), 0) - offset;
        const bytes = await store.get(key, { range: { offset, length }, signal });
        if (bytes === undefined) throw new Corrupt(`the shard ${store.url}/${key} went away while it was read`);
        await inChunk(`${store.url}/${key}`, async () => {
          for (const span of run) {
            if (heldLong()) await nextTurn();
            const piece = bytes.subarray(span.offset - offset, span.offset - offset + span.length);
            out[span.to] = decode(piece, limits, room);
          }
        });
      });
      return out;
    },
    async cost(pieces, options = {}) {
      if (shard !== undefined) {
        const { shards, found } = await spans(pieces, options.signal);
        const last = (run: readonly { offset: number; length: number }[]) =>
          Math.max(...run.map((s) => s.offset + s.length));
        const bytes = found.reduce((sum, { run }) => sum + last(run) - run[0]!.offset, shards * shard.index.bytes);
        return { requests: shards + found.length, bytes, exact: true };
      }
      const known = store.can.list ? await sizes("", options.signal) : undefined;
      let bytes = 0;
      for (let i = 0; i < pieces.length; i++) bytes += known?.get(locate(pieces[i]!).key) ?? 0;
      return { requests: pieces.length, bytes, exact: known !== undefined };
    },
    async stored(options = {}) {
      const out: number[] = [];
      const chunks = meta.shape.map((length, axis) => Math.ceil(length / meta.chunkShape[axis]!));
      for await (const { key } of store.list(at, { signal: options.signal, bare: true })) {
        const chunk = parseChunkKey(meta.keys, grid.length, key.slice(at.length));
        if (chunk === undefined || chunk.some((place, axis) => place >= chunks[axis]!)) continue;
        const entries = shard && (await indexOf(key, options.signal));
        eachInner(perChunk, (inner, place) => {
          let piece = 0;
          for (let axis = 0; axis < grid.length; axis++) {
            const own = chunk[axis]! * perChunk[axis]! + place[axis]!;
            if (own >= grid[axis]!) return;
            piece += own * gridStrides[axis]!;
          }
          if (entries === undefined || entries.find(inner) !== undefined) out.push(piece);
        });
      }
      return out;
    },
  };
}

/** What is done to a vlen chunk after it is made, in the order of encoding. */
async function compressors(meta: ArrayMeta, where: string): Promise<readonly BytesCodec[]> {
  const specs = innermost(meta.codecs);
  if (specs[0]?.name !== "vlen-bytes")
    throw new Unsupported(
      `${where} is encoded by ${specs.map(({ name }) => name).join(", ")}; Octavo reads vlen-bytes, compressed or in shards`,
      { where },
    );
  const { codecs } = await CodecChain.load(specs, undefined, { decodeOnly: true });
  return codecs.filter((codec): codec is BytesCodec => codec.kind === "bytes-bytes");
}

function eachInner(counts: readonly number[], call: (inner: number, place: readonly number[]) => void): void {
  const place = counts.map(() => 0);
  for (let inner = 0, count = elementCount(counts); inner < count; inner++) {
    call(inner, place);
    for (let axis = place.length - 1; axis >= 0 && ++place[axis]! === counts[axis]; axis--) place[axis] = 0;
  }
}
