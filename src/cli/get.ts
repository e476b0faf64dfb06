/** `octavo get`: a region of an array as .npy, JSON or CSV, in blocks that fit into memory; or one key as it is. */
import { memorySize } from "../bytes/dtype.js";
import { encodeUtf8 } from "../bytes/text.js";
import { InvalidInput } from "../errors.js";
import { writeNpy } from "../format/interchange/npy.js";
import type { ReadRegionOptions } from "../format/zarr/index.js";
import type { NdArray } from "../model/array.js";
import type { ArrayDataset, Dataset } from "../model/dataset.js";
import { elementCount, select } from "../model/region.js";
import { Key } from "../store/key.js";
import type { Sink } from "../store/types.js";
import { createPool } from "../worker/pool.js";
import { flag, nearest, size, text, value } from "./args.js";
import { bytesText, countText } from "./output.js";
import { progressOption } from "./progress.js";
import { openSink } from "./sink.js";
import { blocks, parseSlice, toRegion } from "./slice.js";
import { findPlace, findSource, type Place, remarkForbidden, sourceOptions } from "./source.js";
import { type ArrayText, csvText, jsonText } from "./text.js";
import { type ExitCode, type Session, verb } from "./verb.js";

const EXTENSIONS = ["npy", "json", "csv"] as const;
type Extension = (typeof EXTENSIONS)[number];

const BLOCK = 64 << 20; // bytes of elements in memory at a time
const PIECE = 16 << 20; // bytes of a raw value at a time

export const get = verb({
  about:
    "Without -o the result goes to stdout, as CSV or with --json as JSON. In text, integers beyond 2^53 are strings in " +
    "JSON, dates are ISO 8601, raw bytes are hex.",
  options: {
    ...sourceOptions,
    slice: value(
      "SLICE",
      "an index or start:stop:step per axis, as in Python: 0:10,:,5 (default: all of it)",
      parseSlice,
    ),
    key: text("KEY", "the bytes of this key of the store, whatever they are"),
    output: text("FILE", "where to; the extension decides: .npy, .json or .csv; - is stdout", "o"),
    "max-memory": value("SIZE", "elements in memory at a time (default 64M)", size),
    overwrite: flag("replace FILE"),
    progress: progressOption,
  },
  examples: [
    ["octavo get data.zarr --slice 0,:,: -o plane.npy", "one plane, for numpy"],
    ["octavo get https://host/table.zarr --slice -5: --json", "the last five entries"],
    ["octavo get data.zarr --key zarr.json", "a file of the store as it is"],
  ],
  async run([url], options, session) {
    const target = options.output ?? "-";
    if (options.key !== undefined) {
      if (options.slice !== undefined)
        throw new InvalidInput("--key gives a key's bytes as they are; --slice has no meaning there");
      const place = await findPlace(url!, options, session);
      return getKey(place, options.key, () => openSink(target, options.overwrite, session), session);
    }
    const extension = target === "-" ? (session.output.json ? "json" : "csv") : extensionOf(target);
    const source = await findSource(url!, options, session);
    const array = arrayOf(await source.match.open(), url!);
    const region = toRegion(options.slice ?? [], array.shape.length);
    const { shape } = select(region, array.shape);
    const { requests, bytes } = await array.plan(region);
    session.output.detail(
      `reading takes about ${countText(requests)} ${requests === 1 ? "request" : "requests"} and ${bytesText(bytes)}`,
    );
    const writer = writerOf(extension, shape, array.dtype);
    const size = Math.max(1, memorySize(array.dtype));
    const limit = Math.max(1, Math.floor((options["max-memory"] ?? BLOCK) / size));

    const total = elementCount(shape) * size;
    const tell = (elements: number): void =>
      session.report.update({ done: Math.floor(elements * size), total, unit: "bytes" });
    const pool = createPool();
    const sink = await openSink(target, options.overwrite, session);
    try {
      await sink.write(writer.head());
      let done = 0;
      for (const block of blocks(region, array.shape, array.chunkShape, limit)) {
        const reading: ReadRegionOptions = {
          signal: session.signal,
          pool,
          onProgress: (chunks) => tell(done + (block.count * chunks.done) / chunks.total),
        };
        const part = await array.read(block.region, reading);
        for (const piece of writer.block(part, block.count)) await sink.write(piece);
        done += block.count;
        tell(done);
      }
      await sink.write(writer.tail());
      session.signal.throwIfAborted();
      await sink.commit();
    } finally {
      await sink.abort();
    }
    remarkForbidden(source, session.output);
    return 0;
  },
});

function extensionOf(target: string): Extension {
  const given = /\.([^./]+)$/.exec(target)?.[1]?.toLowerCase() ?? "";
  const found = EXTENSIONS.find((known) => known === given);
  if (found !== undefined) return found;
  throw new InvalidInput(
    `${target} does not end in ${EXTENSIONS.map((known) => `.${known}`).join(", ")}`,
    nearest(given, EXTENSIONS),
  );
}

function arrayOf(dataset: Dataset, url: string): ArrayDataset {
  if (dataset.kind === "array") return dataset;
  throw new InvalidInput(`${url} is a group, and get reads one array`, { hint: `octavo ls ${url} shows its arrays` });
}

/** The beginning, each block and the end, as bytes. */
interface Writer {
  head(): Uint8Array;
  block(array: NdArray, count: number): Iterable<Uint8Array>;
  tail(): Uint8Array;
}

function writerOf(extension: Extension, shape: readonly number[], dtype: NdArray["dtype"]): Writer {
  if (extension === "npy") {
    const head = writeNpy({ shape, dtype, data: new Uint8Array() }); // refuses what .npy cannot hold, before anything is read
    return { head: () => head, block: ({ data }) => [data as Uint8Array], tail: () => new Uint8Array() };
  }
  const text: ArrayText = extension === "json" ? jsonText(shape, dtype) : csvText(shape, dtype);
  const bytes = (part: string): Uint8Array => encodeUtf8(part, "the output");
  return {
    head: () => bytes(text.head()),
    *block(array, count) {
      for (const part of text.block(array, count)) yield bytes(part);
    },
    tail: () => bytes(text.tail()),
  };
}

async function getKey(
  place: Place,
  name: string,
  open: () => Promise<Sink>,
  { output, signal, report }: Session,
): Promise<ExitCode> {
  const { store, at } = place;
  const key = Key.join(at, name);
  const stat = await store.stat(key, { signal });
  if (stat === undefined) {
    output.remark(`octavo: ${store.url} has no key ${key}`);
    return 1;
  }
  const sink = await open();
  try {
    for (let offset = 0; offset < stat.size; offset += PIECE) {
      const length = Math.min(PIECE, stat.size - offset);
      const piece = await store.get(key, { signal, range: { offset, length } });
      if (piece === undefined) throw new InvalidInput(`${store.url}/${key} went away while it was read`);
      await sink.write(piece);
      report.update({ done: offset + length, total: stat.size, unit: "bytes" });
    }
    await sink.commit();
  } finally {
    await sink.abort();
  }
  remarkForbidden(place, output);
  return 0;
}
