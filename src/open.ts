/** From an address to a dataset: where is it, which format is it, and open it. */
import { InvalidInput, NotFound, OctavoError, Unsupported } from "./errors.js";
import { formats } from "./formats.js";
import type { Dataset } from "./model/dataset.js";
import type { Format, FormatOptions, Match } from "./model/format.js";
import type { Key } from "./store/key.js";
import type { Location, LocationOptions } from "./store/open.js";
import type { Store } from "./store/types.js";

/** How to reach an address, and what to take it for. */
export interface OpenOptions extends LocationOptions {
  /** The id of a format, such as "zarr": no other is considered. */
  readonly as?: string | undefined;
}

/** The format that claims a place, and what it says about it. */
export interface Detected {
  readonly format: Format;
  readonly match: Match;
}

/** The format of what is at a place; NotFound where no format claims it. */
export async function detect(
  location: Location,
  options: FormatOptions & Pick<OpenOptions, "as"> = {},
): Promise<Detected> {
  const { store, at, file } = location;
  const as = options.as ?? location.format;
  const candidates = as === undefined ? formats : formats.filter(({ id }) => id === as);
  if (candidates.length === 0) {
    const known = formats.map(({ id }) => id).join(", ");
    throw new InvalidInput(`there is no format ${JSON.stringify(as)}; there are: ${known}`);
  }
  const where = `${store.url}/${file ?? at}`.replace(/\/$/, "");
  if (file !== undefined) throw new Unsupported(`${where} is a single file, and none of the formats is one`, { where });
  const get = readOnce(store);
  for (const format of candidates) {
    const match = await format.detect(store, at, { ...options, get });
    if (match !== undefined) return { format, match };
  }
  if (await isEmpty(location, options)) throw new NotFound(`${where} is not there, or empty`, { where });
  const names = candidates.map(({ name }) => name).join(" or ");
  throw new NotFound(`${where} holds nothing that is ${names}`, {
    where,
    hint: "Is the address right? Perhaps the data are one folder further down.",
  });
}

/** A document that one format has asked for is not read again for the next. */
function readOnce(store: Store): Store["get"] {
  const documents = new Map<Key, ReturnType<Store["get"]>>();
  return (key, options) => {
    const known = documents.get(key);
    if (known !== undefined) return known;
    const asked = store.get(key, options);
    documents.set(key, asked);
    return asked;
  };
}

/** Whether the store knows of nothing below a place; one that cannot or will not say does not know. */
async function isEmpty({ store, at }: Location, { signal }: FormatOptions): Promise<boolean> {
  if (!store.can.list) return false;
  try {
    const { keys, prefixes } = await store.children(at, { signal });
    return keys.length + prefixes.length === 0;
  } catch (error) {
    if (error instanceof OctavoError) return false;
    throw error;
  }
}

/** `open` for the addresses that `openLocation` understands. */
export function datasetOpener(openLocation: (url: string, options?: LocationOptions) => Promise<Location>) {
  return async (url: string, options: OpenOptions = {}): Promise<Dataset> => {
    const location = await openLocation(url, options);
    return (await detect(location, options)).match.open();
  };
}
