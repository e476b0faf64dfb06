/** What `octavo convert --dry-run` prints: what OUT would be, how much would be read and written, and nothing is. */
import { memorySize } from "../bytes/dtype.js";
import { type ConvertOptions, planArray } from "../convert/arrays.js";
import type { Estimate, Untold } from "../convert/estimate.js";
import { type Feed, MEMORY } from "../convert/feed.js";
import type { ManyOptions } from "../convert/feed-many.js";
import { fileKind } from "../convert/files.js";
import { feedFrom, treeOf } from "../convert/index.js";
import type { Input } from "../convert/inputs.js";
import { levelsWanted } from "../convert/levels.js";
import {
  arrayOptions,
  type ConvertToOptions,
  holdsLevels,
  publishOptions,
  vectorOptions,
  volumeOptions,
} from "../convert/options.js";
import { passingOf } from "../convert/passing.js";
import { publishedAs } from "../convert/precomputed/index.js";
import { sliced } from "../convert/slice.js";
import { type Tracts, tractsOf } from "../convert/tracts.js";
import { refuseGroup } from "../convert/tree.js";
import { keepsChunks } from "../convert/vectors.js";
import { planVolume } from "../convert/volumes.js";
import { NotFound, Unsupported } from "../errors.js";
import { formatVolume } from "../format/precomputed/volume/info.js";
import type { ZarrArray, ZarrNode } from "../format/zarr/index.js";
import type { ArrayDataset, Dataset } from "../model/dataset.js";
import type { Query, VectorDataset } from "../model/vectors.js";
import { openLocation } from "../node.js";
import { detect } from "../open.js";
import { countsText } from "./get-vectors.js";
import { codecText, shapeText } from "./info.js";
import { bytesText, counted, type Output } from "./output.js";
import type { Session } from "./verb.js";

/** What would be replaced, for people. */
interface There {
  readonly summary: string;
}

type Given = ConvertToOptions & Pick<ManyOptions, "merge">;

/** Says what would happen; whether it could. */
export async function explainConversion(
  source: Dataset | readonly Input[],
  target: string,
  given: Given,
  session: Session,
): Promise<boolean> {
  const { output, signal } = session;
  const there = target === "-" ? undefined : await matchAt(target, signal);
  const kind = fileKind(target, given.to);
  const many = Array.isArray(source) ? (source as readonly Input[]) : undefined;
  const whole = source as Dataset;
  const dataset = many === undefined && whole.kind === "array" ? sliced(whole, given.slice) : whole;
  levelsWanted(target, holdsLevels(source, target, given), given.pyramid, {});
  const tracts = await tractsOf(openLocation, { ...given, signal });
  const isPart = [given.query, given.attributes, tracts].some((asked) => asked !== undefined);
  if (many !== undefined || (dataset.kind === "vectors" && (kind !== undefined || isPart))) {
    const what = kind?.name ?? given.to ?? (/\.ptree$/i.test(target) ? "ptree" : "zarr-vectors");
    await explainFeed(many ?? (dataset as VectorDataset), target, what, given, tracts, there, session);
  } else if (dataset.kind === "vectors") await explainVectors(dataset, target, given, there, session);
  else if (dataset.kind === "array" && kind?.id === "npy") await explainNpy(dataset, kind.name, given, there, output);
  else if (dataset.kind === "array" && given.to === "precomputed")
    await explainVolume(dataset, { ...given, signal }, there, output);
  else await explain(dataset.kind === "array" ? (dataset as ZarrArray) : treeOf(dataset), given, there, session);
  return there === undefined || given.overwrite === true;
}

/** How much goes through: what is read, and what may have to be put aside meanwhile. */
interface Amounts {
  files: number;
  objects: number;
  vertices: number;
  requests: number;
  bytes: number;
  scratch: number;
  exact: boolean;
  /** It is cut after that: there will be other vertices, and as many objects as pieces. */
  cut?: true;
  readonly skipped: string[];
}

const nothing = (): Amounts => ({
  files: 0,
  objects: 0,
  vertices: 0,
  requests: 0,
  bytes: 0,
  scratch: 0,
  exact: true,
  skipped: [],
});

