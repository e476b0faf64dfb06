/** `octavo convert`: an array or a tree of them to another format, other chunks, another store; with a report of losses. */
import { isJsonObject, type Json, parseJson } from "../bytes/json.js";
import { encodeUtf8 } from "../bytes/text.js";
import type { CodecSpec } from "../codec/types.js";
import { type ConvertOptions, type ConvertReport, planArray } from "../convert/arrays.js";
import { type ConvertToOptions, TARGETS, treeOf } from "../convert/index.js";
import { refuseGroup } from "../convert/tree.js";
import { InvalidInput, NotFound } from "../errors.js";
import type { Compressor, ZarrArray, ZarrNode } from "../format/zarr/index.js";
import { defaultLimits } from "../limits.js";
import type { Match } from "../model/format.js";
import { convert as convertTo, openLocation } from "../node.js";
import { detect } from "../open.js";
import { createPool } from "../worker/pool.js";
import { choice, flag, nearest, shape, size, type Values, value } from "./args.js";
import { codecText, shapeText } from "./info.js";
import { countText, type Output } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, remarkForbidden, sourceOptions } from "./source.js";
import { type Session, verb } from "./verb.js";

const COMPRESSORS = ["blosc", "zstd", "gzip", "none"] as const satisfies readonly Compressor[];

const options = {
  ...sourceOptions,
  to: choice(Object.keys(TARGETS) as (keyof typeof TARGETS)[], "the target's format (default zarr3)"),
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
    ["octavo convert a.zarr s3://bucket/a.zarr --chunk 64,64,64 --shard 512,512,512", "sharded, into an object store"],
    ["octavo convert image.zarr image.zip --codec zstd --dry-run", "what would happen"],
  ],
  async run([from, to], given, session) {
    const { output, signal, report: progress } = session;
    if (given.resume && given.overwrite)
      throw new InvalidInput("--resume keeps what is at OUT and --overwrite replaces it: give one of them");
    const source = await findSource(from!, given, session);
    const dataset = await source.match.open();
    if (given["dry-run"]) {
      const there = await matchAt(to!, signal);
      await explain(dataset.kind === "array" ? (dataset as ZarrArray) : treeOf(dataset), wanted(given), there, session);
      return there === undefined || given.overwrite ? 0 : 2;
    }
    const work = { ...wanted(given), signal, pool: createPool(), onProgress: progress.update };
    const report = await convertTo(dataset, to!, work);
    progress.end();
    if (output.json) output.document({ ...report, ...source.forbidden() });
    else tell(report, output);
    remarkForbidden(source, output);
    return 0;
  },
});

function wanted(given: Values<typeof options>): ConvertToOptions {
  return {
    to: given.to,
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

/** What OUT would have to make room for. */
async function matchAt(url: string, signal: AbortSignal): Promise<Match | undefined> {
  try {
    return (await detect(await openLocation(url, { signal }), { signal })).match;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

async function planned(array: ZarrArray, path: string, options: ConvertOptions) {
  const { meta, losses, block } = await planArray(array, options);
  return { path, chunkShape: meta.chunkShape, codecs: meta.codecs, copied: block === undefined, losses };
}

/** What --dry-run prints: every array, what it becomes, and whether its chunks are copied as they are. */
async function explain(
  node: ZarrNode,
  { to = "zarr3", ...rest }: ConvertToOptions,
  there: Match | undefined,
  { output, signal }: Session,
): Promise<void> {
  const options = { ...rest, version: TARGETS[to] };
  const plans: Awaited<ReturnType<typeof planned>>[] = [];
  const walk = async (at: ZarrNode, path: string): Promise<void> => {
    if (at.kind === "array") return void plans.push(await planned(at, path, options));
    refuseGroup(at, options);
    for (const { name } of (await at.children({ signal })) ?? []) {
      await walk(await at.open(name, { signal }), path === "" ? name : `${path}/${name}`);
    }
  };
  await walk(node, "");
  if (output.json) {
    output.document({ dryRun: true, replaces: there?.summary ?? null, arrays: plans });
    return;
  }
  for (const { path, chunkShape, codecs, copied, losses } of plans) {
    output.line(`${path || "the array"}: chunks ${shapeText(chunkShape)}, ${codecs.map(codecText).join(" → ")}`);
    output.line(`  ${copied ? "chunks are copied byte for byte" : "chunks are decoded and encoded again"}`);
    for (const loss of losses) output.line(`  ${output.yellow("loss")} ${loss}`);
  }
  if (there !== undefined)
    output.line(
      `OUT holds a ${there.summary}: ${options.overwrite ? "it would be replaced" : "add --overwrite to replace it"}`,
    );
  output.line("nothing was written");
}

function tell(report: ConvertReport, output: Output): void {
  const { chunksCopied, chunksRecoded, losses } = report;
  output.line(`${countText(chunksCopied)} chunks copied byte for byte, ${countText(chunksRecoded)} encoded anew`);
  for (const loss of losses) output.line(`${output.yellow("loss")} ${loss}`);
  if (losses.length === 0) output.line(output.green("nothing was lost"));
}
