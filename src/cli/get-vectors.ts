/** `octavo get` of geometry: the answer to a query as a file, or how much it would be. */
import { feedOf } from "../convert/feed.js";
import { convertToFile } from "../convert/files.js";
import { itemsWriter } from "../convert/json/items-text.js";
import { InvalidInput, NotFound } from "../errors.js";
import type { Target as FileTarget } from "../format/interchange/kinds.js";
import type { Batch, Geometry, Parametric, Query, Selection, VectorDataset } from "../model/vectors.js";
import { parseGroups } from "../query/group-names.js";
import { temporary } from "../store/temporary.js";
import { choice, count, flag, flagOr, id, list, numbers, sizes, text, type Values, value } from "./args.js";
import { chosenOf, writeParametric } from "./get-parametric.js";
import { bytesText, counted } from "./output.js";
import { heldBack, openSink } from "./sink.js";
import type { ExitCode, Session } from "./verb.js";

const GEOMETRIES = [
  "points",
  "lines",
  "polylines",
  "streamlines",
  "graph",
  "skeletons",
  "mesh",
  "parametric",
] as const satisfies readonly Geometry[];

/** The fields of a Query by the same names. */
export const selectionOptions = {
  level: value("N", "the level, 0 is the finest (default 0)", count),
  "max-vertices": value("N", "the finest level that answers with at most so many", count),
  resolution: value(
    "SIZE",
    "the coarsest level whose bins are not larger; of a table in voxels: X,Y,Z, the size of one in nm",
    sizes,
  ),
  geometry: {
    ...choice(GEOMETRIES, `which one, where there are several: ${GEOMETRIES.join(", ")} (planes, lines, spheres)`),
    value: "KIND",
  },
  object: list("ID,…", "these objects", id),
  group: {
    value: "N,…",
    help: "the objects of these groups, by number or name; one with a comma as '\"a, b\"'",
    parse: parseGroups,
    repeats: true as const,
  },
  box: value("X,Y,Z,X,Y,Z", "what touches this box: lower corner, upper corner", numbers),
  sphere: value("X,Y,Z,R", "what touches this ball: centre, radius", numbers),
  nearest: value("X,Y,Z,K", "the K objects (or points) nearest to a place", numbers),
  where: text("EXPR", "a condition, such as \"fa > 0.3 and object.type in ('a', 'b')\""),
  clip: flagOr(["vertices"], "cut at the region's faces; =vertices: only the vertices inside"),
  limit: value("N", "at most so many objects, or points where there are no objects", count),
  attributes: list("NAME,…", "bring only these along (default: all; '' for none)", (name) => name),
};

/** And what to do with it. */
export const vectorOptions = {
  ...selectionOptions,
  requests: value("N", "of particles in one file: at most about N requests, for more bytes", count),
  count: flag("how much it is, and nothing else"),
  plan: flag("what it would cost at most; no data is read"),
};

type Given = Values<typeof vectorOptions>;

/** Where the result goes, and as what. */
export interface Target {
  readonly file: string;
  /** "json", "ndjson", or the id of a kind of file. */
  readonly extension: string;
  /** A file of other software. */
  readonly kind?: FileTarget | undefined;
  /** A store, or particles with their tree: the format. */
  readonly store?: string | undefined;
  readonly ascii?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly overwrite: boolean;
}

export async function getVectors(
  dataset: VectorDataset,
  given: Given,
  target: Target,
  session: Session,
): Promise<ExitCode> {
  return ifThere(given, session, async () => {
    const parametric = await dataset.parametric?.({ signal: session.signal });
    if (given.geometry === "parametric" || (parametric !== undefined && isNothingElse(dataset, given)))
      return getParametric(parametric, given, target, session);
    const selection = dataset.select(queryOf(given));
    if (given.plan) await tellPlan(selection, given, session);
    else if (given.count) await tellCount(selection, session);
    else if (target.store !== undefined) await writeStore(selection, given, target, session);
    else if (target.kind !== undefined) await writeFile(dataset, selection, given, target, target.kind, session);
    else await write(dataset, selection, given, target, session);
    for (const note of dataset.notes)
      if (target.kind === undefined || dataset.losses?.includes(note) !== true) session.output.remark(`note: ${note}`);
    if (parametric !== undefined && given.geometry === undefined)
      session.output.remark(`note: there are parametric objects as well; --geometry parametric has them`);
    return 0;
  });
}

