/** Surfaces in tests: files from text or bytes, batches by hand, and what a batch holds as plain lists. */
import type { FileDataset } from "../src/format/interchange/dataset.js";
import type { FileData, FileFormat, OpenFileOptions } from "../src/format/interchange/types.js";
import type { Batch, Columns } from "../src/model/vectors.js";
import { openBytes } from "./interchange.js";

export const asBytes = (file: string | Uint8Array): Uint8Array =>
  typeof file === "string" ? new TextEncoder().encode(file) : file;

export const opened = (
  format: FileFormat,
  file: string | Uint8Array,
  options: OpenFileOptions = {},
  name = "file",
): Promise<FileDataset> => openBytes(format, name, asBytes(file), options);

export const readFrom = async (
  format: FileFormat,
  file: string | Uint8Array,
  options: OpenFileOptions = {},
  name = "file",
): Promise<Batch> => (await opened(format, file, options, name)).select().read();

/** Batches that are already there, as a writer gets them. */
export function dataWith(batches: readonly Batch[], more: Partial<FileData> = {}): FileData {
  const infos = (columns: Columns | undefined) => [...(columns ?? new Map()).values()].map(({ info }) => info);
  const one = batches[0];
  return {
    url: "memory:data",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space" })),
    crs: undefined,
    attributes: {},
    bounds: { min: [0, 0, 0], max: [1, 1, 1] },
    geometry: one?.geometry ?? "mesh",
    schema: {
      vertex: infos(one?.vertexColumns),
      link: infos(one?.links?.columns),
      fragment: [],
      object: infos(one?.objectColumns),
      group: [],
    },
    headers: new Map(),
    groups: async () => ({ members: [], columns: new Map() }),
    async *batches() {
      yield* batches;
    },
    ...more,
  };
}

/** What a batch holds, so that two can be compared: columns by name as plain lists with their types. */
export function plain({ geometry, positions, parts, ids, objects, links, vertexColumns, objectColumns }: Batch) {
  const values = (columns: Columns | undefined) =>
    Object.fromEntries(
      [...(columns ?? new Map())].map(([name, { info, values: own }]) => [
        name,
        { type: `${info.dtype.kind}${"size" in info.dtype ? info.dtype.size : ""}×${info.channels}`, values: [...own] },
      ]),
    );
  return {
    geometry,
    double: positions instanceof Float64Array,
    positions: [...positions],
    parts: [...parts],
    ids: [...ids].map(String),
    objects: [...objects],
    links: [...(links?.ends ?? [])],
    linkColumns: values(links?.columns),
    vertexColumns: values(vertexColumns),
    objectColumns: values(objectColumns),
  };
}
