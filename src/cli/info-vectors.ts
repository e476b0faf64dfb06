/** `octavo info` of geometry: from documents and indexes; data are read only where the caller wants all of it measured. */
import { OctavoError } from "../errors.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { Axis, Batch, Columns, Domain, Geometry, VectorDataset, VectorLevel } from "../model/vectors.js";
import { attributeText, type Range, widen } from "./columns.js";
import { attributeRows, COUNTED, type Common, clipped, noteRows, shapeText } from "./info.js";
import { bytesText, countText, type Output, toJson } from "./output.js";
import type { Place } from "./source.js";
import { dtypeText, shortest } from "./values.js";
import type { Session } from "./verb.js";

const DOMAINS = ["vertex", "link", "fragment", "object", "group"] as const satisfies readonly Domain[];

export interface VectorInfo extends Common {
  readonly kind: "vectors";
  readonly geometries: readonly Geometry[];
  readonly axes: readonly Axis[];
  readonly bounds: VectorDataset["bounds"];
  readonly crs: VectorDataset["crs"] | null;
  readonly levels: readonly LevelInfo[];
  /** Of the first level. */
  readonly schema: { readonly [D in Domain]: readonly Attribute[] } | null;
  readonly groups: { readonly count: number; readonly members: number } | null;
  readonly headers: readonly string[];
}

interface Attribute extends Omit<AttributeInfo, "dtype"> {
  readonly dtype: string;
  readonly range: Range | undefined;
}

interface LevelInfo extends VectorLevel {
  /** Where there are too many objects to look at each: the rows of the index, of which some may be empty. */
  readonly objectsExact?: boolean | undefined;
  readonly chunks?: number | undefined;
  readonly stored?: Stored | undefined;
  readonly error?: string | undefined;
}

interface Stored {
  keys: number;
  /** NaN, in JSON null: the store does not say. */
  bytes: number;
  stopped: boolean;
}

export async function describeVectors(
  dataset: VectorDataset,
  place: Pick<Place, "store" | "at">,
  full: boolean,
  session: Session,
): Promise<VectorInfo> {
  const { signal } = session;
  const { url, format, version, attributes, geometries, axes, bounds, crs } = dataset;
  const stored = await countStored(place, signal);
  const levels: LevelInfo[] = [];
  const ranges = new Map<string, Range>();
  for (const { level, ...said } of dataset.levels) {
    try {
      const known = await dataset.describe(level, { signal });
      const counts = await countLevel(dataset, level, full, signal);
      levels.push({ ...known, ...counts, stored: stored.get(known.path) });
    } catch (error) {
      if (!(error instanceof OctavoError)) throw error;
      levels.push({ level, ...said, error: error.message });
    }
  }
  const first = levels.find(({ error }) => error === undefined)?.level;
  const schema = first === undefined ? undefined : await dataset.schema(first, { signal });
  const groups = first === undefined ? [] : await dataset.groups(first, { signal });
  if (full && first !== undefined) await measure(dataset, first, ranges, session);
  if (full && groups.length > 0) widenAll(ranges, "group", await dataset.groupColumns(first, { signal }));
  const described = (domain: Domain): Attribute[] =>
    schema![domain].map((info) => ({
      ...info,
      dtype: dtypeText(info.dtype),
      range: ranges.get(`${domain}.${info.name}`),
    }));
  return {
    url,
    format,
    version,
    kind: "vectors",
    geometries,
    axes,
    bounds,
    crs: crs ?? null,
    levels,
    schema: schema === undefined ? null : describeAll(described),
    groups:
      groups.length === 0 ? null : { count: groups.length, members: groups.reduce((sum, { size }) => sum + size, 0) },
    headers: [...(await dataset.headers({ signal })).keys()],
    attributes,
    notes: [...dataset.notes], // the last: reading the rest may have added some
  };
}

const describeAll = <T>(of: (domain: Domain) => T): { readonly [D in Domain]: T } => ({
  vertex: of("vertex"),
  link: of("link"),
  fragment: of("fragment"),
  object: of("object"),
  group: of("group"),
});

/** Keys and bytes by the first folder below, where the store can list; of all together at most so many are counted. */
async function countStored({ store, at }: Pick<Place, "store" | "at">, signal: AbortSignal) {
  const found = new Map<string | undefined, Stored>();
  if (!store.can.list) return found;
  let listed = 0;
  for await (const { key, size = Number.NaN } of store.list(at, { signal })) {
    if (listed++ === COUNTED) {
      for (const known of found.values()) known.stopped = true;
      break;
    }
    const [path] = key.slice(at.length).split("/", 1);
    const known = found.get(path) ?? { keys: 0, bytes: 0, stopped: false };
    known.keys++;
    known.bytes += size;
    found.set(path, known);
  }
  return found;
}

