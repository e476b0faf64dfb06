/** `octavo convert`: arrays, trees of them and geometry to another format, other chunks, another store; with a report of losses. */
import { isJsonObject, type Json, parseJson } from "../bytes/json.js";
import { encodeUtf8 } from "../bytes/text.js";
import type { CodecSpec } from "../codec/types.js";
import { type ConvertOptions, type ConvertReport, planArray } from "../convert/arrays.js";
import {
  arrayOptions,
  type ConvertToOptions,
  publishOptions,
  TARGETS,
  treeOf,
  vectorOptions,
  volumeOptions,
} from "../convert/index.js";
import { publishedAs } from "../convert/precomputed/index.js";
import { PUBLISHED } from "../convert/precomputed/publication.js";
import { refuseGroup } from "../convert/tree.js";
import { keepsChunks } from "../convert/vectors.js";
import { ENCODINGS, planVolume } from "../convert/volumes.js";
import { InvalidInput, NotFound } from "../errors.js";
import { formatVolume } from "../format/precomputed/volume/info.js";
import type { Compressor, ZarrArray, ZarrNode } from "../format/zarr/index.js";
import { defaultLimits } from "../limits.js";
import type { ArrayDataset } from "../model/dataset.js";
import type { Match } from "../model/format.js";
import type { VectorDataset } from "../model/vectors.js";
import { convert as convertTo, openLocation } from "../node.js";
import { detect } from "../open.js";
import { createPool } from "../worker/pool.js";
import { choice, count, flag, flagOr, nearest, shape, size, text, type Values, value } from "./args.js";
import { levelOf } from "./array-level.js";
import { countsText } from "./get-vectors.js";
import { codecText, shapeText } from "./info.js";
import { counted, countText, type Output } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, remarkForbidden, sourceOptions } from "./source.js";
import { type Session, verb } from "./verb.js";

const COMPRESSORS = ["blosc", "zstd", "gzip", "none"] as const satisfies readonly Compressor[];

const FORMATS = [...(Object.keys(TARGETS) as (keyof typeof TARGETS)[]), "zarr-vectors", "precomputed"] as const;

const options = {
  ...sourceOptions,
  to: choice(FORMATS, "the target's format (default zarr3, of geometry zarr-vectors)"),
  "format-version": choice(["0.9.2", "0.7.0"] as const, "zarr-vectors: the version (default 0.9.2)"),
  chunk: value("SHAPE", "shape of the chunks, such as 64,64,64 (default: as in the source)", sizes),
  shard: value("SHAPE", "zarr3, zarr-vectors 0.9.2: put the chunks into shards of this shape", shape),
  dtype: choice(
    ["float16", "float32", "float64"] as const,
    "zarr-vectors: the type of positions (default: as they are)",
  ),
  ids: choice(["dense"] as const, "of geometry: give the objects the ids 0, 1, 2 …; in precomputed 1, 2, 3 …"),
  kind: choice(
    PUBLISHED,
    "precomputed: what geometry becomes (default: points and lines annotations, other paths skeletons)",
  ),
  "keep-types": flag("precomputed: keep integers of vertices, although Neuroglancer draws only float32"),
  link: text("VOLUME", "precomputed: let the info of this volume name the skeletons or meshes"),
  encoding: choice(
    ENCODINGS,
    "precomputed: how chunks are stored (default: labels of 32 and 64 bits compressed, else raw)",
  ),
  sharded: flagOr(
    ["no"] as const,
    "precomputed: into shards, or not (default: volumes not, of geometry more than 1000 objects)",
  ),
  scales: value("N", "precomputed: how many scales, each half as fine (default 1)", count),
  resolution: value(
    "X,Y,Z",
    "precomputed: the size of a voxel, or of a unit of coordinates, in nm (default: as the attributes or axes say)",
    sizes,
  ),
  level: value("N", "of an array with several scales, this one (default 0, the finest)", count),
  codec: value("CODEC", "blosc, zstd, gzip, none, or a whole chain as JSON (default: as in the source)", parseCodec),
  "max-memory": value("SIZE", "how much may be held at once (default 256M)", size),
  overwrite: flag("replace the dataset at OUT"),
  resume: flag("go on with a conversion that was interrupted"),
  progress: progressOption,
  "dry-run": flag("say what would happen, and write nothing"),
};

