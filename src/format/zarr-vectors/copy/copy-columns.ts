/** The attributes of vertices and fragments of a level that is copied: cells as they are, whatever the version. */
import { isFixed } from "../../../bytes/dtype.js";
import type { JsonObject } from "../../../bytes/json.js";
import type { NumericArray } from "../../../codec/types.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import { typed } from "../../../model/elements.js";
import type { Tile, Want } from "../../../model/source.js";
import type { Schema } from "../../../model/vectors.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import type { CellArray } from "../write/write-arrays.js";
import { described, dtypeName, intakes } from "../write/write-columns.js";
import { groupDocument } from "../write/write-documents.js";
import { cellsOf, type LevelCopy } from "./copy-level.js";

export interface ColumnCopies {
  put(tiles: readonly Tile[]): Promise<void>;
  /** The documents; the names of the families, as the level names them. */
  finish(): Promise<string[]>;
}

const DOMAINS = ["vertex", "fragment"] as const;

export function columnCopies(copy: LevelCopy, schema: Schema, want: Want): ColumnCopies {
  const all = DOMAINS.flatMap((domain) =>
    want[domain].map((name) => {
      const info = schema[domain].find((own) => own.name === name)!;
      return { domain, name, info, path: `${domain}_attributes/${name}`, cells: undefined as CellArray | undefined };
    }),
  );
  const unitOf = ({ dtype }: AttributeInfo): number => (isFixed(dtype) ? dtype.size : 1);
  return {
    async put(tiles) {
      for (const own of all) {
        const columns = tiles.map((tile) => tile[`${own.domain}Columns`].get(own.name));
        // Some documents do not say how many values a row has: the first cell does.
        own.info = columns.find((column) => column !== undefined)?.info ?? own.info;
        own.cells ??= await cellsOf(copy, own.path, unitOf(own.info));
        await own.cells.put(
          tiles.map(({ chunk }) => chunk),
          columns.map((column) => (column === undefined ? new Uint8Array() : AttributeCell.encode(settled(column)))),
        );
      }
    },
    async finish() {
      for (const { domain, name, info, path, cells } of all) {
        const tag = domain === "vertex" ? "attribute" : "fragment_attribute";
        const done = cells ?? (await cellsOf(copy, path, unitOf(info)));
        await done.finish({ zv_array: tag, name, ...saidOf(info) });
      }
      const present = DOMAINS.filter((domain) => want[domain].length > 0).map((domain) => `${domain}_attributes`);
      for (const folder of present) await copy.arrays.document(folder, groupDocument());
      return present;
    },
  };
}

/** What the document of an attribute says of its type. */
function saidOf(info: AttributeInfo): JsonObject {
  const isText = info.categories === undefined && isFixed(info.dtype) && ["utf32", "bytes"].includes(info.dtype.kind);
  return isText ? { dtype: dtypeName(info.dtype), ...described(info) } : intakes([info], new Map())[0]!.attributes();
}

/** The values as numbers of their own type: those that stand for "none" may come as others. */
export function settled(column: Column): Column {
  const { info, values } = column;
  if (!isFixed(info.dtype) || !ArrayBuffer.isView(values)) return column;
  const wanted = typed({ shape: [0], dtype: info.dtype, data: new Uint8Array() });
  if (values.constructor === wanted.constructor) return column;
  const data = new Uint8Array(values.length * info.dtype.size);
  const out = typed({ shape: [values.length], dtype: info.dtype, data }) as NumericArray;
  for (let i = 0; i < values.length; i++) (out as unknown as unknown[])[i] = values[i];
  return { info, values: out };
}