/** Adds what reading this part of a dataset takes. */
async function add(amounts: Amounts, dataset: VectorDataset, query: Query, { signal, attributes }: ConvertToOptions) {
  const selection = dataset.select(query);
  const [counts, plan] = [await selection.count({ signal }), await selection.plan({ signal, attributes })];
  const { vertex } = await dataset.schema(await selection.level({ signal }), { signal });
  const row = vertex.reduce((sum, { dtype, channels }) => sum + memorySize(dtype) * channels, 8 * dataset.axes.length);
  amounts.objects += counts.objects;
  amounts.vertices += counts.vertices;
  amounts.requests += plan.requests;
  amounts.bytes += plan.bytes;
  amounts.scratch += counts.vertices * row;
  amounts.exact &&= counts.exact && plan.exact;
  if (query.clip !== undefined && query.clip !== false) amounts.cut = true;
}

/** What fits into memory is not put aside. */
function tellAmounts(
  amounts: Amounts,
  written: Written,
  { maxMemory = MEMORY }: ConvertToOptions,
  output: Output,
): void {
  const { files, requests, bytes, exact, cut, skipped } = amounts;
  const most = exact ? "" : "at most ";
  const before = cut ? ", before they are cut" : "";
  output.line(`${files > 1 ? `${counted(files, "file")}: ` : ""}${most}${countsText(amounts)}${before}`);
  output.line(`${exact ? "" : "about "}${counted(requests, "request")}, ${bytesText(bytes)} to read`);
  tellWritten(written, output, most);
  const scratch = scratchOf(amounts, maxMemory);
  output.line(scratch === 0 ? "no scratch space" : `up to ${bytesText(scratch)} of scratch space`);
  for (const problem of skipped) output.line(`skipped ${problem}`);
}

type Written = Estimate | Untold;

function tellWritten(written: Written, output: Output, most = ""): void {
  if ("untold" in written) output.line(`how much would be written cannot be told: ${written.untold}`);
  else output.line(`${written.exact ? "" : `${most}about `}${bytesText(written.bytes)} to write`);
}

/** For programs. */
const writtenAs = (written: Written) =>
  "untold" in written ? { bytesWritten: null } : { bytesWritten: written.bytes, bytesWrittenExact: written.exact };

const scratchOf = ({ scratch }: Amounts, maxMemory = MEMORY): number => (scratch <= maxMemory / 4 ? 0 : scratch);

async function explainFeed(
  source: VectorDataset | readonly Input[],
  target: string,
  what: string,
  given: Given,
  tracts: Tracts | undefined,
  there: There | undefined,
  { output, signal }: Session,
): Promise<void> {
  const amounts = nothing();
  const onBad = given.skipBad === true ? ({ message }: Error): void => void amounts.skipped.push(message) : undefined;
  const inputs = "kind" in source ? [{ name: source.url, open: async () => source }] : source;
  for (const { name, open } of inputs) {
    signal.throwIfAborted();
    const dataset = await open({ signal, onBad });
    if (dataset.kind !== "vectors") throw new Unsupported(`${name} is no geometry`, { where: name });
    amounts.files++;
    const own = (await tracts?.attach?.(dataset)) ?? dataset;
    await add(amounts, own, given.query ?? {}, { ...given, signal });
  }
  let feed: Feed | undefined;
  if (tracts !== undefined) {
    amounts.exact &&= [given.include, given.exclude, given.invalid].every((asked) => asked === undefined);
    feed = await feedFrom(source, given.query, { ...given, onBad, signal, tracts }); // tells what leaves the image
  }
  const { estimateWritten } = await import("../convert/estimate.js");
  const written = await estimateWritten(source, target, amounts, { ...given, onBad, signal }, { feed, tracts });
  if (output.json) {
    const scratch = scratchOf(amounts, given.maxMemory);
    const replaces = there?.summary ?? null;
    output.document({ dryRun: true, replaces, to: what, ...amounts, ...writtenAs(written), scratch });
    return;
  }
  output.line(`to ${what}`);
  tellAmounts(amounts, written, given, output);
  tellNothing(there, given, output);
}

/** What OUT would have to make room for. */
export async function matchAt(url: string, signal: AbortSignal): Promise<There | undefined> {
  try {
    return (await detect(await openLocation(url, { signal }), { signal })).match;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    if (error instanceof Unsupported) return { summary: "file" }; // of a kind that nobody knows
    throw error;
  }
}

