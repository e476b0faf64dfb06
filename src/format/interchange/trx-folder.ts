/** A TRX that is unpacked: a folder whose header.json has the counts of one, as trx-python reads and writes it. */
import { isJsonObject, parseJson } from "../../bytes/json.js";
import { withLimits } from "../../limits.js";
import type { Format, FormatOptions } from "../../model/format.js";
import { Key, type Prefix } from "../../store/key.js";
import { prefixStore } from "../../store/prefix.js";
import type { Store } from "../../store/types.js";
import { type FileDataset, fileDataset } from "./dataset.js";
import { openUnpacked } from "./trx.js";
import { validateFile } from "./validate.js";

export const trxFolder: Format = {
  id: "trx-folder",
  name: "an unpacked TRX",
  async detect(store, at, options = {}) {
    const { signal, get = store.get } = options;
    const limits = withLimits(options.limits);
    const key = Key.join(at, "header.json");
    const bytes = await get(key, { signal, most: limits.metadataBytes });
    if (bytes === undefined) return undefined;
    const header = parseJson(bytes, limits, `${store.url}/${key}`);
    if (!isJsonObject(header) || header.NB_STREAMLINES === undefined) return undefined;
    return { format: "trx-folder", version: "", summary: "TRX, unpacked", open: () => opened(store, at, options) };
  },
  open: (store, at, options) => opened(store, at, options),
  async *validate(store, at, options = {}) {
    yield* validateFile(prefixStore(store, at).url, () => opened(store, at, options), options);
  },
};

async function opened(store: Store, at: Prefix, options: FormatOptions = {}): Promise<FileDataset> {
  const folder = prefixStore(store, at);
  return fileDataset("trx", folder.url, await openUnpacked(folder, options), options);
}
