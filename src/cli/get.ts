/** `octavo get`: a region of an array as .npy, JSON or CSV, in blocks that fit into memory; the answer to a query; or one key as it is. */
import { memorySize } from "../bytes/dtype.js";
import { encodeUtf8 } from "../bytes/text.js";
import { fileKind } from "../convert/files.js";
import { isParticleFile } from "../convert/options.js";
import { InvalidInput } from "../errors.js";
import { targets } from "../format/interchange/kinds.js";
import { writeNpy } from "../format/interchange/npy.js";
import type { ReadRegionOptions } from "../format/zarr/index.js";
import type { NdArray } from "../model/array.js";
import { blocks } from "../model/blocks.js";
import type { ArrayDataset, GroupDataset } from "../model/dataset.js";
import { elementCount, select } from "../model/region.js";
import { Key } from "../store/key.js";
import type { Sink } from "../store/types.js";
import { createPool } from "../worker/pool.js";
import { choice, flag, nearest, size, text, type Values, value } from "./args.js";
import { levelOf } from "./array-level.js";
import { getVectors, refuse, vectorOptions } from "./get-vectors.js";
import { bytesText, countText } from "./output.js";
import { progressOption } from "./progress.js";
import { openSink } from "./sink.js";
import { sliceOption, toRegion } from "./slice.js";
import { findPlace, findSource, type Place, remarkForbidden, skipOption, sourceOptions } from "./source.js";
import { tableOf, tableOptions } from "./table-options.js";
import { type ArrayText, csvText, jsonText } from "./text.js";
import { type ExitCode, type Session, verb } from "./verb.js";

/** What arrays are written as. */
const ARRAYS = ["json", "csv", "npy"] as const;
type Extension = (typeof ARRAYS)[number];
/** Geometry is written as by `convert`, but for these. */
const OWN = ["json", "ndjson"];
/** And these are what `convert` makes of more than one file, or in more than one pass. */
const STORES = ["zarr-vectors", "precomputed", "ptree"];
const KINDS = [...OWN, ...STORES, ...targets.map(({ id }) => id)];
/** What files are called that are written. */
const EXTENSIONS = [
  ...OWN,
  "zv",
  "zarr",
  "ptree",
  ...targets.flatMap(({ readOnly, extensions }) => (readOnly === true ? [] : extensions)),
];

const BLOCK = 64 << 20; // bytes of elements in memory at a time
const PIECE = 16 << 20; // bytes of a raw value at a time

const arrayOptions = {
  ...sliceOption,
  "max-memory": value("SIZE", "of an array: elements in memory at a time (default 64M)", size),
};

const options = {
  ...sourceOptions,
  ...arrayOptions,
  ...tableOptions,
  ...skipOption,
  ...vectorOptions,
  key: text("KEY", "the bytes of this key of the store, whatever they are"),
  output: text("FILE", "where to; the extension decides, also of .gz; - is stdout", "o"),
  to: { ...choice(KINDS, "as what, where FILE does not say: json, npy, trk, swc, ply …"), value: "KIND" },
  ascii: flag("of files that can be either: text, not binary"),
  strict: flag("of files of other software: nothing may be lost"),
  overwrite: flag("replace FILE"),
  progress: progressOption,
};

