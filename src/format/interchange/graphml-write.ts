/** A graph as GraphML: first all keys and nodes, then the edges, which are put aside meanwhile. */
import { shortest } from "../../bytes/shortest.js";
import { type AttributeInfo, type Column, lostUnit } from "../../model/attributes.js";
import type { Batch, Columns } from "../../model/vectors.js";
import { widened } from "../../query/columns.js";
import type { Sink } from "../../store/types.js";
import { NAMES, namesOf } from "./nodes.js";
import { spoolIn } from "./spool.js";
import { AS_GRAPH, endsOf, lossesOf, objectOfVertices } from "./surface-write.js";
import { textSink } from "./text-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";
import { escapeXml } from "./xml.js";

const KINDS = ["graph", "skeletons", "lines", "polylines", "streamlines"] as const;

export async function writeGraphml(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const losses = lossesOf(data, "GraphML", KINDS, [], AS_GRAPH);
  const names: string[] = Object.values(NAMES);
  const nodeKeys = keysOf(
    data.schema.vertex.filter(({ name }) => !names.includes(name) && name !== "object_id"),
    losses,
  );
  const edgeKeys = keysOf(data.schema.link, losses);
  const text = textSink(sink);
  const aside = spoolIn(options.scratch);
  const edges = textSink({ write: (bytes) => aside.write(bytes) });
  const directed = data.headers.get("graphml")?.directed === true || data.geometry === "skeletons";
  await text.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n');
  const coordinates = ["x", "y", "z"].map((name) => ({ name, type: "double" }));
  let keys = 0;
  const declare = async (
    domain: "node" | "edge",
    list: readonly { readonly name: string; readonly type: string }[],
  ): Promise<string[]> => {
    const ids = list.map(() => `d${keys++}`);
    for (const [i, { name, type }] of list.entries())
      await text.write(`<key id="${ids[i]}" for="${domain}" attr.name="${escapeXml(name)}" attr.type="${type}"/>\n`);
    return ids;
  };
  const axisIds = await declare("node", coordinates);
  const objectIds = await declare("node", [{ name: "object_id", type: "long" }]);
  const nodeIds = await declare("node", nodeKeys);
  const edgeIds = await declare("edge", edgeKeys);
  await text.write(`<graph edgedefault="${directed ? "directed" : "undirected"}">\n`);
  let [vertices, objects, last] = [0, 0, 0];
  for await (const batch of data.batches({ signal: options.signal, limits: options.limits })) {
    const count = batch.positions.length / batch.dims;
    if (batch.repeats === true) {
      losses.add("edges between objects of different batches");
      continue;
    }
    const name = namesOf(batch.vertexColumns, count, last);
    const owner = objectOfVertices(batch);
    const values = valuesOf(nodeKeys, batch.vertexColumns);
    for (let row = 0; row < count; row++) {
      let line = `<node id="${escapeXml(name(row))}">`;
      for (let axis = 0; axis < 3; axis++)
        line += `<data key="${axisIds[axis]}">${batch.positions[3 * row + axis]}</data>`;
      line += `<data key="${objectIds[0]}">${owner[row]}</data>`;
      await text.write(`${line}${dataText(nodeIds, values, row)}</node>\n`);
    }
    await writeEdges(edges, batch, name, edgeIds, valuesOf(edgeKeys, batch.links?.columns ?? new Map()));
    vertices += count;
    objects += batch.ids.length;
    last += count;
  }
  await text.end();
  await edges.end();
  await aside.pour(sink);
  await text.write("</graph>\n</graphml>\n");
  await text.end();
  return { vertices, objects, losses: [...losses] };
}

async function writeEdges(
  edges: ReturnType<typeof textSink>,
  batch: Batch,
  name: (row: number) => string,
  ids: readonly string[],
  values: readonly ((row: number) => string | undefined)[],
): Promise<void> {
  const ends = endsOf(batch);
  for (let edge = 0; 2 * edge < ends.length; edge++) {
    const [source, target] = [name(ends[2 * edge]!), name(ends[2 * edge + 1]!)];
    const inner = dataText(ids, values, edge);
    const tag = `<edge source="${escapeXml(source)}" target="${escapeXml(target)}"`;
    await edges.write(inner === "" ? `${tag}/>\n` : `${tag}>${inner}</edge>\n`);
  }
}

interface KeyOf {
  readonly name: string;
  readonly type: string;
  readonly info: AttributeInfo;
  readonly channel: number;
}

/** A key for each channel of each attribute. */
function keysOf(infos: readonly AttributeInfo[], losses: Set<string>): KeyOf[] {
  return infos.flatMap((info) => {
    const { dtype, channels, categories } = info;
    const type =
      categories !== undefined || ["string", "utf32", "bytes"].includes(dtype.kind)
        ? "string"
        : dtype.kind === "bool"
          ? "boolean"
          : dtype.kind === "float"
            ? dtype.size === 8
              ? "double"
              : "float"
            : dtype.kind === "int" || (dtype.kind === "uint" && dtype.size < 8)
              ? dtype.size < 4 || (dtype.size === 4 && dtype.kind === "int")
                ? "int"
                : "long"
              : undefined;
    if (type === undefined) {
      losses.add(`the attribute ${info.name}, whose type GraphML does not have`);
      return [];
    }
    for (const loss of lostUnit(info)) losses.add(loss);
    if (channels > 1)
      losses.add(`that the ${channels} numbers of ${info.name} are one value: GraphML has them as data of their own`);
    const title = (channel: number): string =>
      channels === 1 ? info.name : `${info.name}_${info.channelNames?.[channel] ?? channel}`;
    return Array.from({ length: channels }, (_, channel) => ({ name: title(channel), type, info, channel }));
  });
}

/** How to read each key of a row; undefined where it has no value. */
function valuesOf(keys: readonly KeyOf[], columns: Columns): ((row: number) => string | undefined)[] {
  return keys.map(({ info: { name }, channel }) => {
    const column = widened(columns.get(name));
    return column === undefined ? () => undefined : (row) => valueText(column, row * column.info.channels + channel);
  });
}

function valueText({ info, values }: Column, at: number): string | undefined {
  const value = values[at]!;
  const { dtype, categories, absent } = info;
  if (categories !== undefined) return categories[Number(value)];
  if (value === absent || Number.isNaN(value)) return undefined;
  if (dtype.kind === "bool") return value === 0 ? "false" : "true";
  return dtype.kind === "float" && dtype.size === 4 ? `${shortest(value as number)}` : `${value}`;
}

const dataText = (
  ids: readonly string[],
  values: readonly ((row: number) => string | undefined)[],
  row: number,
): string => {
  let text = "";
  for (let i = 0; i < ids.length; i++) {
    const value = values[i]!(row);
    if (value !== undefined) text += `<data key="${ids[i]}">${escapeXml(value)}</data>`;
  }
  return text;
};
