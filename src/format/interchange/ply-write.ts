/** Writes PLY: little-endian, or text. Counts stand in the header, so that rows wait in a spool. */
import { encodeUtf8 } from "../../bytes/text.js";
import type { NumericType } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { Sink } from "../../store/types.js";
import { plyType } from "./ply-header.js";
import { propertyNames } from "./ply-rows.js";
import { spoolIn } from "./spool.js";
import { FLOAT32, FLOAT64, INT32 } from "./surface.js";
import {
  AS_GRAPH,
  batchesOf,
  endsOf,
  type Lane,
  lanes,
  lossesOf,
  OBJECT_ID,
  objectOfVertices,
  shortText,
  tellBatch,
} from "./surface-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

/** A property of a row: where its values are, and how many each row has. */
interface Source {
  readonly type: NumericType;
  readonly values: NumericArray;
  readonly channels: number;
}

const KINDS = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"] as const;

export async function writePly(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const { geometry, schema } = data;
  const losses = lossesOf(data, "PLY", KINDS, [], AS_GRAPH);
  const batches = await batchesOf(data, options);
  const mesh = geometry === "mesh";
  const position = batches.double ? FLOAT64 : FLOAT32;
  const own = batches.named ? lanes([OBJECT_ID], losses, false) : [];
  const vertexLanes = [...own, ...lanes(schema.vertex, losses, false)];
  const linkLanes = lanes(schema.link, losses, false);
  const encode = options.ascii === true ? textRows : byteRows;
  const [vertexSpool, linkSpool] = [spoolIn(options.scratch), spoolIn(options.scratch)];
  let [vertices, links, objects] = [0, 0, 0];
  for await (const { batch, first } of batches) {
    const rows = batch.positions.length / 3;
    tellBatch(batch, losses);
    const columns = new Map(batch.vertexColumns);
    if (batches.named) columns.set(OBJECT_ID.name, { info: OBJECT_ID, values: objectOfVertices(batch) });
    const place = { type: position, values: batch.positions, channels: 3 };
    await vertexSpool.write(encode([place, ...sources(vertexLanes, columns, rows)], rows));
    vertices += rows;
    objects += batch.repeats ? 0 : batch.ids.length;
    if (geometry === "points") continue;
    const ends = Int32Array.from(endsOf(batch), (end) => end + first);
    const width = mesh ? 3 : 2;
    const count = ends.length / width;
    const list = { type: INT32, values: ends, channels: width };
    const more = sources(linkLanes, batch.links?.columns ?? new Map(), count);
    await linkSpool.write(encode([list, ...more], count, mesh));
    links += count;
  }
  const lines = ["ply", `format ${options.ascii === true ? "ascii" : "binary_little_endian"} 1.0`];
  const comments = data.headers.get("ply")?.comments;
  if (Array.isArray(comments))
    lines.push(...comments.filter((line): line is string => typeof line === "string" && !/[\r\n]/.test(line)));
  lines.push(`element vertex ${vertices}`, ...["x", "y", "z"].map((name) => `property ${plyType(position)} ${name}`));
  lines.push(...properties(vertexLanes, ["x", "y", "z"], losses));
  if (mesh) lines.push(`element face ${links}`, "property list uchar int vertex_indices");
  else if (geometry !== "points") lines.push(`element edge ${links}`, "property int vertex1", "property int vertex2");
  if (geometry !== "points") lines.push(...properties(linkLanes, ["vertex_indices", "vertex1", "vertex2"], losses));
  await sink.write(encodeUtf8(`${[...lines, "end_header"].join("\n")}\n`, "the PLY header"));
  await vertexSpool.pour(sink);
  await linkSpool.pour(sink);
  return { vertices, objects, losses: [...losses] };
}

const sources = (list: readonly Lane[], columns: Parameters<Lane["values"]>[0], rows: number): Source[] =>
  list.map(({ type, info, values }) => ({ type, values: values(columns, rows), channels: info.channels }));

/** Lines for the header; two attributes never have the same name. */
function properties(list: readonly Lane[], taken: readonly string[], losses: Set<string>): string[] {
  const names = new Set(taken);
  return list.flatMap(({ info, type }) => {
    let own = propertyNames(info.name, info.channels);
    while (own.some((name) => names.has(name))) own = own.map((name) => `${name}_`);
    if (own.length === 1 && own[0] !== info.name) losses.add(`the attribute "${info.name}" is called ${own[0]} in PLY`);
    for (const name of own) names.add(name);
    return own.map((name) => `property ${plyType(type)} ${name}`);
  });
}

/** `listed`: how many come first, in a byte. */
function byteRows(list: readonly Source[], rows: number, listed = false): Uint8Array {
  const lead = listed ? 1 : 0;
  const stride = list.reduce((sum, { type, channels }) => sum + type.size * channels, lead);
  const out = new Uint8Array(stride * rows);
  const view = new DataView(out.buffer);
  if (listed) for (let i = 0; i < rows; i++) out[i * stride] = list[0]!.channels;
  let start = lead;
  for (const { type, values, channels } of list)
    for (let c = 0; c < channels; c++) {
      putColumn(view, start, stride, rows, type, values as Float64Array, c, channels);
      start += type.size;
    }
  return out;
}

function putColumn(
  view: DataView,
  start: number,
  stride: number,
  rows: number,
  { kind, size }: NumericType,
  values: Float64Array,
  channel: number,
  channels: number,
): void {
  for (let i = 0, at = start, from = channel; i < rows; i++, at += stride, from += channels) {
    const value = values[from]!;
    if (kind === "float") {
      if (size === 4) view.setFloat32(at, value, true);
      else view.setFloat64(at, value, true);
    } else if (size === 4) view.setInt32(at, value, true);
    else if (size === 2) view.setInt16(at, value, true);
    else view.setInt8(at, value);
  }
}

function textRows(list: readonly Source[], rows: number, listed = false): Uint8Array {
  const lines: string[] = [];
  for (let i = 0; i < rows; i++) {
    let line = listed ? `${list[0]!.channels}` : "";
    for (const { type, values, channels } of list)
      for (let c = 0; c < channels; c++) {
        const value = values[i * channels + c] as number;
        const text = type.kind === "float" && type.size === 4 ? shortText(value) : String(value);
        line += line === "" ? text : ` ${text}`;
      }
    lines.push(line, "\n");
  }
  return encodeUtf8(lines.join(""), "rows of PLY");
}