export const get = verb({
  about:
    "Without -o the result goes to stdout: arrays as CSV, geometry as JSON. In text, integers beyond 2^53 are strings in " +
    "JSON, dates are ISO 8601, raw bytes are hex, floats have the fewest digits that give them again. NDJSON is a line per object " +
    "or point. All other files of geometry are those that convert writes of the same level: CSV has a row per vertex, of lines per " +
    "line, .npy only positions; what they cannot hold is told. So are .zv (a store of that level), .ptree, and --to precomputed.",
  options,
  examples: [
    ["octavo get data.zarr --slice 0,:,: -o plane.npy", "one plane of an array, for numpy"],
    ["octavo get tracts.zv --box 0,0,0,50,50,50 --clip -o part.trk", "what lies in a box"],
    ["octavo get cells.zv --where 'volume > 10' --limit 5 --attributes volume", "five objects, as JSON"],
  ],
  async run([url], given, session) {
    const file = given.output ?? "-";
    if (given.key !== undefined) {
      refuse(
        given,
        [
          ...Object.keys(arrayOptions),
          ...Object.keys(vectorOptions),
          ...Object.keys(tableOptions),
          ...Object.keys(skipOption),
          "to",
          "ascii",
          "strict",
        ],
        `--key ${given.key}`,
        "bytes as they are",
      );
      const place = await findPlace(url!, given, session);
      return getKey(place, given.key, () => openSink(file, given.overwrite, session), session);
    }
    if ((given.resolution?.length ?? 1) > 1 && given.units === undefined)
      throw new InvalidInput("--resolution has one size of bins, or those of voxels of a table: add --units voxel");
    const named = given.to ?? (file === "-" ? undefined : kindOf(file));
    const source = await findSource(url!, given, session, { table: tableOf(given) });
    const dataset = await source.match.open();
    let code: ExitCode = 0;
    if (dataset.kind === "vectors") {
      refuse(given, Object.keys(arrayOptions), url!, "geometry");
      const { overwrite, ascii, strict } = given;
      const kind = fileKind(file, named ?? "json");
      const store = STORES.find((own) => own === named);
      const target = { file, extension: named ?? "json", kind, store, overwrite, ascii, strict };
      code = await getVectors(dataset, given, target, session);
    } else {
      const foreign = Object.keys(vectorOptions).filter((name) => name !== "level");
      refuse(given, foreign, url!, `${dataset.kind === "array" ? "an array" : "a group"}`);
      const wanted = named ?? (session.output.json ? "json" : "csv");
      const extension = ARRAYS.find((own) => own === wanted);
      if (extension === undefined)
        throw new InvalidInput(`${url} is no geometry, and only that goes to ${wanted}`, {
          hint: STORES.includes(wanted)
            ? `all of it becomes a store: octavo convert ${url} ${file}`
            : "arrays go to .npy, .json and .csv",
        });
      await getArray(levelOf(arrayOf(dataset, url!), given.level), { file, extension }, given, session);
    }
    remarkForbidden(source, session.output);
    return code;
  },
});

async function getArray(
  array: ArrayDataset,
  { file, extension }: { readonly file: string; readonly extension: Extension },
  given: Values<typeof options>,
  session: Session,
): Promise<void> {
  const region = toRegion(given.slice ?? [], array.shape.length);
  const { shape } = select(region, array.shape);
  const { requests, bytes } = await array.plan(region);
  session.output.detail(
    `reading takes about ${countText(requests)} ${requests === 1 ? "request" : "requests"} and ${bytesText(bytes)}`,
  );
  const writer = writerOf(extension, shape, array.dtype);
  const size = Math.max(1, memorySize(array.dtype));
  const limit = Math.max(1, Math.floor((given["max-memory"] ?? BLOCK) / size));

  const total = elementCount(shape) * size;
  const tell = (elements: number): void =>
    session.report.update({ done: Math.floor(elements * size), total, unit: "bytes" });
  const pool = createPool();
  const sink = await openSink(file, given.overwrite, session);
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
}

function kindOf(file: string): string {
  const given = /\.([^./]+)$/.exec(file)?.[1]?.toLowerCase() ?? "";
  const store = isParticleFile(file, undefined) ? "ptree" : /^(zv|zarr)$/.test(given) ? "zarr-vectors" : undefined;
  const found = OWN.includes(given) ? given : (store ?? fileKind(file)?.id);
  if (found !== undefined) return found;
  throw new InvalidInput(
    `${file} does not end in ${EXTENSIONS.map((known) => `.${known}`).join(", ")}`,
    nearest(given, EXTENSIONS),
  );
}

function arrayOf(dataset: ArrayDataset | GroupDataset, url: string): ArrayDataset {
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
