/**
 * From an address to a store.
 *
 *     address                     https://host/a/b · s3://bucket/a · memory:name/a · /a/b (Node) · file:///a/b (Node)
 *     address|zip:path            the folder "path" in a zip file; "|zip:" is not needed where the address ends in .zip or .ozx
 *     address|…|format:path       the format is known, and the data are at "path" there
 *
 * What a word before ":" means is in a table of schemes: the web's here, Node's in open-node.ts. A plain path is taken as it
 * stands; in an address with a scheme, and after "|", "%20" is a space. Windows paths are not understood.
 *
 * Stores over a network try again when a request fails for a passing reason, and merge near ranges.
 */
import { InvalidInput } from "../errors.js";
import type { Limits } from "../limits.js";
import { webAddress } from "./address.js";
import { coalesceStore } from "./coalesce.js";
import type { Durability } from "./file-write.js";
import { httpStore } from "./http.js";
import { Key, Prefix } from "./key.js";
import { prefixStore } from "./prefix.js";
import { retryStore } from "./retry.js";
import type { WebOptions } from "./send.js";
import type { CallOptions, Store } from "./types.js";

/** How to reach what an address names. */
export interface LocationOptions extends CallOptions, WebOptions {
  readonly limits?: Partial<Limits> | undefined;
  /** Sent with every request to an http or https address. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly forbiddenIsMissing?: boolean | undefined;
  /** Of files: see file-write.ts. */
  readonly durability?: Durability | undefined;
  /** The place is about to be written: what ends in .zip becomes a zip file, which is there once the store is closed. */
  readonly create?: boolean | undefined;
}

/** A place in a store. */
export interface Location {
  readonly store: Store;
  readonly at: Prefix;
  /** Set where the address names one value that is not a zip file; `at` is then the folder it is in. */
  readonly file?: Key;
  /** The format that the address names. */
  readonly format?: string;
}

export interface Place {
  readonly store: Store;
  /** Set where the address names one value rather than a folder. */
  readonly file?: Key;
}

/** Opens an address. `isFile`: what follows shows that it names one value. */
export type Scheme = (address: string, isFile: boolean, options: LocationOptions) => Place | Promise<Place>;

/** By the word before ":"; "" is for what has none. */
export type Schemes = Readonly<Record<string, Scheme>>;

export interface Pipeline {
  readonly address: string;
  readonly zips: readonly string[];
  readonly format?: { readonly name: string; readonly path: string };
}

const ZIP = /\.(zip|ozx)$/i;
/** What names one value, where the place itself does not say. */
const SINGLE =
  /(\.(hdf5|h5|ptree|bin|swc|trk|tck|trx|tsf|vtk|vtp|obj|ply|stl|gltf|glb|la[sz]|[ct]sv|xyz|txt|parquet|arrow|feather|np[yz]|graphml|edges|gii|nii)|(^|\/)[lr]h\.(pial|white|inflated|sphere|smoothwm|orig)(?![\w.]*\.(zv|zarr|zip|ozx)$)[\w.]*)(\.gz)?$/i;

export function parsePipeline(text: string): Pipeline {
  const [address = "", ...stages] = text.split("|");
  const zips: string[] = [];
  let format: Pipeline["format"];
  for (const stage of stages) {
    const found = /^([a-z][a-z0-9._-]*):(.*)$/i.exec(stage);
    if (found === null || format !== undefined) {
      throw new InvalidInput(
        `after "|" an address has "zip:path", or at its end "format:path", not ${JSON.stringify(stage)}`,
      );
    }
    const path = decoded(found[2]!).replace(/^\/+/, "");
    const name = found[1]!.toLowerCase();
    if (name === "zip") zips.push(path);
    else format = { name, path };
  }
  return format === undefined ? { address, zips } : { address, zips, format };
}

