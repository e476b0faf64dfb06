/** What `octavo serve` finds at the places that it was given: the datasets there or right below, and the queries about them. */
import { basename, resolve } from "node:path";
import { InvalidInput, NotFound, OctavoError } from "../errors.js";
import type { OpenFileOptions } from "../format/interchange/types.js";
import type { Match } from "../model/format.js";
import { openLocation } from "../node.js";
import { detect } from "../open.js";
import { isHidden, refusal } from "../server/guard.js";
import { type Asked, queryRoute, type Reply, type Route } from "../server/index.js";
import { isPrivate, Key, Prefix } from "../store/key.js";
import type { Location } from "../store/open.js";

/** A place on this machine, and the name that it is served by. */
export interface Served extends Location {
  readonly name: string;
}

/** A dataset that is served. */
export interface Found {
  /** After the server's address: "" for a folder that is all there is. */
  readonly path: string;
  readonly name: string;
  readonly match: Match;
  /** It was not named, but lies in a folder that was. */
  readonly inside: boolean;
}

const LOOKED_AT = 1000; // names in a folder
const KEPT_OPEN = 100; // datasets that were queried

/** The place that a path names; InvalidInput where there is nothing. */
export async function placeOf(path: string, signal: AbortSignal): Promise<Served> {
  if (/^(?!file:)[a-z][a-z0-9+.-]+:/i.test(path))
    throw new InvalidInput(`${path} is not on this machine, and what is not is not served`, { where: path });
  const location = await openLocation(path, { signal });
  const { store, at, file } = location;
  const { keys, prefixes } =
    file === undefined ? await store.children(at, { signal, bare: true }) : { keys: [file], prefixes: [] };
  const there =
    file === undefined ? keys.length + prefixes.length > 0 : (await store.stat(file, { signal })) !== undefined;
  if (!there) throw new InvalidInput(`${path} is not there, or empty`, { where: path });
  return { ...location, name: basename(resolve(path.replace(/\|.*$/, ""))) };
}

/** One folder is served as everything; several places, and files, have names. */
export const isAlone = (places: readonly Served[]): boolean => places.length === 1 && places[0]!.file === undefined;

/** The datasets of all places; the error of the first one that holds none. */
export async function datasetsAt(places: readonly Served[], opening: OpenFileOptions): Promise<Found[]> {
  const alone = isAlone(places);
  const found: Found[] = [];
  for (const place of places) found.push(...(await datasetsOf(place, alone ? "" : place.name, opening)));
  return found;
}

async function datasetsOf(place: Served, path: string, opening: OpenFileOptions): Promise<Found[]> {
  try {
    const { match } = await detect(place, opening);
    return [{ path, name: place.name, match, inside: false }];
  } catch (error) {
    if (!(error instanceof NotFound) || place.file !== undefined) throw error;
    const below = await datasetsBelow(place, path === "" ? "" : `${path}/`, opening);
    if (below.length === 0) throw error;
    return below;
  }
}

/** What formats claim one level below a folder: folders, and files. */
async function datasetsBelow({ store, at }: Served, path: string, opening: OpenFileOptions): Promise<Found[]> {
  const { keys, prefixes } = await store.children(at, { signal: opening.signal, bare: true });
  const all: (Location & { readonly name: string })[] = [
    ...prefixes.map((own) => ({ store, at: own, name: own.slice(at.length, -1) })),
    ...keys.map((file) => ({ store, at, file, name: file.slice(at.length) })),
  ];
  const found: Found[] = [];
  for (const { name, ...location } of all
    .filter((own) => !isHidden(own.name) && !isPrivate(own.name))
    .slice(0, LOOKED_AT)) {
    const match = await claimed(location, opening);
    if (match !== undefined) found.push({ path: path + name, name, match, inside: true });
  }
  return found;
}

/** What a format says of a place; undefined where none claims it, or what is there is damaged. */
async function claimed(location: Location, opening: OpenFileOptions): Promise<Match | undefined> {
  try {
    return (await detect(location, opening)).match;
  } catch (error) {
    if (error instanceof OctavoError) return undefined;
    throw error;
  }
}

/**
 * Queries of each dataset of geometry, which is opened when the first one comes:
 *
 *     /query             of the only place; where there are several datasets, their names
 *     /query/NAME        of several places, or of a folder with several datasets
 *     /query/NAME/NAME   of a dataset in one of several folders
 */
export function queryRoutes(places: readonly Served[], opening: OpenFileOptions): Route[] {
  const opened = new Map<string, Promise<Route>>();
  let naming: Promise<readonly string[]> | undefined;

  async function placeFor(path: string): Promise<Location | undefined> {
    if (path === "") return places.length === 1 ? places[0] : undefined;
    const [name, ...rest] = path.split("/");
    const [place, below] = isAlone(places)
      ? [places[0], path]
      : [places.find((own) => own.name === name), rest.join("/")];
    if (place === undefined || below === "") return place;
    if (place.file !== undefined || below.includes("/")) return undefined;
    const { store, at } = place;
    const file = Key.join(at, below);
    const isFile = (await store.stat(file, { signal: opening.signal })) !== undefined;
    return isFile ? { store, at, file } : { store, at: Prefix.join(at, below) };
  }

  async function open(path: string): Promise<Route> {
    const location = await placeFor(path);
    if (location === undefined) throw new NotFound(`there is no ${path}`);
    const dataset = await (await detect(location, opening)).match.open();
    if (dataset.kind === "vectors") return queryRoute("query", dataset);
    return { at: "query", answer: () => refusal(404, `this is ${dataset.kind}, and queries are about geometry`) };
  }

  function routeFor(path: string): Promise<Route> {
    const known = opened.get(path);
    if (known !== undefined) return known;
    const route = open(path);
    if (opened.size >= KEPT_OPEN) opened.delete(opened.keys().next().value!);
    opened.set(path, route);
    route.catch(() => opened.delete(path)); // perhaps it is there the next time
    return route;
  }

  function names(): Promise<readonly string[]> {
    naming ??= datasetsAt(places, opening)
      .then((found) => found.map(({ path }) => `/query/${path.split("/").map(encodeURIComponent).join("/")}`))
      .finally(() => {
        naming = undefined;
      });
    return naming;
  }

  async function answer(asked: Asked): Promise<Reply> {
    const path = asked.rest.replace(/\/$/, "");
    let route: Route;
    try {
      route = await routeFor(path);
    } catch (error) {
      if (!(error instanceof NotFound) || path !== "") throw error;
      return namesOf(await names(), asked.search !== "");
    }
    return route.answer(asked);
  }

  return [
    { at: "query", answer },
    { at: "query/", answer },
  ];
}

/** Where to ask; a query that came to no dataset is refused with that. */
function namesOf(places: readonly string[], isQuery: boolean): Reply {
  const error = "this is no dataset itself: ask one of the places";
  const body = new TextEncoder().encode(`${JSON.stringify({ ...(isQuery && { error }), places })}\n`);
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  return { status: isQuery ? 400 : 200, headers, body };
}