/** Does some work; where an id that was asked for by name is not there, that is exit code 1. */
export async function ifThere(
  { object, group }: Pick<Given, "object" | "group">,
  { output }: Session,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if ((object ?? group) === undefined || !(error instanceof NotFound)) throw error;
    output.remark(`octavo: ${error.message}`);
    return 1;
  }
}

/** A store of parametric objects alone has a level that is empty. */
const isNothingElse = ({ levels }: VectorDataset, { geometry }: Given): boolean =>
  geometry === undefined && levels.every(({ vertices }) => vertices === 0);

const PARAMETRIC = ["json", "ndjson", "csv"] as const;

async function getParametric(
  parametric: Parametric | undefined,
  given: Given,
  target: Target,
  session: Session,
): Promise<ExitCode> {
  const { output } = session;
  const { geometry: _, object, group, limit, count, ...others } = given;
  const wrong = Object.keys(vectorOptions).find((name) => given[name as keyof Given] && name in others);
  if (wrong !== undefined)
    throw new InvalidInput(`--${wrong} has no meaning for parametric objects, which lie outside of levels and space`);
  if (parametric === undefined) throw new InvalidInput("there are no parametric objects");
  const extension = PARAMETRIC.find((own) => own === target.extension);
  if (extension === undefined)
    throw new InvalidInput(`parametric objects go to ${PARAMETRIC.join(", ")}, not to ${target.extension}`);
  if (!count) await writeParametric(parametric, { object, group, limit }, { ...target, extension }, session);
  else {
    const objects = chosenOf(parametric, { object, group, limit }).length;
    if (output.json) output.document({ objects });
    else output.line(counted(objects, "parametric object"));
  }
  return 0;
}

export function queryOf(given: Values<typeof selectionOptions>): Query {
  const { geometry, level, resolution, object, group, box, sphere, nearest, where, clip, limit } = given;
  if (clip !== undefined && box === undefined && sphere === undefined && where === undefined)
    throw new InvalidInput("--clip cuts to a region: say which, with --box or --sphere");
  return {
    geometry,
    level,
    maxVertices: given["max-vertices"],
    resolution: resolution?.length === 1 ? resolution[0] : undefined,
    object,
    group,
    box,
    sphere,
    nearest,
    where,
    clip,
    limit,
  };
}

async function tellPlan(
  selection: Selection,
  { attributes, requests }: Given,
  { output, signal }: Session,
): Promise<void> {
  const level = await selection.level({ signal });
  const counts = await selection.count({ signal });
  const plan = await selection.plan({ signal, attributes, requests });
  if (output.json)
    return output.document({ level, ...plan, atMost: { vertices: counts.vertices, objects: counts.objects } });
  const most = counts.exact ? "" : "at most ";
  output.line(`level ${level}: ${most}${countsText(counts)}`);
  const size = plan.bytes === 0 && !plan.exact ? "of a size that the store does not tell" : bytesText(plan.bytes);
  output.line(`${plan.exact ? "" : "about "}${counted(plan.requests, "request")}, ${size}`);
}

async function tellCount(selection: Selection, { output, signal }: Session): Promise<void> {
  const level = await selection.level({ signal });
  const { vertices, objects } = await selection.count({ signal, exact: true });
  if (output.json) output.document({ level, vertices, objects });
  else output.line(`level ${level}: ${countsText({ vertices, objects })}`);
}

/** "1 vertex in 1 object"; where there are no objects, nothing about them. */
export const countsText = ({ vertices, objects }: { readonly vertices: number; readonly objects: number }): string =>
  `${counted(vertices, "vertex", "vertices")}${objects === 0 ? "" : ` in ${counted(objects, "object")}`}`;

