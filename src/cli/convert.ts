/** `octavo convert`: arrays, trees of them, geometry and files to another format, other chunks, another store; with a report of losses. */
import { isJsonObject, type Json, parseJson } from "../bytes/json.js";
import { encodeUtf8 } from "../bytes/text.js";
import type { CodecSpec } from "../codec/types.js";
import type { ConvertReport } from "../convert/arrays.js";
import type { ManyOptions } from "../convert/feed-many.js";
import { convertToFile, fileKind } from "../convert/files.js";
import { feedFrom } from "../convert/index.js";
import { type Input, inputsOf, isPattern } from "../convert/inputs.js";
import { levelsWanted } from "../convert/levels.js";
import { withSkipped } from "../convert/losses.js";
import { type ConvertToOptions, FORMATS } from "../convert/options.js";
import { PUBLISHED } from "../convert/precomputed/publication.js";
import { tractsOf } from "../convert/tracts.js";
import { ENCODINGS } from "../convert/volumes.js";
import { InvalidInput, NotFound } from "../errors.js";
import type { OpenFileOptions } from "../format/interchange/types.js";
import type { Compressor } from "../format/zarr/index.js";
import { defaultLimits } from "../limits.js";
import type { Dataset } from "../model/dataset.js";
import type { Query } from "../model/vectors.js";
import { convert as convertTo, openLocation } from "../node.js";
import type { PyramidOptions } from "../pyramid/index.js";
import { temporary } from "../store/temporary.js";
import { createPool } from "../worker/pool.js";
import { choice, count, flag, flagOr, nearest, shape, size, sizes, text, type Values, value } from "./args.js";
import { levelOf } from "./array-level.js";
import { explainConversion } from "./convert-plan.js";
import { countsText, ifThere, queryOf, refuse, selectionOptions } from "./get-vectors.js";
import { bytesText, counted, countText, type Output } from "./output.js";
import { progressOption } from "./progress.js";
import { levelsTable, pyramidGiven, pyramidOptions } from "./pyramid.js";
import { heldBack, openSink } from "./sink.js";
import { sliceOption, toRegion } from "./slice.js";
import { findSource, remarkForbidden, skipOption, skipping, sourceOptions } from "./source.js";
import { columnOptions, tableOf } from "./table-options.js";
import { tractOptions, tractsGiven } from "./tract-options.js";
import { type Session, verb } from "./verb.js";

const COMPRESSORS = ["blosc", "zstd", "gzip", "none"] as const satisfies readonly Compressor[];

const { level: _, resolution: _r, ...selection } = selectionOptions;

/** Coarser levels as a part of it. */
export const pyramidOption = {
  value: "N",
  help: "zarr-vectors: build coarser levels too, N of them (default: until about 65,000 vertices are left)",
  inline: true as const,
  parse: (given: string): number | true => given === "" || count(given),
};

const options = {
  ...sourceOptions,
  to: {
    ...choice(
      FORMATS,
      "the target's format, such as zarr2, precomputed, trk or ply (default: as OUT is called, else zarr3, of geometry zarr-vectors)",
    ),
    value: "FORMAT",
  },
  "format-version": choice(["0.9.2", "0.7.0"] as const, "zarr-vectors: the version (default 0.9.2)"),
  chunk: value(
    "SHAPE",
    "shape of the chunks, such as 64,64,64; of geometry also one size for all axes (default: as in the source)",
    sizes,
  ),
  shard: value("SHAPE", "zarr3, zarr-vectors 0.9.2: put the chunks into shards of this shape", shape),
  dtype: choice(
    ["float16", "float32", "float64"] as const,
    "zarr-vectors: the type of positions (default: as they are)",
  ),
  ids: choice(["dense"] as const, "of geometry: give the objects the ids 0, 1, 2 …; in precomputed 1, 2, 3 …"),
  kind: choice(
    [...PUBLISHED, "point", "line"],
    "precomputed: what geometry becomes (default: points and lines annotations, other paths skeletons); of a table: " +
      "what its rows are, point or line",
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
    "precomputed: the size of a voxel, or of a unit of coordinates, in nm (default: as the attributes or axes say); one " +
      "number: the coarsest level whose bins are not larger",
    sizes,
  ),
  level: value("N", "of several levels or scales this one (default: all; of arrays 0, the finest)", count),
  ...selection,
  ...sliceOption,
  ...columnOptions,
  ...tractOptions,
  ascii: flag("of files that can be either: text, not binary"),
  codec: value("CODEC", "blosc, zstd, gzip, none, or a whole chain as JSON (default: as in the source)", parseCodec),
  pyramid: pyramidOption,
  ...pyramidOptions,
  "max-memory": value("SIZE", "how much may be held at once (default 256M)", size),
  strict: flag("nothing may be lost: a loss is an error, and nothing is written"),
  ...skipOption,
  overwrite: flag("replace what is at OUT"),
  resume: flag("go on with a conversion that was interrupted; what fails or is interrupted now stays, to go on with"),
  part: value(
    "I/N",
    "write only the I-th of N shares of OUT, such as $SLURM_ARRAY_TASK_ID/8; the others may run at the same time",
    partOfN,
  ),
  finish: flag("all parts are written: check them and make OUT of them (give the other options as before)"),
  progress: progressOption,
  "dry-run": flag("say what would happen and how much would be read and written, and write nothing"),
};

