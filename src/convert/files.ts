/** Geometry becomes a file of other software: which kind, where to, and how its writer is called. */
import { Conflict, Unsupported } from "../errors.js";
import { refusePacked, type Target, targetNamed, targets } from "../format/interchange/kinds.js";
import { lostUnits } from "../format/interchange/lost-units.js";
import type { WriteFileOptions } from "../format/interchange/types.js";
import type { Batch, SelectOptions } from "../model/vectors.js";
import { Key } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { type Location, type LocationOptions, splitPath } from "../store/open.js";
import { type ScratchFile, scratchIn, scratchOn } from "../store/scratch.js";
import type { Sink, Store } from "../store/types.js";
import type { ConvertReport } from "./arrays.js";
import { emptyIn } from "./empty.js";
import { type Feed, type FeedOptions, MEMORY, notesOf } from "./feed.js";
import { refuseLosses, type Strictness } from "./losses.js";

export interface ConvertFileOptions extends FeedOptions, Strictness, Pick<WriteFileOptions, "ascii" | "reference"> {
  /** The file is packed with gzip; where nothing is said, as its name says. */
  readonly gzip?: boolean | undefined;
  /** Makes the file in which a writer puts aside what does not fit into memory; without, that stays in memory. */
  readonly scratch?: (() => ScratchFile) | undefined;
}

/** The kind of file that a target is: as `to` says, else its name; undefined where it is no file. */
export function fileKind(target: string, to?: string | undefined): Target | undefined {
  const kind = to === undefined ? targetNamed(target) : targets.find(({ id }) => id === to);
  if (kind !== undefined) refusePacked(kind, target);
  return kind;
}

/** Writes the file, which is there when it is whole; nothing is where something may not be lost. */
export async function convertToFile(
  feed: Feed,
  kind: Target,
  sink: Sink,
  options: ConvertFileOptions = {},
): Promise<ConvertReport> {
  const { signal, limits, ascii, reference, maxMemory = MEMORY } = options;
  const memory = maxMemory / 4;
  const scratch =
    options.scratch === undefined
      ? scratchIn({ store: memoryStore() }, memory, signal)
      : scratchOn(options.scratch, memory);
  const packed = options.gzip === true ? gzipSink(sink) : sink;
  try {
    const { file } = await kind.load();
    if (kind.readOnly === true || file.write === undefined)
      throw new Unsupported(`files of ${kind.name} are read, but not written`);
    refuseLosses(options, feed.losses);
    let empty = 0; // objects that the file has no place for
    async function* batches(wanted?: SelectOptions): AsyncGenerator<Batch> {
      empty = 0;
      for await (const batch of feed.batches(wanted)) {
        if (file.holdsEmpty !== true && batch.repeats !== true) empty += emptyIn(batch);
        yield batch;
      }
    }
    const report = await file.write(packed, { ...feed, batches }, { signal, limits, scratch, ascii, reference });
    const { vertices } = report;
    const groups = file.holdsGroups === true ? 0 : (await feed.groups()).members.length;
    const told = [
      ...report.losses,
      ...(file.units === true ? [] : lostUnits(feed.axes, file.units)),
      ...(empty === 0 ? [] : [`${empty} objects without vertices`]),
      ...(groups === 0 ? [] : [`its groups, ${groups} of them`]),
    ];
    const losses = [...feed.losses, ...told.map((loss) => `${feed.url}: ${loss}`)];
    const objects = report.objects - empty;
    refuseLosses(options, losses);
    signal?.throwIfAborted();
    await packed.commit();
    return { chunksCopied: 0, chunksRecoded: 0, vertices, objects, losses, ...notesOf(feed) };
  } finally {
    await packed.abort();
    await scratch.clear();
  }
}

/** A file that appears when it is whole. Nothing that exists is replaced unless `overwrite` says so. */
export async function sinkAt(
  openLocation: (url: string, options?: LocationOptions) => Promise<Location>,
  target: string,
  { overwrite, ...options }: LocationOptions & { readonly overwrite?: boolean | undefined },
): Promise<Sink> {
  const { store, key } = await placeOf(openLocation, target, options);
  const { signal } = options;
  if (overwrite !== true && (await store.stat(key, { signal })) !== undefined)
    throw new Conflict(`${target} is already there`, { where: target, hint: "Add --overwrite to replace it." });
  return store.write(key, { signal, ...(overwrite || !store.can.conditional ? {} : { if: { absent: true } }) });
}

/** Where the file at an address is: its folder is opened, and the last part is the key in it. */
export async function placeOf(
  openLocation: (url: string, options?: LocationOptions) => Promise<Location>,
  target: string,
  options: LocationOptions,
): Promise<{ readonly store: Store; readonly key: Key }> {
  // The options behind "?" belong to the store.
  const [address = "", query = ""] = /^[a-z][a-z0-9+.-]+:/i.test(target) ? target.split(/(?=\?)/) : [target];
  const [folder, name] = splitPath(address);
  const place = `${folder || (address.startsWith("/") ? "/" : ".")}${query}`;
  const { store, at } = await openLocation(place, options);
  return { store, key: Key.join(at, name) };
}

/** What is written comes out packed. */
function gzipSink(sink: Sink): Sink {
  const { readable, writable } = new CompressionStream("gzip");
  const writer = writable.getWriter();
  let failure: unknown;
  const pump = (async () => {
    const reader = readable.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) await sink.write(next.value);
  })().catch((error: unknown) => {
    failure = error;
    return writer.abort(error).catch(() => undefined);
  });
  const ended = async (work: Promise<unknown>): Promise<void> => {
    await work.catch((error: unknown) => {
      failure ??= error;
    });
    if (failure !== undefined) throw failure;
  };
  return {
    write: (bytes) => ended(writer.write(bytes.slice())),
    async commit() {
      await ended(writer.close());
      await ended(pump);
      await sink.commit();
    },
    async abort() {
      await writer.abort().catch(() => undefined);
      await pump;
      await sink.abort();
    },
  };
}
