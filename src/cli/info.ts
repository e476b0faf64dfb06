/** `octavo info`: what is there, without reading data. */

import { dtypeText, isFixed } from "../bytes/dtype.js";
import type { Json } from "../bytes/json.js";
import type { CodecSpec } from "../codec/types.js";
import { toJson } from "../convert/json/text.js";
import { InvalidInput, OctavoError } from "../errors.js";
import type { ArrayDataset, Dataset, GroupDataset } from "../model/dataset.js";
import { count, flag, value } from "./args.js";
import { describeVectors } from "./info-vectors.js";
import { vectorRows } from "./info-vectors-rows.js";
import { bytesText, counted, countText, type Output, table } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, remarkForbidden, skipOption, sourceOptions } from "./source.js";
import { tableOf, tableOptions } from "./table-options.js";
import { elementValue } from "./values.js";
import { type Session, verb } from "./verb.js";

/** Counting stops here: a store of millions of chunks should still answer at once. */
export const COUNTED = 50_000;

export const info = verb({
  about:
    "For a group, the tree below it; for geometry, its levels and attributes. Sizes are counted where the store can be " +
    "listed. Data are not read, except with --full, and of geometry one chunk of its attributes.",
  options: {
    ...sourceOptions,
    ...tableOptions,
    ...skipOption,
    depth: value("N", "how deep to follow groups (default 5)", count),
    full: flag("of geometry: read all of it, for exact counts and the ranges of attributes"),
    progress: progressOption,
  },
  examples: [
    ["octavo info data.zarr", "format, shape, chunks, type, codecs, sizes, attributes"],
    ["octavo info https://host/tracts.zv --json", "levels, counts, bounds and attributes, for programs"],
    ["octavo info 's3://bucket/data.zarr?region=eu-west-1'", "in an object store"],
  ],
  async run([url], options, session) {
    const source = await findSource(url!, options, session, { table: tableOf(options) });
    const dataset = await source.match.open();
    const { output } = session;
    if (options.full && dataset.kind !== "vectors")
      throw new InvalidInput(
        `--full is about geometry, and ${url} is ${dataset.kind === "array" ? "an array" : "a group"}`,
      );
    const node =
      dataset.kind === "vectors"
        ? await describeVectors(dataset, source, options.full, session)
        : await describe(dataset, options.depth ?? 5, session);
    session.report.end();
    if (output.json) output.document({ ...node, ...source.forbidden() });
    else {
      output.line(`${output.bold(source.match.summary)}  ${output.dim(dataset.url)}`);
      const found = node.kind === "vectors" ? vectorRows(node, output) : rows(node, output);
      for (const line of table(found)) output.line(`  ${line}`);
      remarkForbidden(source, output);
    }
    return 0;
  },
});

type Node = ArrayInfo | GroupInfo | { readonly kind: "unreadable"; readonly error: string };

export interface Common {
  readonly url: string;
  readonly format: string;
  readonly version: string;
  readonly attributes: Dataset["attributes"];
  readonly notes: readonly string[];
}

interface ArrayInfo extends Common {
  readonly kind: "array";
  readonly shape: readonly number[];
  readonly dimensionNames?: readonly (string | null)[];
  readonly dtype: string;
  readonly chunkShape: readonly number[];
  /** Inside a shard. */
  readonly innerChunkShape?: readonly number[];
  /** Of the elements of a chunk, where its codecs are known. */
  readonly order?: "C" | "F" | readonly number[];
  readonly fill: unknown;
  readonly codecs?: readonly CodecSpec[];
  /** undefined where elements have no fixed size. */
  readonly decodedBytes?: number;
  readonly chunks: {
    readonly grid: number;
    readonly stored?: number;
    readonly bytes?: number;
    readonly stopped?: true;
  };
  readonly ratio?: number;
  /** The scales, where there are several, finest first. */
  readonly levels?: readonly { readonly key: Json; readonly shape: readonly number[] }[];
}

interface GroupInfo extends Common {
  readonly kind: "group";
  /** null: neither the metadata nor the store can list them. */
  readonly children: { readonly [name: string]: Node } | null;
}

async function describe(
  dataset: ArrayDataset | GroupDataset,
  depth: number,
  session: Session,
): Promise<ArrayInfo | GroupInfo> {
  const { url, format, version, attributes, notes } = dataset;
  const shared = { url, format, version, attributes, notes };
  if (dataset.kind === "group") return { ...shared, kind: "group", children: await below(dataset, depth, session) };

  const { shape, chunkShape, dtype, fill, dimensionNames, codecs } = dataset;
  const inner = codecs?.find(({ name }) => name === "sharding_indexed")?.configuration.chunk_shape;
  const decodedBytes = isFixed(dtype) ? shape.reduce((product, length) => product * length, dtype.size) : undefined;
  const chunks = await countChunks(dataset, session.signal);
  const whole = chunks.stopped !== true && chunks.stored === chunks.grid && (chunks.bytes ?? 0) > 0;
  return {
    ...shared,
    kind: "array",
    shape,
    ...(dimensionNames === undefined ? {} : { dimensionNames }),
    dtype: dtypeText(dtype),
    chunkShape,
    ...(inner === undefined ? {} : { innerChunkShape: inner as number[] }),
    ...(codecs === undefined ? {} : { order: orderOf(codecs, shape.length) }),
    fill: elementValue(dtype, fill),
    ...(codecs === undefined ? {} : { codecs }),
    ...(decodedBytes === undefined ? {} : { decodedBytes }),
    chunks,
    ...(whole && decodedBytes !== undefined ? { ratio: round(decodedBytes / chunks.bytes!) } : {}),
    ...((dataset.levels?.length ?? 1) > 1
      ? { levels: dataset.levels!.map(({ attributes, shape }) => ({ key: attributes.key ?? null, shape })) }
      : {}),
  };
}

