/**
 * Writes .glb and .gltf: a node and a mesh for each object; numbers wait in a spool, since the document comes first. In .gltf they are
 * a `data:` of its only buffer, so that the file is whole by itself.
 */
import type { WritableJson } from "../../bytes/json.js";
import { stringifyJson } from "../../bytes/json.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { bytesOf } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { LimitExceeded } from "../../errors.js";
import type { Batch } from "../../model/vectors.js";
import { pick } from "../../query/columns.js";
import type { Sink } from "../../store/types.js";
import { base64Into } from "./base64.js";
import { type Spool, spoolIn } from "./spool.js";
import {
  asFloat32,
  batchesOf,
  endsOf,
  type Lane,
  lanes,
  linksByPart,
  lossesOf,
  nameOf,
  tellBatch,
} from "./surface-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

const KNOWN: ReadonlyMap<string, string> = new Map([
  ["normal3", "NORMAL"],
  ["uv2", "TEXCOORD_0"],
  ["color3", "COLOR_0"],
  ["color4", "COLOR_0"],
]);
const MODES = { points: 0, lines: 3, polylines: 3, streamlines: 3, graph: 1, skeletons: 1, mesh: 4 } as const;

/** The document, while it grows. */
interface Parts {
  readonly views: WritableJson[];
  readonly accessors: WritableJson[];
  readonly meshes: WritableJson[];
  readonly nodes: WritableJson[];
  readonly spool: Spool;
}

type Write = (sink: Sink, data: FileData, options: WriteFileOptions) => Promise<FileReport>;

export const writeGlb: Write = (sink, data, options) => write(data, options, (parts) => binary(sink, parts, data.url));
export const writeGltf: Write = (sink, data, options) => write(data, options, (parts) => text(sink, parts));

async function write(
  data: FileData,
  options: WriteFileOptions,
  finish: (parts: Parts) => Promise<void>,
): Promise<FileReport> {
  const { schema } = data;
  const kinds = Object.keys(MODES) as (keyof typeof MODES)[];
  const losses = lossesOf(data, "glTF", kinds, ["object"], { skeletons: "graph" });
  const left = [
    ...schema.link.map(({ name }) => `link.${name}`),
    ...schema.object.filter(({ name }) => name !== "name").map(({ name }) => `object.${name}`),
    ...schema.vertex.filter(({ channels }) => channels > 4).map(({ name }) => name),
  ];
  if (left.length > 0) losses.add(`glTF has no place for ${left.join(", ")}`);
  const own = lanes(
    schema.vertex.filter(({ channels }) => channels <= 4),
    losses,
    false,
  );
  const batches = await batchesOf(data, options);
  const parts: Parts = { views: [], accessors: [], meshes: [], nodes: [], spool: spoolIn(options.scratch) };
  let [vertices, objects] = [0, 0];
  for await (const { batch: given } of batches) {
    const batch = { ...given, positions: asFloat32(given.positions, "glTF", losses) };
    tellBatch(batch, losses);
    vertices += batch.positions.length / 3;
    objects += batch.repeats ? 0 : batch.ids.length;
    await putBatch(batch, own, parts, losses);
  }
  await finish(parts);
  return { vertices, objects, losses: [...losses] };
}

/** A node for each part, points in one. */
async function putBatch(batch: Batch, list: readonly Lane[], parts: Parts, losses: Set<string>): Promise<void> {
  const { geometry, objects, ids, positions } = batch;
  const rows = positions.length / 3;
  const values = list.map((lane) => ({ lane, values: lane.values(batch.vertexColumns, rows) }));
  const ends = geometry === "mesh" || geometry === "graph" || geometry === "skeletons" ? endsOf(batch) : undefined;
  const width = geometry === "mesh" ? 3 : 2;
  const starts = geometry === "points" ? Uint32Array.of(0, rows) : batch.parts;
  const linksOf = ends && linksByPart(starts, ends, width);
  for (let part = 0; part + 1 < starts.length; part++) {
    const [from, to] = [starts[part]!, starts[part + 1]!];
    if (from === to) continue;
    const attributes: { [name: string]: WritableJson } = {
      POSITION: await putPositions(positions.subarray(3 * from, 3 * to) as Float32Array, parts),
    };
    for (const { lane, values: all } of values) {
      const { name, channels } = lane.info;
      const slice = all.subarray(from * channels, to * channels);
      const semantic = KNOWN.get(`${name}${channels}`) ?? `_${name}`;
      attributes[semantic] = await putAttribute(slice, channels, semantic, name, parts, losses);
    }
    const primitive: { [name: string]: WritableJson } = { attributes, mode: MODES[geometry as "mesh"] };
    if (linksOf !== undefined) {
      const own = pick(ends!, width, linksOf(part)).map((end) => end - from);
      primitive.indices = await put(own, 1, parts, { target: 34963 });
    }
    const row = geometry === "points" ? -1 : objects[part]!;
    const name = row < 0 ? undefined : nameOf(batch, row);
    const mesh = parts.meshes.push({ primitives: [primitive] }) - 1;
    parts.nodes.push({
      mesh,
      ...(name === undefined ? {} : { name }),
      ...(row < 0 ? {} : { extras: { id: String(ids[row]) } }),
    });
  }
}