export const convert = verb({
  about:
    "Chunks of arrays are copied byte for byte where source and target encode them alike. Geometry keeps its chunks, levels " +
    "and links unless --chunk or --dtype is given: then all levels are written anew, without links between them. OUT becomes " +
    "visible when it is whole; a name that ends in .zip becomes a zip file. Several files, a folder of them or a quoted " +
    "pattern become one dataset: their objects with the attribute name (points without objects: file), and a group for each folder. - is a pipe: --as and " +
    "--to say what comes and goes.",
  options,
  examples: [
    ["octavo convert old new.zarr", "an array of any Zarr version, or a tree of them, to v3"],
    ["octavo convert 'cells/**/*.swc' cells.zv --skip-bad --pyramid=2", "a store of many neurons, with coarser levels"],
    ["octavo convert cells.zv out/skeletons --to precomputed --link out", "skeletons, which that volume names"],
  ],
  async run(operands, given, session) {
    const { output, signal, report: progress } = session;
    const [sources, to] = [operands.slice(0, -1), operands.at(-1)!];
    if (given.resume && given.overwrite)
      throw new InvalidInput("--resume keeps what is at OUT and --overwrite replaces it: give one of them");
    if (given.part !== undefined && (given.overwrite || given.finish))
      throw new InvalidInput(`--part adds to what is at OUT: leave --${given.finish ? "finish" : "overwrite"} out`);
    if (sources.includes("-") && (given.resume || given.finish || given.part !== undefined))
      throw new InvalidInput("a pipe cannot be read again: --resume, --part and --finish take files");
    const skipped: string[] = [];
    const onBad = skipping(given, (problem) => skipped.push(problem));
    const source = await sourceOf(sources, given, session, onBad);
    const work = {
      ...wanted(given, source.opened),
      pyramid: levelsOf(given),
      signal,
      onProgress: progress.update,
      onNote: output.remark,
    };
    return ifThere(given, session, async () => {
      if (given["dry-run"]) return (await explainConversion(source.opened, to, work, session)) ? 0 : 2;
      const report =
        to === "-"
          ? await toStdout(source.opened, { ...work, onBad }, session)
          : await convertTo(isMany(source.opened) ? sources : source.opened, to, { ...work, pool: createPool() });
      progress.end();
      const told = skipped.length > 0 ? withSkipped(report, skipped) : report; // of many files, it is in the report already
      if (output.json && to !== "-") output.document({ ...told, ...source.forbidden() });
      else tell(told, to, to === "-" ? output.remark : output.line, output);
      for (const problem of told.skipped ?? []) output.remark(`skipped ${problem}`);
      remarkForbidden(source, output);
      return 0;
    });
  },
});

type Opened = Dataset | readonly Input[];
const isMany = (opened: Opened): opened is readonly Input[] => Array.isArray(opened);

/** One dataset, or the files that addresses, a folder or a pattern stand for. */
async function sourceOf(
  sources: readonly string[],
  given: Values<typeof options>,
  session: Session,
  onBad: OpenFileOptions["onBad"],
): Promise<{ readonly opened: Opened; forbidden(): { readonly forbiddenTakenForMissing?: number } }> {
  const { signal } = session;
  const [only] = sources as [string];
  const inputs = () =>
    inputsOf(openLocation, sources, {
      signal,
      as: given.as,
      table: tableOf(given),
      forbiddenIsMissing: given["forbidden-is-missing"],
    });
  const many = async () => ({ opened: await inputs(), forbidden: () => ({}) });
  if (sources.length > 1 || isPattern(only)) return many();
  try {
    const reading = { onBad, related: true, table: tableOf(given), maxMemory: given["max-memory"] };
    const { match, forbidden } = await findSource(only, given, session, reading);
    const opened = await match.open();
    return { opened: opened.kind === "array" ? levelOf(opened, given.level) : opened, forbidden };
  } catch (error) {
    if (error instanceof NotFound && only !== "-") return many(); // perhaps a folder of files
    throw error;
  }
}

