/** What lies beside the vertices of a level: the further geometries of a composite store, and parametric objects. */
import { isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { ndarray } from "../../../model/elements.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import { Blobs } from "../payload/blobs.js";
import { Groups } from "../payload/groups.js";
import { readParametric } from "../read/parametric.js";
import type { Arrays07 } from "../write/write-07-arrays.js";
import type { Arrays } from "../write/write-arrays.js";
import { groupDocument } from "../write/write-documents.js";
import { cellsOf, type LevelCopy } from "./copy-level.js";
import { writeGroupBlobs, writeTables } from "./copy-objects.js";

const WHOLE = 2 ** 31;
const CELLS = 64;

/** `geometry_index` and what it names: cells without fragments, and links as one table. */
export async function copyComposite(copy: LevelCopy): Promise<void> {
  const { opened, meta, arrays, options, lose, grid } = copy;
  const nodes = await opened.nodes(meta.level, options);
  const index = await nodes.attributes("geometry_index", options);
  if (index === undefined) return;
  for (const [type, entry] of Object.entries(index)) {
    const { array, links_array: links } = isJsonObject(entry) ? entry : ({} as JsonObject);
    const cells = typeof array === "string" ? await nodes.cells(array, options) : undefined;
    if (cells === undefined) {
      lose(`${meta.path}: the ${type} that geometry_index names, which is not there`);
      continue;
    }
    const { count, rank, coords } = await cells.directory(options);
    const own = await cellsOf({ ...copy, grid: { ...grid, coords } }, cells.path, 4);
    for (let from = 0; from < count; from += CELLS) {
      const chunks = Array.from({ length: Math.min(CELLS, count - from) }, (_, i) => from + i);
      const payloads = await cells.read(coords.subarray(from * rank, (from + chunks.length) * rank), options);
      await own.put(
        chunks,
        payloads.map((payload) => payload ?? new Uint8Array()),
      );
    }
    const { nonempty_chunks: _, chunk_grid_origin: __, ...said } = cells.attributes;
    await own.finish(said);
    const table = typeof links === "string" ? await nodes.dense(links, options) : undefined;
    if (table === undefined) continue;
    const values = await table.read(undefined, undefined, options);
    const dtype = { dtype: "int64", shape: values.shape };
    await arrays.table(links as string, values, 0, WHOLE, {
      ...table.attributes,
      ...(copy.old === undefined ? {} : dtype),
    });
  }
  await arrays.document("geometry_index", groupDocument(index));
}

/** `arrays` are below `parametric`. Whether there were any. */
export async function copyParametric(
  opened: OpenedStore,
  arrays: Arrays,
  old: Arrays07 | undefined,
  options: ReadOptions,
): Promise<boolean> {
  const nodes = await opened.parametric(options);
  if (nodes === undefined) return false;
  const { objects, columns, groups } = await readParametric(nodes, options);
  const { parametric_types: types = {} } = (await nodes.attributes("", options)) ?? {};
  const numbers = new Map(
    Object.entries(types as JsonObject).map(([number, type]) => [(type as JsonObject).name, Number(number)]),
  );
  const width = 1 + objects.reduce((most, { coefficients }) => Math.max(most, coefficients.length), 0);
  const rows = new Float64Array(objects.length * width);
  for (const [i, { type, coefficients }] of objects.entries())
    rows.set([numbers.get(type)!, ...coefficients], i * width);
  const said = { num_objects: objects.length };
  const shape = [objects.length, width];
  await arrays.table("objects", ndarray(shape, rows), 0, WHOLE, {
    zv_array: "parametric_objects",
    ...said,
    max_row_length: width,
    dtype: "float64",
  });
  const names = objects.map(({ name }) => name);
  if (names.every((name) => name !== undefined)) {
    const texts = names.map((name) => encodeUtf8(name, "a name of a parametric object"));
    if (old !== undefined) {
      await old.blob("names/data", encodeUtf8(names.join("\0"), "the names of parametric objects"), 1);
      await arrays.document("names", groupDocument({ zv_array: "parametric_names", ...said }));
    } else {
      const blobs = Blobs.of(texts);
      const chunk = (from: number, to: number, size: number) => Blobs.encodeChunk(blobs, from, to, size);
      await arrays.blobs("names", objects.length, chunk, { zv_array: "parametric_names", ...said });
    }
  }
  await writeTables({ arrays, old }, "object", columns, objects.length);
  if (groups.length > 0) await writeGroupBlobs(arrays, Groups.of(groups.map((members) => BigInt64Array.from(members))));
  await arrays.document("", groupDocument({ parametric_types: types }));
  return true;
}