/** The first batch is there before the output is: a query that is wrong leaves nothing behind. */
async function write(
  dataset: VectorDataset,
  selection: Selection,
  { attributes, requests }: Given,
  { file, extension, overwrite }: Target,
  session: Session,
): Promise<void> {
  const { signal } = session;
  const units = dataset.axes.map(({ unit }) => unit ?? null);
  const writer = itemsWriter(extension === "ndjson", {
    level: await selection.level({ signal }),
    geometry: selection.query.geometry ?? dataset.geometries[0] ?? "points",
    axes: dataset.axes.map(({ name }) => name),
    ...(units.some((unit) => unit !== null) ? { units } : {}),
  });
  const answer = selection.batches({ signal, requests, attributes })[Symbol.asyncIterator]();
  let next = await answer.next();
  const tell = teller(selection, session);
  const sink = await openSink(file, overwrite, session);
  try {
    await sink.write(writer.head(next.value));
    for (; !next.done; next = await answer.next()) {
      for (const piece of writer.batch(next.value)) await sink.write(piece);
      await tell(next.value);
      signal.throwIfAborted();
    }
    await sink.write(writer.tail());
    signal.throwIfAborted();
    await sink.commit();
  } finally {
    await sink.abort();
    await answer.return?.();
  }
}

/** A file of other software, as by `convert`, of one level. */
async function writeFile(
  dataset: VectorDataset,
  selection: Selection,
  { attributes, requests }: Given,
  { file, overwrite, ascii, strict }: Target,
  kind: FileTarget,
  session: Session,
): Promise<void> {
  const { signal, report, output } = session;
  const query = {
    ...selection.query,
    level: await selection.level({ signal }),
    maxVertices: undefined,
    resolution: undefined,
  };
  const feed = await feedOf(dataset, query, { signal, attributes, requests, onProgress: report.update });
  const sink = await openSink(file, overwrite, session);
  const gzip = /\.gz$/i.test(file);
  const held = file === "-" && strict === true ? heldBack(sink) : sink;
  const { losses } = await convertToFile(feed, kind, held, { signal, ascii, strict, gzip, scratch: temporary.file });
  for (const loss of losses) output.remark(`${output.yellow("loss")} ${loss}`);
}

/** What `convert` makes of the same question. */
async function writeStore(
  selection: Selection,
  { attributes }: Given,
  { file, store, overwrite, ascii, strict }: Target,
  { signal, report, output }: Session,
): Promise<void> {
  if (file === "-")
    throw new InvalidInput(`${store} is more than a pipe takes`, { hint: "say where it goes: -o OUT.zv" });
  const { convert } = await import("../node.js");
  const { createPool } = await import("../worker/pool.js");
  const work = { attributes, overwrite, strict, ascii: ascii || undefined, signal, onProgress: report.update };
  const { losses } = await convert(selection, file, { ...work, to: store, pool: createPool() });
  report.end();
  for (const loss of losses) output.remark(`${output.yellow("loss")} ${loss}`);
}

/** How far it is. How much there will be is asked only when it takes long: that has a price of its own. */
function teller(selection: Selection, { report, signal }: Session): (batch: Batch) => Promise<void> {
  const started = performance.now();
  let done = 0;
  let total: number | undefined;
  return async ({ positions, dims, repeats }) => {
    if (repeats !== true) done += positions.length / dims;
    if (performance.now() - started < 1000) return;
    total ??= (await selection.count({ signal })).vertices;
    report.update({ done, total: Math.max(done, total), unit: "vertices" });
  };
}

/** Options that mean nothing for what is there are a wrong call, not silence. */
export function refuse(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
  url: string,
  kind: string,
): void {
  const wrong = names.find((name) => given[name] !== undefined && given[name] !== false);
  if (wrong !== undefined) throw new InvalidInput(`--${wrong} has no meaning for ${url}, which is ${kind}`);
}