/** Shared fragments are in several objects: vertices are counted by chunk, where the caller wants to know. */
async function countLevel(dataset: VectorDataset, level: number, full: boolean, signal: AbortSignal) {
  const source = await dataset.source(level, { signal });
  const { count: chunks } = await source.chunks({ signal });
  const all = Array.from({ length: full ? chunks : 0 }, (_, chunk) => chunk);
  const vertices = full && { vertices: (await source.counts(all, { signal })).reduce((sum, own) => sum + own, 0) };
  if (source.objects === undefined) return { chunks, ...vertices };
  const { rows } = source.objects;
  if (rows > COUNTED && !full) return { chunks, objects: rows, objectsExact: false };
  const objects = (await dataset.objectIds(level, { signal })).length;
  return { chunks, ...vertices, objects, objectsExact: true };
}

/** The ranges of all attributes: every batch of the level is read. */
async function measure(
  dataset: VectorDataset,
  level: number,
  ranges: Map<string, Range>,
  { signal, report }: Session,
): Promise<void> {
  const { vertices = 0 } = await dataset.describe(level, { signal });
  let done = 0;
  for await (const batch of dataset.select({ level }).batches({ signal })) {
    widenBatch(ranges, batch);
    done += batch.positions.length / batch.dims;
    report.update({ done, total: Math.max(done, vertices), unit: "vertices" });
  }
}

function widenBatch(ranges: Map<string, Range>, { vertexColumns, links, fragments, objectColumns }: Batch): void {
  widenAll(ranges, "vertex", vertexColumns);
  widenAll(ranges, "object", objectColumns);
  if (links !== undefined) widenAll(ranges, "link", links.columns);
  if (fragments !== undefined) widenAll(ranges, "fragment", fragments.columns);
}

function widenAll(ranges: Map<string, Range>, domain: Domain, columns: Columns): void {
  for (const [name, column] of columns) {
    const range = widen(ranges.get(`${domain}.${name}`), column);
    if (range !== undefined) ranges.set(`${domain}.${name}`, range);
  }
}

export function vectorRows(node: VectorInfo, output: Output): string[][] {
  const { geometries, axes, bounds, crs, levels, schema, groups, headers } = node;
  const attributes = DOMAINS.flatMap((domain) =>
    (schema?.[domain] ?? []).map(({ range, ...info }, i) => [
      i === 0 ? `per ${domain}` : "",
      `${info.name}  ${output.dim(attributeText(info))}${range === undefined ? "" : `  ${range.min} … ${range.max}`}`,
    ]),
  );
  return [
    ["kind", geometries.join(", ") || "unknown"],
    ["axes", axes.map(axisText).join(", ")],
    ["bounds", boxText(bounds)],
    ...(crs === null ? [] : [["crs", clipped(toJson(crs))]]),
    ...levels.flatMap((level) => levelRows(level, output)),
    ...attributes,
    ...(groups === null ? [] : [["groups", `${countText(groups.count)}, ${countText(groups.members)} members in all`]]),
    ...(headers.length === 0 ? [] : [["headers", headers.join(", ")]]),
    ...attributeRows(node),
    ...noteRows(node, output),
  ];
}

/** "0 … 10, 0 … 20"; what was computed as float32 in its digits. */
export const boxText = ({ min, max }: { readonly min: readonly number[]; readonly max: readonly number[] }): string => {
  const short = (value: number): number => (Math.fround(value) === value ? shortest(value, 4) : value);
  return min.map((low, axis) => `${short(low)} … ${short(max[axis]!)}`).join(", ");
};

const axisText = ({ name, type, unit }: Axis): string =>
  `${name}${type === "space" ? "" : ` (${type})`}${unit === undefined ? "" : ` in ${unit}`}`;

function levelRows({ level, error, ...known }: LevelInfo, output: Output): string[][] {
  const { vertices, objects, objectsExact, chunks, stored, chunkShape, binShape, parent, method } = known;
  if (error !== undefined) return [[`level ${level}`, output.red(error)]];
  const counts = [
    `${vertices === undefined ? "an unknown number of" : countText(vertices)} vertices`,
    ...(objects === undefined ? [] : [`${objectsExact ? "" : "up to "}${countText(objects)} objects`]),
    `${countText(chunks!)} chunks of ${shapeText(chunkShape)}`,
    ...(stored === undefined || Number.isNaN(stored.bytes)
      ? []
      : [`${stored.stopped ? "more than " : ""}${bytesText(stored.bytes)} in ${countText(stored.keys)} files`]),
  ];
  const made =
    parent === undefined
      ? []
      : [`made from level ${parent}${method === undefined ? "" : ` by ${method}`}, bins of ${shapeText(binShape)}`];
  return [[`level ${level}`, counts.join(", ")], ...made.map((text) => ["", output.dim(text)])];
}
