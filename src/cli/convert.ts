/** `octavo convert`: an array or a tree of them to another format, other chunks, another store; with a report of losses. */
import { isJsonObject, type Json, parseJson } from "../bytes/json.js";
import { encodeUtf8 } from "../bytes/text.js";
import type { CodecSpec } from "../codec/types.js";
import { type ConvertOptions, type ConvertReport, copies } from "../convert/arrays.js";
import { targetOf } from "../convert/target.js";
import { convertTree } from "../convert/tree.js";
import { Conflict, InvalidInput } from "../errors.js";
import type { Compressor, WritableVersion, ZarrArray, ZarrNode } from "../format/zarr/index.js";
import { defaultLimits } from "../limits.js";
import { openLocation } from "../node.js";
import { detect } from "../open.js";
import type { Location } from "../store/open.js";
import { createPool } from "../worker/pool.js";
import { choice, flag, nearest, shape, size, type Values, value } from "./args.js";
import { codecText, shapeText } from "./info.js";
import { countText, type Output } from "./output.js";
import { progressOption } from "./progress.js";
import { alreadyThere, placeOf } from "./sink.js";
import { findSource, remarkForbidden, sourceOptions } from "./source.js";
import { type Session, verb } from "./verb.js";

const VERSIONS = { zarr3: 3, zarr2: 2, zarr0: 0 } as const satisfies Record<string, WritableVersion>;
const COMPRESSORS = ["blosc", "zstd", "gzip", "none"] as const satisfies readonly Compressor[];

const options = {
  ...sourceOptions,
  to: choice(Object.keys(VERSIONS) as (keyof typeof VERSIONS)[], "the target's format (default zarr3)"),
  chunk: value("SHAPE", "shape of the chunks, such as 64,64,64 (default: as in the source)", shape),
  shard: value("SHAPE", "zarr3: put the chunks into shards of this shape", shape),
  codec: value("CODEC", "blosc, zstd, gzip, none, or a whole chain as JSON (default: as in the source)", parseCodec),
  "max-memory": value("SIZE", "how much may be held at once (default 256M)", size),
  overwrite: flag("replace the dataset at OUT"),
  resume: flag("go on with a conversion that was interrupted"),
  progress: progressOption,
  "dry-run": flag("say what would happen, and write nothing"),
};

export const convert = verb({
  about:
    "Chunks are copied byte for byte where source and target encode them alike. OUT becomes visible when it is whole; a " +
    "name that ends in .zip becomes a zip file.",
  options,
  examples: [
    ["octavo convert old new.zarr", "an array of any Zarr version, or a tree of them, to v3"],
    [
      "octavo convert image.zarr s3://bucket/image.zarr --chunk 64,64,64 --shard 512,512,512",
      "sharded, into an object store",
    ],
    ["octavo convert image.zarr image.zip --codec zstd --dry-run", "what would happen"],
  ],
  async run([from, to], given, session) {
    const source = await findSource(from!, given, session.signal);
    const dataset = await source.format.open(source.store, source.at, { signal: session.signal });
    if (!given.overwrite) await checkZip(to!, session.signal);
    const target = await openLocation(to!, { signal: session.signal, create: !given["dry-run"] });
    checkApart(source, target);
    if (given["dry-run"]) {
      await checkRoom(target, given, session.signal);
      await explain(dataset as ZarrNode, wanted(given), session);
      return 0;
    }
    if (given.overwrite) await checkRoom(target, given, session.signal);
    const { signal, report: progress } = session;
    const pool = createPool();
    const work = { ...wanted(given), signal, pool, onProgress: progress.update };
    const { report } = await convertTree(dataset as ZarrNode, target.store, target.at, work);
    await target.store.close?.();
    progress.end();
    if (session.output.json) session.output.document({ ...report, ...source.forbidden() });
    else tell(report, session.output);
    remarkForbidden(source, session.output);
    return 0;
  },
});

function wanted(given: Values<typeof options>): ConvertOptions {
  return {
    version: VERSIONS[given.to ?? "zarr3"],
    chunkShape: given.chunk,
    shardShape: given.shard,
    codecs: given.codec,
    maxMemory: given["max-memory"],
    overwrite: given.overwrite,
    resume: given.resume,
  };
}

