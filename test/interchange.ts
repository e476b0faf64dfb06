/** Files in memory, opened and written, for the tests of interchange files. */
import { concat } from "../src/bytes/concat.js";
import type { Json } from "../src/bytes/json.js";
import { type FileDataset, fileDataset } from "../src/format/interchange/dataset.js";
import { openFile } from "../src/format/interchange/file.js";
import { columnsOf } from "../src/format/interchange/streamlines.js";
import type {
  FileData,
  FileFormat,
  FileReport,
  OpenFileOptions,
  WriteFileOptions,
} from "../src/format/interchange/types.js";
import type { Ids } from "../src/format/rows/row-source.js";
import type { AttributeInfo, Column } from "../src/model/attributes.js";
import type { Batch, Geometry, VectorDataset } from "../src/model/vectors.js";
import { Key } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import { scratchIn } from "../src/store/scratch.js";

export async function openBytes(
  file: FileFormat,
  name: string,
  bytes: Uint8Array,
  options: OpenFileOptions = {},
): Promise<FileDataset> {
  const store = memoryStore();
  await store.set(Key.of(name), bytes);
  const input = await openFile(store, Key.of(name), options);
  const id = name.replace(/\.gz$/, "").replace(/^.*\./, "");
  return fileDataset(id, input.where, await file.open(input, options), options);
}

/** What a writer of files is given of a dataset. */
export async function dataOf(dataset: VectorDataset): Promise<FileData> {
  const groups = await dataset.groups();
  return {
    url: dataset.url,
    axes: dataset.axes,
    crs: dataset.crs,
    attributes: dataset.attributes,
    bounds: dataset.bounds,
    geometry: dataset.geometries[0]!,
    schema: await dataset.schema(),
    headers: await dataset.headers(),
    groups: async () => ({
      members: await Promise.all(groups.map(({ group }) => dataset.groupMembers(group))),
      columns: await dataset.groupColumns(),
    }),
    batches: (options) => dataset.select().batches(options),
  };
}

/** Paths by hand: a list of coordinates for each. */
export function paths(
  parts: readonly (readonly number[])[],
  own: {
    readonly geometry?: Geometry;
    readonly headers?: { readonly [format: string]: { readonly [key: string]: Json } };
    readonly vertex?: readonly Column[];
    readonly object?: readonly Column[];
    readonly group?: readonly Column[];
    readonly groups?: readonly Ids[];
    readonly wide?: boolean;
    readonly ids?: Ids;
    readonly unit?: string;
  } = {},
): FileData {
  const { vertex = [], object = [], group = [], headers = {}, unit = "millimeter" } = own;
  const offsets = [0];
  for (const part of parts) offsets.push(offsets.at(-1)! + part.length / 3);
  const batch: Batch = {
    level: 0,
    geometry: own.geometry ?? "streamlines",
    dims: 3,
    positions: own.wide === true ? Float64Array.from(parts.flat()) : Float32Array.from(parts.flat()),
    parts: Uint32Array.from(offsets),
    objects: Int32Array.from(parts, (_, i) => i),
    ids: own.ids ?? BigInt64Array.from(parts, (_, i) => BigInt(i)),
    links: undefined,
    fragments: undefined,
    vertexColumns: named(vertex),
    objectColumns: named(object),
    chunk: undefined,
  };
  const infos = (columns: readonly Column[]): AttributeInfo[] => columns.map(({ info }) => info);
  return {
    url: "memory:/paths",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit })),
    crs: undefined,
    attributes: {},
    bounds: { min: [0, 0, 0], max: [0, 0, 0] },
    geometry: batch.geometry,
    schema: { vertex: infos(vertex), link: [], fragment: [], object: infos(object), group: infos(group) },
    headers: new Map(Object.entries(headers)),
    groups: async () => ({ members: own.groups ?? [], columns: named(group) }),
    async *batches() {
      yield batch;
    },
  };
}

const named = (columns: readonly Column[]) =>
  columnsOf(
    columns.map(({ info }) => info),
    columns.map(({ values }) => values),
  );

/** The bytes that a writer makes, and what it says about them. */
export async function written(
  file: FileFormat,
  data: FileData,
  options: Partial<WriteFileOptions> = {},
): Promise<{ readonly bytes: Uint8Array; readonly report: FileReport }> {
  const pieces: Uint8Array[] = [];
  const sink = {
    async write(bytes: Uint8Array) {
      pieces.push(bytes.slice());
    },
    async commit() {},
    async abort() {},
  };
  const scratch = scratchIn({ store: memoryStore() }, 1 << 20);
  const report = await file.write!(sink, data, { scratch, ...options });
  return { bytes: concat(pieces), report };
}