export const convert = verb({
  about:
    "Chunks of arrays are copied byte for byte where source and target encode them alike. Geometry keeps its chunks, levels " +
    "and links unless --chunk or --dtype is given: then all levels are written anew, without links between them. OUT becomes " +
    "visible when it is whole; a name that ends in .zip becomes a zip file.",
  options,
  examples: [
    ["octavo convert old new.zarr", "an array of any Zarr version, or a tree of them, to v3"],
    ["octavo convert labels.zarr out --to precomputed --sharded --scales 4", "a volume that Neuroglancer shows"],
    ["octavo convert cells.zv out/skeletons --to precomputed --link out", "skeletons, which that volume names"],
  ],
  async run([from, to], given, session) {
    const { output, signal, report: progress } = session;
    if (given.resume && given.overwrite)
      throw new InvalidInput("--resume keeps what is at OUT and --overwrite replaces it: give one of them");
    const source = await findSource(from!, given, session);
    const opened = await source.match.open();
    if (given.level !== undefined && opened.kind !== "array")
      throw new InvalidInput(`--level is about arrays of several scales, and ${from} is none`);
    const dataset = opened.kind === "array" ? levelOf(opened, given.level) : opened;
    if (given["dry-run"]) {
      const there = await matchAt(to!, signal);
      if (dataset.kind === "array" && given.to === "precomputed") explainVolume(dataset, wanted(given), there, output);
      else if (dataset.kind === "vectors" && given.to === "precomputed")
        explainPublished(dataset, wanted(given), there, output);
      else if (dataset.kind === "vectors") explainVectors(dataset, wanted(given), there, output);
      else
        await explain(
          dataset.kind === "array" ? (dataset as ZarrArray) : treeOf(dataset),
          wanted(given),
          there,
          session,
        );
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
    formatVersion: given["format-version"],
    dtype: given.dtype,
    ids: given.ids,
    encoding: given.encoding,
    kind: given.kind,
    keepTypes: given["keep-types"] || undefined,
    link: given.link,
    sharded: given.sharded === undefined ? undefined : given.sharded !== "no",
    scales: given.scales,
    resolution: given.resolution,
    chunkShape: given.chunk,
    shardShape: given.shard,
    codecs: given.codec,
    maxMemory: given["max-memory"],
    overwrite: given.overwrite,
    resume: given.resume,
  };
}

/** "64,64,64" or "12.5x12.5": chunks of geometry are sizes in space. */
function sizes(text: string): readonly number[] {
  const found = text.split(/[,x\u00d7]/).map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (found.every((size) => size > 0 && Number.isFinite(size))) return found;
  throw new InvalidInput(`expected sizes above 0 such as 64,64,32, found ${JSON.stringify(text)}`);
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
export async function matchAt(url: string, signal: AbortSignal): Promise<Match | undefined> {
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
  given: ConvertToOptions,
  there: Match | undefined,
  { output, signal }: Session,
): Promise<void> {
  const options = arrayOptions(node, given);
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
  tellNothing(there, options, output);
}

/** The same for a volume: its scales. */
function explainVolume(dataset: ArrayDataset, given: ConvertToOptions, there: Match | undefined, output: Output): void {
  const { info, losses } = planVolume(dataset, volumeOptions(dataset, given));
  if (output.json) {
    output.document({ dryRun: true, replaces: there?.summary ?? null, info: formatVolume(info), losses });
    return;
  }
  output.line(`a precomputed volume, ${info.type}`);
  for (const { key, size, chunkSizes, encoding, sharding } of info.scales)
    output.line(
      `  ${key}: ${shapeText(size)} in chunks of ${shapeText(chunkSizes[0]!)}, ${encoding.name}${sharding === null ? "" : ", sharded"}`,
    );
  for (const loss of losses) output.line(`  ${output.yellow("loss")} ${loss}`);
  tellNothing(there, given, output);
}

/** The same for geometry that becomes precomputed. */
function explainPublished(
  dataset: VectorDataset,
  given: ConvertToOptions,
  there: Match | undefined,
  output: Output,
): void {
  const kind = publishedAs(dataset, publishOptions(dataset, given).kind);
  if (output.json) output.document({ dryRun: true, replaces: there?.summary ?? null, kind });
  else {
    output.line(`precomputed ${kind}, from ${dataset.geometries[0]}`);
    tellNothing(there, given, output);
  }
}

/** The same for geometry: what would be asked of it, and what becomes of its levels. */
function explainVectors(
  dataset: VectorDataset,
  given: ConvertToOptions,
  there: Match | undefined,
  output: Output,
): void {
  const { formatVersion = "0.9.2", chunkShape, dtype } = vectorOptions(dataset, given);
  const kept = keepsChunks(dataset, { chunkShape, dtype });
  const levels = dataset.levels.map(({ level, vertices }) => ({ level, vertices: vertices ?? null, kept }));
  if (output.json) {
    output.document({ dryRun: true, replaces: there?.summary ?? null, formatVersion, keepsChunks: kept, levels });
    return;
  }
  output.line(`Zarr Vectors ${formatVersion}, ${kept ? "with the same chunks, fragments and links" : "in new chunks"}`);
  for (const { level, vertices } of levels)
    output.line(
      `  level ${level}: ${vertices === null ? "" : `${counted(vertices, "vertex", "vertices")}, `}${kept ? "kept" : "written anew"}`,
    );
  tellNothing(there, given, output);
}

function tellNothing(there: Match | undefined, { overwrite }: ConvertToOptions, output: Output): void {
  if (there !== undefined)
    output.line(
      `OUT holds a ${there.summary}: ${overwrite ? "it would be replaced" : "add --overwrite to replace it"}`,
    );
  output.line("nothing was written");
}

function tell(report: ConvertReport, output: Output): void {
  const { chunksCopied, chunksRecoded, vertices, objects = 0, losses, notes = [] } = report;
  if (vertices === undefined)
    output.line(`${counted(chunksCopied, "chunk")} copied byte for byte, ${countText(chunksRecoded)} encoded anew`);
  else output.line(`${countsText({ vertices, objects })} written`);
  for (const loss of losses) output.line(`${output.yellow("loss")} ${loss}`);
  for (const note of notes) output.line(`${output.dim("note")} ${note}`);
  if (losses.length === 0) output.line(output.green("nothing was lost"));
}