/** `openLocation` for a table of schemes. */
export function locationOpener(schemes: Schemes) {
  return async (text: string, options: LocationOptions = {}): Promise<Location> => {
    const { address, zips, format } = parsePipeline(text);
    const word = /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase() ?? "";
    if (word.length === 1 || address.startsWith("\\\\"))
      throw new InvalidInput(`${address} looks like a path of Windows, which is not understood`, { where: address });
    const scheme = Object.hasOwn(schemes, word) ? schemes[word] : undefined;
    if (scheme === undefined) {
      const known = Object.keys(schemes).filter(Boolean).join(", ");
      throw new InvalidInput(`${word}: is not a kind of address; there are ${known}`, { where: word });
    }
    const path = address.replace(/[?#].*$/, "");
    const isZip = ZIP.test(path) && !address.endsWith("/");
    const stages = zips.length === 0 && isZip ? [""] : zips;
    const place = await scheme(address, stages.length > 0 || SINGLE.test(path), options);
    if (place.file === undefined && zips.length > 0)
      throw new InvalidInput(`${place.store.url} is a folder, where the address asks for a zip file`);
    const location = await inside(place, stages, options);
    if (format === undefined) return location;
    return { ...location, at: Prefix.join(location.at, format.path), format: format.name };
  };
}

async function inside(place: Place, zips: readonly string[], options: LocationOptions): Promise<Location> {
  let { store, file } = place;
  let at = Prefix.root;
  for (let i = 0; file !== undefined && i < zips.length; i++) {
    const path = zips[i]!;
    const last = i === zips.length - 1 && !SINGLE.test(path); // before that, a path in a zip file is another zip file
    store = await openZip(store, file, options);
    file = last ? undefined : Key.of(path);
    if (last) at = Prefix.of(path);
  }
  return file === undefined ? { store, at } : { store, at, file };
}

async function openZip(store: Store, key: Key, options: LocationOptions): Promise<Store> {
  if (options.create !== true) return (await import("./zip.js")).zipStore(store, key, options);
  return (await import("./zip-write.js")).zipWriteStore(store, key, { signal: options.signal });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new InvalidInput(`${JSON.stringify(text)} has a "%" that is not followed by two hexadecimal digits`, {
      cause,
    });
  }
}

/** "a/b/c.zip" is the value "c.zip" in "a/b". */
export function splitPath(path: string): [folder: string, file: Key] {
  const slash = path.lastIndexOf("/");
  return [path.slice(0, Math.max(slash, 0)), Key.of(path.slice(slash + 1))];
}

const remote = (store: Store) => coalesceStore(retryStore(store));

const http: Scheme = (address, isFile, options) => {
  if (!isFile) return { store: remote(httpStore(address, options)) };
  const url = webAddress(address);
  const [folder, file] = splitPath(url.pathname);
  url.pathname = folder;
  return { store: remote(httpStore(url, options)), file: Key.of(decoded(file)) };
};

const memories = new Map<string, Store>();
const memory: Scheme = async (address, isFile) => {
  const [name = "", ...path] = decoded(address.slice("memory:".length))
    .replace(/^\/+|\/+$/g, "")
    .split("/");
  const { memoryStore } = await import("./memory.js");
  const store = memories.get(name) ?? memoryStore(`memory:${name}`);
  memories.set(name, store);
  const at = Prefix.of(path.join("/"));
  if (!isFile || (await hasSome(store, at))) return { store: prefixStore(store, at) };
  const [folder, file] = splitPath(path.join("/"));
  return { store: prefixStore(store, Prefix.of(folder)), file };
};

/** Whether anything lies below: then it is a folder, whatever it is called. */
async function hasSome(store: Store, at: Prefix): Promise<boolean> {
  for await (const _ of store.list(at)) return true;
  return false;
}

/** A scheme of buckets, whose options have a prefix. */
function bucket<O extends { readonly prefix?: string | undefined }>(
  load: () => Promise<{ parse(text: string): O; make(options: O & LocationOptions): Store }>,
): Scheme {
  return async (address, isFile, { fetch, timeout, forbiddenIsMissing }) => {
    const { parse, make } = await load();
    const options = { ...parse(address), fetch, timeout, forbiddenIsMissing };
    if (!isFile) return { store: remote(make(options)) };
    const [prefix, file] = splitPath(options.prefix ?? "");
    return { store: remote(make({ ...options, prefix })), file };
  };
}

const s3 = bucket(async () => {
  const [{ s3Store }, { parseS3Url }] = await Promise.all([import("./s3.js"), import("./s3-url.js")]);
  return { parse: parseS3Url, make: s3Store };
});

const gs = bucket(async () => {
  const { gsStore, parseGsUrl } = await import("./gs.js");
  return { parse: parseGsUrl, make: gsStore };
});

/** What a browser can open; an address without a scheme is relative to the page. */
export const webSchemes: Schemes = { "": http, http, https: http, memory, s3, "s3+http": s3, "s3+https": s3, gs };
