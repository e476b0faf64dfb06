/** What `octavo info` says of geometry, as rows for people. */

import { toJson } from "../convert/json/text.js";
import type { Geometry } from "../model/vectors.js";
import { attributeText } from "./columns.js";
import { attributeRows, clipped, codecText, noteRows, shapeText } from "./info.js";
import { type Attribute, DOMAINS, type LevelInfo, type VectorInfo } from "./info-vectors.js";
import { axisRows, rangeText, sizeText } from "./levels.js";
import { bytesText, counted, countText, type Output, table } from "./output.js";

export function vectorRows(node: VectorInfo, output: Output): string[][] {
  const { crs, levels, schema, groups, parametric, headers } = node;
  const whole = levels.filter(({ error }) => error === undefined);
  const attributes = DOMAINS.flatMap((domain) => {
    const rows = (schema?.[domain] ?? []).map((info) => attributeRow(info, whole.length, output));
    return titled(`per ${domain}`, table(rows));
  });
  const types = Object.entries(parametric ?? {}).map(([type, count]) => counted(count, type));
  return [
    ["kind", node.geometries.map((geometry) => kindText(geometry, node.links[geometry])).join(", ") || "unknown"],
    ...titled("axes", table(axisRows(node))),
    ...(crs === null ? [] : [["crs", clipped(toJson(crs))]]),
    ...titled("levels", levelLines(levels, output)),
    ...(whole[0]?.codecs === undefined ? [] : [["codecs", encodingText(whole[0])]]),
    ...levels.flatMap(({ level, error }) => (error === undefined ? [] : [[`level ${level}`, output.red(error)]])),
    ...attributes,
    ...(groups === null
      ? []
      : [["groups", `${countText(groups.count)}, with ${counted(groups.members, "member")} in all`]]),
    ...(types.length === 0 ? [] : [["parametric", `${types.join(", ")}  ${output.dim("get --geometry parametric")}`]]),
    ...(headers.length === 0 ? [] : [["headers", headers.join(", ")]]),
    ...attributeRows(node),
    ...noteRows(node, output),
  ];
}

/** Lines under one title. */
const titled = (title: string, lines: readonly string[]): string[][] =>
  lines.map((line, i) => [i === 0 ? title : "", line]);

function kindText(geometry: Geometry, width: number | undefined): string {
  if (width === undefined || geometry !== "mesh") return geometry;
  return `mesh of ${{ 3: "triangles", 4: "quads" }[width] ?? `faces with ${width} corners`}`;
}

function attributeRow({ range, levels, ...info }: Attribute, of: number, output: Output): string[] {
  const where = levels.length === of ? "" : `only on level${levels.length === 1 ? "" : "s"} ${levels.join(", ")}`;
  const values = range === undefined ? [] : [rangeText(range.min, range.max)];
  return [info.name, output.dim(attributeText(info)), ...values, where];
}

interface Shown {
  readonly title: string;
  /** Numbers line up at their end. */
  readonly right?: true;
  /** Off where it would say nothing. */
  readonly show?: boolean;
  of(level: LevelInfo): string;
}

/** A line of titles, and one for each level. */
function levelLines(levels: readonly LevelInfo[], output: Output): string[] {
  const known = levels.filter(({ error }) => error === undefined);
  const number = (value: number | undefined): string => (value === undefined ? "?" : countText(value));
  const numbers = (title: "objects" | "links" | "groups"): Shown => ({
    title,
    right: true,
    show: known.some(({ [title]: count = 0 }) => count > 0),
    of: ({ [title]: count, objectsExact }) =>
      count === undefined ? "" : `${title === "objects" && objectsExact === false ? "≤ " : ""}${countText(count)}`,
  });
  const all: readonly Shown[] = [
    { title: "", right: true, of: ({ level }) => String(level) },
    { title: "vertices", right: true, of: ({ vertices }) => number(vertices) },
    numbers("objects"),
    numbers("links"),
    numbers("groups"),
    { title: "chunks", right: true, of: ({ chunks }) => number(chunks) },
    {
      title: "chunk size",
      show: known.some(({ chunkShape }) => sizeText(chunkShape) !== ""),
      of: ({ chunkShape }) => sizeText(chunkShape),
    },
    {
      title: "bin size",
      show: known.some(({ chunkShape, binShape }) => sizeText(chunkShape) !== sizeText(binShape)),
      of: ({ binShape }) => sizeText(binShape),
    },
    { title: "stored", show: known.some((level) => storedText(level) !== ""), of: storedText },
    { title: "made", show: known.some(({ parent }) => parent !== undefined), of: madeText },
  ];
  const columns = all.filter(({ show = true }) => show);
  const rows = [
    columns.map(({ title }) => output.dim(title)),
    ...known.map((level) => columns.map(({ of }) => of(level))),
  ];
  const right = columns.flatMap((column, i) => (column.right ? [i] : []));
  return known.length === 0 ? [] : table(rows, right);
}

/** Of the finest level; the others are mostly the same. */
function encodingText({ codecs = [], shard }: LevelInfo): string {
  const chain = codecs.map((codec) => codecText({ ...codec, configuration: codec.configuration ?? {} })).join(" → ");
  return shard === undefined ? chain : `${chain}, in shards of ${shapeText(shard)} chunks`;
}

function storedText({ stored }: LevelInfo): string {
  if (stored === undefined || Number.isNaN(stored.bytes)) return "";
  return `${stored.stopped ? "more than " : ""}${bytesText(stored.bytes)} in ${counted(stored.keys, "file")}`;
}

const madeText = ({ parent, method }: LevelInfo): string =>
  parent === undefined ? "" : `from level ${parent}${method === undefined ? "" : ` by ${method}`}`;
