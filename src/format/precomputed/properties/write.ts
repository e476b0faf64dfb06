/** Writing segment properties: all of them are one document. */
import { stringifyJson } from "../../../bytes/json.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Conflict } from "../../../errors.js";
import type { FormatOptions } from "../../../model/format.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { SegmentProperties } from "./properties.js";

/** A browser that opens a layer reads all of it, and makes objects of it, before anything is drawn. */
export const LARGE = 50e6;

/** Writes a table; Conflict where something is. */
export async function writeSegmentProperties(
  store: Store,
  at: Prefix,
  table: SegmentProperties,
  { signal, overwrite = false }: Pick<FormatOptions, "signal"> & { readonly overwrite?: boolean | undefined } = {},
): Promise<{ readonly bytes: number; readonly warnings: readonly string[] }> {
  const bytes = encodeUtf8(stringifyJson(SegmentProperties.format(table)), "info");
  const key = Key.join(at, "info");
  const where = `${store.url}/${key}`;
  if (!overwrite && (await store.stat(key, { signal })) !== undefined)
    throw new Conflict(`${where} is there already`, { where });
  await store.set(key, bytes, { signal });
  return { bytes: bytes.length, warnings: bytes.length > LARGE ? [largeWarning(bytes.length)] : [] };
}

export const largeWarning = (bytes: number): string =>
  `The segment properties have ${(bytes / 1e6).toFixed(0)} MB: Neuroglancer reads all of them before it shows anything, and should not have more than ${LARGE / 1e6} MB.`;
