/** From an address to a dataset: where is it, which format is it, and open it. */
import { InvalidInput, NotFound, Unsupported } from "./errors.js";
import type { TableOptions } from "./format/interchange/types.js";
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
  /** Of tables: which columns are what. */
  readonly table?: TableOptions | undefined;
  /** Of annotations: what they are related to as attributes, for which each is read by its id. */
  readonly related?: boolean | undefined;
}

/** The format that claims a place, and what it says about it. */
export interface Detected {
  readonly format: Format;
  readonly match: Match;
}

/** The format of what is at a place; NotFound where no format claims it. */
export async function detect(
  location: Location,
  options: FormatOptions & Pick<OpenOptions, "as" | "table"> = {},
): Promise<Detected> {
  const { store, at, file } = location;
  const as = options.as ?? location.format;
  const named = as === undefined ? formats : await formatsNamed(as);
  const where = `${store.url}/${file ?? at}`.replace(/\/$/, "");
  const candidates = named.filter(({ single }) => (single === true) === (file !== undefined));
  const names = (candidates.length > 0 ? candidates : named).map(({ name }) => name).join(" or ");
  const get = readOnce(store);
  for (const format of candidates) {
    const match = await format.detect(store, at, { ...options, as, get, file });
    if (match === undefined) continue;
    if (options.table !== undefined)
      (await import("./format/interchange/kinds.js")).refuseTable(options.table, match.format, where);
    return { format, match };
  }
  if (file !== undefined) {
    if ((await store.stat(file, options)) === undefined) throw new NotFound(`${where} is not there`, { where });
    throw new Unsupported(`${where} is a single file, and not ${names}`, { where });
  }
  throw await (await import("./format/nothing.js")).nothingAt(location, where, candidates, names, options);
}

async function formatsNamed(as: string): Promise<readonly Format[]> {
  const found = formats.filter(({ id }) => id === as);
  if (found.length > 0) return found;
  const known = formats.map(({ id }) => id);
  for (const format of formats) {
    const kinds = (await format.kinds?.()) ?? [];
    if (kinds.includes(as)) return [format];
    known.push(...kinds);
  }
  throw new InvalidInput(`there is no format ${JSON.stringify(as)}; there are: ${known.join(", ")}`);
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

/** `open` for the addresses that `openLocation` understands. */
export function datasetOpener(openLocation: (url: string, options?: LocationOptions) => Promise<Location>) {
  return async (url: string, options: OpenOptions = {}): Promise<Dataset> => {
    const location = await openLocation(url, options);
    return (await detect(location, options)).match.open();
  };
}