async function below(group: GroupDataset, depth: number, session: Session): Promise<GroupInfo["children"]> {
  if (depth <= 0) return null;
  const children = await group.children({ signal: session.signal });
  if (children === undefined) return null;
  const found: [string, Node][] = [];
  for (const { name } of children) {
    try {
      const child = await group.open(name, { signal: session.signal });
      found.push([name, await describe(child, depth - 1, session)]);
    } catch (error) {
      // One damaged node must not hide its neighbours.
      if (!(error instanceof OctavoError)) throw error;
      found.push([name, { kind: "unreadable", error: error.message }]);
    }
  }
  return Object.fromEntries(found);
}

async function countChunks(array: ArrayDataset, signal: AbortSignal): Promise<ArrayInfo["chunks"]> {
  const grid = array.shape.reduce((product, length, i) => product * Math.ceil(length / array.chunkShape[i]!), 1);
  const listing = array.stored?.({ signal });
  if (listing === undefined) return { grid };
  let [stored, bytes] = [0, 0];
  for await (const chunk of listing) {
    stored++;
    bytes += chunk.size ?? Number.NaN;
    if (stored === COUNTED) return { grid, stored, bytes, stopped: true };
  }
  return { grid, stored, ...(Number.isNaN(bytes) ? {} : { bytes }) };
}

/** C unless the chunks are transposed. */
function orderOf(codecs: readonly CodecSpec[], rank: number): NonNullable<ArrayInfo["order"]> {
  const order = codecs.find(({ name }) => name === "transpose")?.configuration.order as readonly number[] | undefined;
  if (order === undefined || order.every((axis, i) => axis === i)) return "C";
  return order.every((axis, i) => axis === rank - 1 - i) ? "F" : order;
}

const round = (ratio: number): number => Number(ratio.toPrecision(3));

export const attributeRows = ({ attributes }: Pick<Common, "attributes">): string[][] =>
  Object.entries(attributes).map(([name, held], i) => [
    i === 0 ? "attributes" : "",
    `${name}: ${clipped(toJson(held))}`,
  ]);
export const noteRows = ({ notes }: Pick<Common, "notes">, output: Output): string[][] =>
  notes.map((note) => [output.yellow("note"), note]);

function rows(node: ArrayInfo | GroupInfo, output: Output): string[][] {
  const [attributes, notes] = [attributeRows(node), noteRows(node, output)];
  if (node.kind === "group") return [...attributes, ...notes, ...treeRows(node, "", output)];
  const { shape, dimensionNames, chunkShape, innerChunkShape, codecs, order, decodedBytes } = node;
  const names = dimensionNames === undefined ? "" : ` (${dimensionNames.map((name) => name ?? "–").join(", ")})`;
  return [
    ["shape", `${shapeText(shape)}${names}`],
    ["type", node.dtype],
    [
      "chunks",
      innerChunkShape ? `${shapeText(innerChunkShape)} in shards of ${shapeText(chunkShape)}` : shapeText(chunkShape),
    ],
    ...(order === undefined ? [] : [["order", typeof order === "string" ? order : `transposed ${order.join(", ")}`]]),
    ["fill", clipped(toJson(node.fill))],
    ...(codecs === undefined ? [] : [["codecs", codecs.map(codecText).join(" → ")]]),
    ...(decodedBytes === undefined ? [] : [["decoded", bytesText(decodedBytes)]]),
    ["stored", storedText(node)],
    ...(node.levels ?? []).map(({ key, shape }, level) => [
      level === 0 ? "levels" : "",
      `${level}  ${key}  ${shapeText(shape)}`,
    ]),
    ...attributes,
    ...notes,
  ];
}

function storedText(node: ArrayInfo): string {
  const { chunks, ratio, innerChunkShape } = node;
  const what = innerChunkShape === undefined ? "chunk" : "shard";
  const { grid, stored, bytes, stopped } = chunks;
  if (stored === undefined) return `unknown of ${counted(grid, what)}: this store cannot be listed`;
  const size = bytes === undefined ? "" : `, ${bytesText(bytes)}`;
  return `${stopped ? "more than " : ""}${countText(stored)} of ${counted(grid, what)}${size}${ratio === undefined ? "" : `, ratio ${ratio}`}`;
}

function treeRows(group: GroupInfo, indent: string, output: Output): string[][] {
  if (group.children === null) return [[`${indent}…`, output.dim("not listed")]];
  return Object.entries(group.children).flatMap(([name, node]) => {
    if (node.kind === "unreadable") return [[indent + name, output.red(node.error)]];
    if (node.kind === "group") return [[`${indent}${name}/`, ""], ...treeRows(node, `${indent}  `, output)];
    return [
      [indent + name, `${node.dtype}  ${shapeText(node.shape)}  ${output.dim(`chunks ${shapeText(node.chunkShape)}`)}`],
    ];
  });
}

export const shapeText = (shape: readonly number[]): string => (shape.length === 0 ? "scalar" : shape.join(" × "));

/** "blosc(cname: lz4, clevel: 5)"; chains inside a codec in brackets. */
export function codecText({ name, configuration }: CodecSpec): string {
  const parts = Object.entries(configuration).map(([key, held]) => {
    const chain =
      Array.isArray(held) && held.every((step) => typeof step === "object" && step !== null && "name" in step);
    if (!chain) return `${key}: ${typeof held === "string" ? held : toJson(held)}`;
    return `${key}: [${(held as Partial<CodecSpec>[]).map((step) => codecText({ name: step.name!, configuration: step.configuration ?? {} })).join(" → ")}]`;
  });
  return parts.length === 0 ? name : `${name}(${parts.join(", ")})`;
}

export const clipped = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