/** A file into a pipe; where nothing may be lost, nothing goes out before that is known. */
export async function toStdout(
  source: Opened,
  options: ConvertToOptions & Pick<ManyOptions, "merge" | "onBad">,
  session: Session,
): Promise<ConvertReport> {
  levelsWanted("a pipe", false, options.pyramid, {});
  const kind = fileKind("", options.to);
  if (kind === undefined) throw new InvalidInput("a pipe takes one file: say which kind with --to, such as --to trk");
  if (kind.id === "npy" && !isMany(source) && source.kind === "array") {
    const [{ convertToNpy }, { sliced }] = await Promise.all([
      import("../convert/npy.js"),
      import("../convert/slice.js"),
    ]);
    return convertToNpy(sliced(source, options.slice), await openSink("-", false, session), options);
  }
  const tracts = await tractsOf(openLocation, options);
  const feed = await feedFrom(source, options.query, { ...options, tracts });
  const sink = await openSink("-", false, session);
  const held = options.strict === true ? heldBack(sink) : sink;
  return convertToFile(feed, kind, held, { ...options, reference: tracts?.reference, scratch: temporary.file });
}

/** The part that is asked for; undefined where that is all of it. */
function partOf(given: Values<typeof options>): Query | undefined {
  const query = queryOf(given);
  return Object.values(query).some((asked) => asked !== undefined) ? query : undefined;
}

/** What it is, for people. */
const named = (opened: Opened): [where: string, what: string] => {
  if (isMany(opened)) return ["a list of files", "no array"];
  return [opened.url, opened.kind === "array" ? "an array" : opened.kind === "group" ? "a group" : "geometry"];
};

function wanted(given: Values<typeof options>, opened: Opened): ConvertToOptions {
  const isArray = !isMany(opened) && opened.kind !== "vectors";
  if (isArray) refuse(given, Object.keys(selection), ...named(opened));
  const isOne = !isMany(opened) && opened.kind === "array";
  if (!isOne) refuse(given, Object.keys(sliceOption), ...named(opened));
  return {
    as: given.as,
    table: tableOf(given),
    slice: isOne && given.slice !== undefined ? toRegion(given.slice, opened.shape.length) : undefined,
    query: isArray ? undefined : partOf(given),
    attributes: given.attributes,
    ...tractsGiven(given),
    ascii: given.ascii || undefined,
    strict: given.strict,
    skipBad: given["skip-bad"],
    forbiddenIsMissing: given["forbidden-is-missing"],
    to: given.to,
    formatVersion: given["format-version"],
    dtype: given.dtype,
    ids: given.ids,
    encoding: given.encoding,
    kind: PUBLISHED.find((kind) => kind === given.kind),
    keepTypes: given["keep-types"] || undefined,
    link: given.link,
    sharded: given.sharded === undefined ? undefined : given.sharded !== "no",
    scales: given.scales,
    resolution: given.resolution?.length === 1 || given.units !== undefined ? undefined : given.resolution,
    chunkShape: given.chunk,
    shardShape: given.shard,
    codecs: given.codec,
    maxMemory: given["max-memory"],
    overwrite: given.overwrite,
    resume: given.resume,
    part: given.part,
    finish: given.finish,
  };
}

/** What coarser levels shall be; undefined where there shall be none. */
function levelsOf(given: Values<typeof options>): PyramidOptions | undefined {
  const { pyramid } = given;
  if (pyramid !== undefined) return { levels: pyramid === true ? undefined : pyramid, ...pyramidGiven(given) };
  const wrong = Object.keys(pyramidOptions).find((name) => given[name as keyof typeof pyramidOptions]); // 0 means nothing in any
  if (wrong !== undefined) throw new InvalidInput(`--${wrong} is for coarser levels: add --pyramid`);
  return undefined;
}

function partOfN(text: string): { readonly index: number; readonly of: number } {
  const [, index = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (index >= 1 && index <= of) return { index, of };
  throw new InvalidInput(`expected a part and their number, such as 3/8, found ${JSON.stringify(text)}`);
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

export function tell(report: ConvertReport, target: string, line: (text: string) => void, output: Output): void {
  const { chunksCopied, chunksRecoded, vertices, objects = 0, losses, notes = [], part } = report;
  if (part !== undefined) {
    const { index, of, keys, bytes } = part;
    line(
      `part ${index} of ${of}: ${counted(keys, "key")}, ${bytesText(bytes)}; when all are there, --finish makes ${target} of them`,
    );
    for (const loss of losses) line(`${output.yellow("loss")} ${loss}`);
    return;
  }
  if (vertices === undefined)
    line(`${counted(chunksCopied, "chunk")} copied byte for byte, ${countText(chunksRecoded)} encoded anew`);
  else line(`${countsText({ vertices, objects })} written`);
  if (report.levels !== undefined) for (const row of levelsTable(report.levels)) line(row);
  for (const loss of losses) line(`${output.yellow("loss")} ${loss}`);
  for (const note of notes) line(`${output.dim("note")} ${note}`);
  if (losses.length === 0) line(output.green("nothing was lost"));
}