async function planned(array: ZarrArray, path: string, options: ConvertOptions) {
  const { meta, losses, block } = await planArray(array, options);
  const { estimateArray } = await import("../convert/estimate-arrays.js");
  const written = await estimateArray(array, options);
  return { path, chunkShape: meta.chunkShape, codecs: meta.codecs, copied: block === undefined, losses, written };
}

/** What --dry-run prints: every array, what it becomes, and whether its chunks are copied as they are. */
async function explain(
  node: ZarrNode,
  given: ConvertToOptions,
  there: There | undefined,
  { output, signal }: Session,
): Promise<void> {
  const options = arrayOptions(node, { ...given, signal });
  const plans: Awaited<ReturnType<typeof planned>>[] = [];
  const walk = async (at: ZarrNode, path: string): Promise<void> => {
    if (at.kind === "array") return void plans.push(await planned(at, path, options));
    refuseGroup(at, options);
    for (const { name } of (await at.children({ signal })) ?? []) {
      await walk(await at.open(name, { signal }), path === "" ? name : `${path}/${name}`);
    }
  };
  await walk(node, "");
  const whole = sumOf(plans.map(({ written }) => written));
  if (output.json) {
    const arrays = plans.map(({ written, ...plan }) => ({ ...plan, ...writtenAs(written) }));
    output.document({ dryRun: true, replaces: there?.summary ?? null, arrays, ...writtenAs(whole) });
    return;
  }
  for (const { path, chunkShape, codecs, copied, losses } of plans) {
    output.line(`${path || "the array"}: chunks ${shapeText(chunkShape)}, ${codecs.map(codecText).join(" → ")}`);
    output.line(`  ${copied ? "chunks are copied byte for byte" : "chunks are decoded and encoded again"}`);
    for (const loss of losses) output.line(`  ${output.yellow("loss")} ${loss}`);
  }
  tellWritten(whole, output);
  tellNothing(there, options, output);
}

const sumOf = (all: readonly Estimate[]): Estimate => ({
  bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  exact: all.every(({ exact }) => exact),
});

/** The same for an array that becomes a file. */
async function explainNpy(
  array: ArrayDataset,
  what: string,
  given: ConvertToOptions,
  there: There | undefined,
  output: Output,
): Promise<void> {
  const { npyBytes } = await import("../convert/estimate-arrays.js");
  const written = { bytes: npyBytes(array), exact: true };
  if (output.json) {
    output.document({ dryRun: true, replaces: there?.summary ?? null, to: what, ...writtenAs(written) });
    return;
  }
  output.line(`to ${what}`);
  tellWritten(written, output);
  tellNothing(there, given, output);
}

/** The same for a volume: its scales. */
async function explainVolume(
  dataset: ArrayDataset,
  given: ConvertToOptions,
  there: There | undefined,
  output: Output,
): Promise<void> {
  const options = volumeOptions(dataset, given);
  const { info, losses } = planVolume(dataset, options);
  const { estimateVolume } = await import("../convert/estimate-arrays.js");
  const written = await estimateVolume(dataset, options);
  if (output.json) {
    const replaces = there?.summary ?? null;
    output.document({ dryRun: true, replaces, info: formatVolume(info), losses, ...writtenAs(written) });
    return;
  }
  output.line(`a precomputed volume, ${info.type}`);
  for (const { key, size, chunkSizes, encoding, sharding } of info.scales)
    output.line(
      `  ${key}: ${shapeText(size)} in chunks of ${shapeText(chunkSizes[0]!)}, ${encoding.name}${sharding === null ? "" : ", sharded"}`,
    );
  for (const loss of losses) output.line(`  ${output.yellow("loss")} ${loss}`);
  tellWritten(written, output);
  tellNothing(there, given, output);
}

