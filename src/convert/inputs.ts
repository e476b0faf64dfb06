/**
 * Several inputs that become one: addresses, folders of files, and patterns such as "cells/**.swc", in which * and ? stand for anything
 * in a name and ** for folders too. Names are what is left of the paths without the folder that all have in common.
 */
import { NotFound, OctavoError } from "../errors.js";
import { kindNamed, kinds } from "../format/interchange/kinds.js";
import type { OpenFileOptions } from "../format/interchange/types.js";
import { urlOf } from "../format/zarr/node.js";
import type { Dataset } from "../model/dataset.js";
import { detect, type OpenOptions } from "../open.js";
import type { Key, Prefix } from "../store/key.js";
import type { Location, LocationOptions } from "../store/open.js";
import type { Store } from "../store/types.js";

/** One of them, which is opened when its turn comes. */
export interface Input {
  readonly name: string;
  /** Where it is, so that nothing is written over it. */
  readonly origin: { readonly url: string; readonly store: Store };
  open(options: OpenFileOptions): Promise<Dataset>;
}

type Open = (url: string, options?: LocationOptions) => Promise<Location>;
type Options = OpenOptions & Pick<OpenFileOptions, "table">;

interface Found extends Omit<Input, "name"> {
  readonly path: string;
}

/** Whether an address stands for many; what is behind "?" in a web address is no pattern. */
export const isPattern = (source: string): boolean =>
  /[*?]/.test(/^[a-z][a-z0-9+.-]+:/i.test(source) ? source.replace(/\?.*$/, "") : source);

/** The inputs that these addresses stand for. */
export async function inputsOf(
  openLocation: Open,
  sources: readonly string[],
  options: Options = {},
): Promise<readonly Input[]> {
  const found: Found[] = [];
  for (const source of sources) {
    const files = isPattern(source)
      ? await matching(openLocation, source, options)
      : await inFolder(openLocation, source, options);
    found.push(...(files ?? [await single(openLocation, source, options)]));
  }
  return named(found);
}

async function single(openLocation: Open, source: string, options: Options): Promise<Found> {
  const location = await openLocation(source, options);
  const { store, at, file } = location;
  return {
    path: source,
    origin: { url: file === undefined ? urlOf(store, at) : `${store.url}/${file}`, store },
    open: async (now) => (await detect(location, { ...options, ...now, related: true })).match.open(),
  };
}

/** Everything whose name fits, in the order of names. */
async function matching(openLocation: Open, pattern: string, options: Options): Promise<Found[]> {
  const [base = ""] = /^(?:[^*?]*\/)?/.exec(pattern) ?? [];
  const fits = patternOf(pattern.slice(base.length));
  const { store, at } = await openLocation(base === "" ? "." : base, options);
  const keys = await listed(store, at, options, (name) => fits.test(name));
  if (keys.length === 0) throw new NotFound(`nothing is called like ${pattern}`, { where: pattern });
  return keys.map((key) => fileAt(store, at, key, base, options));
}

/** As in a shell, names that begin with a dot are only those whose dot is in the pattern. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    `^${text.replace(/\*\*\/?|[*?]|[\\^$.|+()[\]{}]/g, (found, at: number) => {
      const shown = at === 0 || text[at - 1] === "/" ? "(?!\\.)" : "";
      if (found === "**/") return "(?:(?!\\.)[^/]*/)*";
      if (found === "**") return `${shown}(?:(?!/\\.).)*`;
      return found === "*" ? `${shown}[^/]*` : found === "?" ? `${shown}[^/]` : `\\${found}`;
    })}$`,
  );

/** The files of a folder that is no dataset itself; undefined where it is one, or no folder. */
async function inFolder(openLocation: Open, source: string, options: Options): Promise<Found[] | undefined> {
  const location = await openLocation(source, options);
  const { store, at } = location;
  if (location.file !== undefined || !store.can.list) return undefined;
  try {
    await detect(location, options);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    const keys = await listed(store, at, options, (name) => kindNamed(name) !== undefined);
    if (keys.length === 0) throw error;
    return keys.map((key) => fileAt(store, at, key, `${source.replace(/\/$/, "")}/`, options));
  }
}

async function listed(store: Store, at: Prefix, { signal }: Options, fits: (name: string) => boolean): Promise<Key[]> {
  const keys: Key[] = [];
  for await (const { key } of store.list(at, { signal })) if (fits(key.slice(at.length))) keys.push(key);
  return keys.sort((a, b) => inOrder(a, b));
}

const { compare: inOrder } = new Intl.Collator("en", { numeric: true });

function fileAt(store: Store, at: Prefix, key: Key, base: string, options: Options): Found {
  const kind = options.as === undefined ? kindNamed(key) : kinds.find(({ id }) => id === options.as);
  const open = async (now: OpenFileOptions): Promise<Dataset> => {
    if (kind !== undefined)
      return (await import("../format/interchange/open.js")).openInterchange(kind, store, key, { ...options, ...now });
    return (await detect({ store, at, file: key }, { ...options, ...now })).match.open();
  };
  return { path: base + key.slice(at.length), origin: { url: `${store.url}/${key}`, store }, open };
}

/** Without the folders that all have in common. */
function named(found: readonly Found[]): Input[] {
  const folders = found.map(({ path }) => path.split("/").slice(0, -1));
  let common = 0;
  while (folders.every((own) => own.length > common && own[common] === folders[0]![common])) common++;
  return found.map(({ path, ...own }) => ({ name: path.split("/").slice(common).join("/"), ...own }));
}

/** Whether this says something about one input, so that the others may go on without it. */
export const isBad = (error: unknown): error is OctavoError => error instanceof OctavoError;