async function putPositions(values: Float32Array, parts: Parts): Promise<number> {
  const [min, max] = [[0, 1, 2].map((k) => values[k]!), [0, 1, 2].map((k) => values[k]!)];
  for (let i = 0; i < values.length; i++) {
    if (values[i]! < min[i % 3]!) min[i % 3] = values[i]!;
    if (values[i]! > max[i % 3]!) max[i % 3] = values[i]!;
  }
  return put(values, 3, parts, { target: 34962, more: { min, max } });
}

/** Colours of bytes stay bytes; everything else is float32. */
async function putAttribute(
  values: NumericArray,
  channels: number,
  semantic: string,
  name: string,
  parts: Parts,
  losses: Set<string>,
): Promise<number> {
  if (semantic === "COLOR_0" && (values instanceof Uint8Array || values instanceof Uint16Array)) {
    const unit = values.BYTES_PER_ELEMENT;
    const stride = Math.ceil((channels * unit) / 4) * 4;
    const padded = new Uint8Array((values.length / channels) * stride);
    const raw = bytesOf(values);
    for (let i = 0; i < values.length / channels; i++)
      padded.set(raw.subarray(i * channels * unit, (i + 1) * channels * unit), i * stride);
    return putBytes(
      padded,
      {
        componentType: unit === 1 ? 5121 : 5123,
        normalized: true,
        count: values.length / channels,
        type: `VEC${channels}`,
      },
      parts,
      { byteStride: stride, target: 34962 },
    );
  }
  const floats = Float32Array.from(values as Float32Array);
  if (!(values instanceof Float32Array)) {
    losses.add(`"${name}" is float32 in glTF`);
    if (floats.some((value, i) => value !== values[i] && !Number.isNaN(value)))
      losses.add(`values of "${name}" are rounded in glTF`);
  }
  return put(floats, channels, parts, { target: 34962 });
}

const put = (
  values: Float32Array | Uint32Array,
  channels: number,
  parts: Parts,
  { target, more = {} }: { target: number; more?: { [name: string]: WritableJson } },
): Promise<number> => {
  const type = channels === 1 ? "SCALAR" : `VEC${channels}`;
  const componentType = values instanceof Float32Array ? 5126 : 5125;
  return putBytes(bytesOf(values), { componentType, count: values.length / channels, type, ...more }, parts, {
    target,
  });
};

async function putBytes(
  bytes: Uint8Array,
  accessor: { [name: string]: WritableJson },
  { views, accessors, spool }: Parts,
  view: { [name: string]: WritableJson },
): Promise<number> {
  const bufferView = views.push({ buffer: 0, byteOffset: spool.length, byteLength: bytes.length, ...view }) - 1;
  await spool.write(bytes);
  return accessors.push({ bufferView, ...accessor }) - 1;
}

/** The document; what its only buffer says besides its length comes last in it. */
function documentOf(
  { views, accessors, meshes, nodes, spool }: Parts,
  buffer: { readonly [name: string]: WritableJson } = {},
): Uint8Array {
  const document = {
    asset: { version: "2.0", generator: "octavo" },
    scene: 0,
    scenes: [nodes.length === 0 ? {} : { nodes: nodes.map((_, i) => i) }],
    ...(nodes.length === 0
      ? {}
      : { nodes, meshes, accessors, bufferViews: views, buffers: [{ byteLength: spool.length, ...buffer }] }),
  };
  return encodeUtf8(stringifyJson(document), "the document");
}

async function binary(sink: Sink, parts: Parts, url: string): Promise<void> {
  const { length } = parts.spool; // a multiple of 4: every view is
  const text = documentOf(parts);
  const json = new Uint8Array(Math.ceil(text.length / 4) * 4).fill(32);
  json.set(text);
  const total = 12 + 8 + json.length + (length > 0 ? 8 + length : 0);
  if (total > 0xffff_ffff)
    throw new LimitExceeded(`${url} has ${total} bytes as .glb, which holds at most 4 GiB`, { where: url });
  const head = Uint32Array.of(0x46546c67, 2, total, json.length, 0x4e4f534a);
  await sink.write(bytesOf(head));
  await sink.write(json);
  if (length === 0) return;
  await sink.write(bytesOf(Uint32Array.of(length, 0x004e4942)));
  await parts.spool.pour(sink);
}

const TAIL = '"}]}'.length; // what follows the text of the uri

async function text(sink: Sink, parts: Parts): Promise<void> {
  if (parts.nodes.length === 0) return sink.write(documentOf(parts));
  const json = documentOf(parts, { uri: "data:application/octet-stream;base64," });
  await sink.write(json.subarray(0, -TAIL));
  const numbers = base64Into(sink);
  await parts.spool.pour(numbers);
  await numbers.end();
  await sink.write(json.subarray(-TAIL));
}