/** The same for geometry that becomes precomputed. */
async function explainPublished(
  dataset: VectorDataset,
  target: string,
  given: ConvertToOptions,
  there: There | undefined,
  { output, signal }: Session,
): Promise<void> {
  const kind = publishedAs(dataset, publishOptions(dataset, given).kind);
  const amounts = nothing();
  await add(amounts, dataset, { level: 0 }, { ...given, signal });
  const { estimateWritten } = await import("../convert/estimate.js");
  const written = await estimateWritten(dataset, target, amounts, { ...given, query: { level: 0 }, signal });
  if (output.json) {
    const { objects, vertices, requests, bytes } = amounts;
    const scratch = scratchOf(amounts, given.maxMemory);
    const replaces = there?.summary ?? null;
    const read = { objects, vertices, requests, bytes };
    output.document({ dryRun: true, replaces, kind, ...read, ...writtenAs(written), scratch });
    return;
  }
  output.line(`precomputed ${kind}, from ${dataset.geometries[0]}`);
  tellAmounts(amounts, written, given, output);
  tellNothing(there, given, output);
}

/** The same for a file that is too large to be looked at before it is converted. */
function explainPassing(
  { url }: VectorDataset,
  formatVersion: string,
  given: ConvertToOptions,
  there: There | undefined,
  output: Output,
): void {
  const unknown = { requests: null, bytes: null, bytesWritten: null, scratch: null };
  if (output.json) {
    output.document({ dryRun: true, replaces: there?.summary ?? null, formatVersion, keepsChunks: false, ...unknown });
    return;
  }
  output.line(`Zarr Vectors ${formatVersion}, in new chunks`);
  tellWritten({ untold: `${url} is larger than the memory, and is read once, when it is converted` }, output);
  tellNothing(there, given, output);
}

/** Adds what reading the levels takes that are converted; what writing them does. */
async function everyLevel(
  dataset: VectorDataset,
  target: string,
  given: ConvertToOptions,
  amounts: Amounts,
): Promise<Written> {
  const { estimateWritten } = await import("../convert/estimate.js");
  const all: Written[] = [];
  for (const { level } of given.pyramid === undefined ? dataset.levels : dataset.levels.slice(0, 1)) {
    const own = nothing();
    await add(own, dataset, { level }, given);
    for (const name of ["objects", "vertices", "requests", "bytes", "scratch"] as const) amounts[name] += own[name];
    amounts.exact &&= own.exact;
    all.push(await estimateWritten(dataset, target, own, { ...given, query: { level } }));
  }
  return all.find((own) => "untold" in own) ?? sumOf(all as readonly Estimate[]);
}

/** The same for geometry: what would be asked of it, and what becomes of its levels. */
async function explainVectors(
  dataset: VectorDataset,
  target: string,
  given: ConvertToOptions,
  there: There | undefined,
  session: Session,
): Promise<void> {
  if (given.to === "precomputed") return explainPublished(dataset, target, given, there, session);
  const { output, signal } = session;
  const { formatVersion = "0.9.2", chunkShape, dtype } = vectorOptions(dataset, given);
  const kept = keepsChunks(dataset, { chunkShape, dtype });
  const levels = dataset.levels.map(({ level, vertices }) => ({ level, vertices: vertices ?? null, kept }));
  if (passingOf(dataset) !== undefined) return explainPassing(dataset, formatVersion, given, there, output);
  const amounts = nothing();
  const written = await everyLevel(dataset, target, { ...given, signal }, amounts);
  if (output.json) {
    const { requests, bytes } = amounts;
    const scratch = kept ? 0 : scratchOf(amounts, given.maxMemory);
    const replaces = there?.summary ?? null;
    const read = { requests, bytes };
    const what = { formatVersion, keepsChunks: kept, levels };
    output.document({ dryRun: true, replaces, ...what, ...read, ...writtenAs(written), scratch });
    return;
  }
  output.line(`Zarr Vectors ${formatVersion}, ${kept ? "with the same chunks, fragments and links" : "in new chunks"}`);
  for (const { level, vertices } of levels)
    output.line(
      `  level ${level}: ${vertices === null ? "" : `${counted(vertices, "vertex", "vertices")}, `}${kept ? "kept" : "written anew"}`,
    );
  tellAmounts(kept ? { ...amounts, scratch: 0 } : amounts, written, given, output);
  tellNothing(there, given, output);
}

function tellNothing(there: There | undefined, { overwrite, pyramid }: ConvertToOptions, output: Output): void {
  if (there !== undefined)
    output.line(
      `OUT holds a ${there.summary}: ${overwrite ? "it would be replaced" : "add --overwrite to replace it"}`,
    );
  if (pyramid !== undefined) output.line("coarser levels would be built of it");
  output.line("nothing was written");
}
