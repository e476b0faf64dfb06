/** What lies beside the vertices of a level: the further geometries of a composite store. */
import { isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { groupDocument } from "../write/write-documents.js";
import { unitsOf, upTo } from "../write/write-layout.js";
import { cellsOf, type LevelCopy } from "./copy-level.js";

const WHOLE = 2 ** 31;
const CELL = 1 << 16; // bytes of a cell, about

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
    const here = { ...grid, coords };
    for (const chunks of unitsOf(here, upTo(count), () => CELL)) {
      const wanted = Int32Array.from(chunks.flatMap((chunk) => [...coords.subarray(chunk * rank, (chunk + 1) * rank)]));
      const payloads = await cells.read(wanted, options);
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
