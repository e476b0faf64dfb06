/**
 * The root says whether there may be a log of transactions: `octavo_log`, among its attributes, is written before the first commit.
 * So who reads over a network does not ask for the log of a store that Octavo has never edited.
 */
import { isJsonObject, type JsonObject, parseJson } from "../../../bytes/json.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Conflict } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { documentText } from "./document-text.js";

const MARK = "octavo_log";

export const isMarked = (attributes: JsonObject): boolean => attributes[MARK] === true;
export const marked = (attributes: JsonObject): JsonObject => ({ ...attributes, [MARK]: true });

/** Marks the root, below any transaction; it must be there before a commit is. */
export async function markLog(store: Store, at: Prefix, options: ReadOptions = {}): Promise<void> {
  const { signal } = options;
  const key = Key.join(at, "zarr.json");
  for (;;) {
    const stat = await store.stat(key, { signal });
    const bytes = await store.get(key, { signal });
    if (bytes === undefined || stat === undefined) return;
    const { attributes, ...rest } = parseJson(bytes, withLimits(options.limits), `${store.url}/${key}`, {
      tokens: true,
    }) as JsonObject;
    if (!isJsonObject(attributes) || isMarked(attributes)) return;
    const text = documentText({ attributes: marked(attributes), ...rest });
    try {
      const condition = stat.version === undefined ? undefined : { version: stat.version };
      return await store.set(key, encodeUtf8(text, "a zarr.json"), { signal, if: condition });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error; // somebody else may have marked it
    }
  }
}