function parseCodec(text: string): Compressor | CodecSpec[] {
  const word = COMPRESSORS.find((known) => known === text);
  if (word !== undefined) return word;
  if (!text.startsWith("[")) {
    throw new InvalidInput(
      `expected ${COMPRESSORS.join(", ")} or a JSON list, found ${JSON.stringify(text)}`,
      nearest(text, COMPRESSORS),
    );
  }
  const chain = parseJson(encodeUtf8(text, "the chain"), defaultLimits, "the chain");
  return (chain as readonly Json[]).map((step) => {
    const { name, configuration = {} } = isJsonObject(step) ? step : {};
    if (typeof name === "string" && isJsonObject(configuration)) return { name, configuration };
    throw new InvalidInput(`expected {"name": …, "configuration": {…}} for each codec, found ${JSON.stringify(step)}`);
  });
}

const addressOf = ({ store, at }: Pick<Location, "store" | "at">): string => `${store.url}/${at}`.replace(/\/*$/, "/");

/** Overwriting, or writing into, what is being read would destroy it. */
function checkApart(source: Pick<Location, "store" | "at">, target: Location): void {
  const [from, to] = [addressOf(source), addressOf(target)];
  if (from.startsWith(to) || to.startsWith(from)) {
    throw new InvalidInput(`OUT and IN must lie apart, found ${to} and ${from}`);
  }
}

/** A zip file under way knows nothing of the one that it is about to replace. */
async function checkZip(to: string, signal: AbortSignal): Promise<void> {
  const [file = ""] = to.split("|");
  if (!/\.(zip|ozx)$/i.test(file)) return;
  const { store, key } = await placeOf(file, signal);
  if ((await store.stat(key, { signal })) !== undefined) throw alreadyThere(file);
}

/** Only a dataset is ever overwritten: a folder of other things must be emptied by hand. */
async function checkRoom(target: Location, given: Values<typeof options>, signal: AbortSignal): Promise<void> {
  const { store, at } = target;
  if (!store.can.list) return;
  const { keys, prefixes } = await store.children(at, { signal });
  if (keys.length + prefixes.length === 0) return;
  if (keys.some((key) => key.endsWith("octavo-convert.json"))) return; // an interrupted conversion
  const where = addressOf(target).replace(/\/$/, "");
  const { match } = await detect(target, { signal }).catch(() => {
    throw new Conflict(`${where} holds other things than a dataset, which convert does not delete`, {
      where,
      hint: "Choose an empty place, or empty it yourself.",
    });
  });
  if (!given.overwrite)
    throw new Conflict(`${where} already holds a ${match.summary}`, { where, hint: "Add --overwrite to replace it." });
}

/** What --dry-run prints: every array, what it becomes, and whether its chunks are copied as they are. */
async function explain(node: ZarrNode, options: ConvertOptions, { output, signal }: Session): Promise<void> {
  const arrays: { readonly path: string; readonly array: ZarrArray }[] = [];
  const walk = async (at: ZarrNode, path: string): Promise<void> => {
    if (at.kind === "array") return void arrays.push({ path, array: at });
    for (const { name } of (await at.children({ signal })) ?? []) {
      await walk(await at.open(name, { signal }), path === "" ? name : `${path}/${name}`);
    }
  };
  await walk(node, "");
  const plans = arrays.map(({ path, array }) => {
    const { meta, losses } = targetOf(array, options);
    return { path, chunkShape: meta.chunkShape, codecs: meta.codecs, copied: copies(array.meta, meta), losses };
  });
  if (output.json) {
    output.document({ dryRun: true, arrays: plans });
    return;
  }
  for (const { path, chunkShape, codecs, copied, losses } of plans) {
    output.line(`${path || "the array"}: chunks ${shapeText(chunkShape)}, ${codecs.map(codecText).join(" → ")}`);
    output.line(`  ${copied ? "chunks are copied byte for byte" : "chunks are decoded and encoded again"}`);
    for (const loss of losses) output.line(`  ${output.yellow("loss")} ${loss}`);
  }
  output.line("nothing was written");
}

function tell(report: ConvertReport, output: Output): void {
  const { chunksCopied, chunksRecoded, losses } = report;
  output.line(`${countText(chunksCopied)} chunks copied byte for byte, ${countText(chunksRecoded)} encoded anew`);
  for (const loss of losses) output.line(`${output.yellow("loss")} ${loss}`);
  if (losses.length === 0) output.line(output.green("nothing was lost"));
}
