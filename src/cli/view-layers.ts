/**
 * What `octavo view` makes of an address, so that the page can read it:
 *
 * | address                                     | the page reads                                                             |
 * |---------------------------------------------|----------------------------------------------------------------------------|
 * | http(s), of a server that lets pages read   | that address itself                                                        |
 * | anything else                               | data/N/NAME of this server, which reads it: nothing but what was named is there |
 * | a file without an index, of some size       | a sample of it (preview/N/NAME) until its store is made, then that store    |
 */
import { join } from "node:path";
import { NotFound, OctavoError } from "../errors.js";
import type { FileDataset } from "../format/interchange/dataset.js";
import { sampleOf } from "../format/interchange/sample.js";
import type { OpenFileOptions } from "../format/interchange/types.js";
import type { Dataset } from "../model/dataset.js";
import { convert, openLocation } from "../node.js";
import { detect } from "../open.js";
import { locationRoute, type Route, storeRoute } from "../server/index.js";
import { fileStore } from "../store/file.js";
import type { Location } from "../store/open.js";
import type { Preparing } from "../viewer/page/prepared.js";
import type { Session } from "./verb.js";
import { KeptStore } from "./view-store.js";

export interface ViewLayer {
  /** For the page: whole, or relative to it. */
  readonly url: string;
  readonly routes: readonly Route[];
  /** Of files without an index. */
  readonly work?: Work | undefined;
}

/** A store that is being made. */
export interface Work {
  /** What the page is told; undefined once all of it is there. */
  state(): Preparing | undefined;
  /** Where the store is kept. */
  readonly path: string;
  /** Makes it, and says so; resolves also where that failed. */
  run(): Promise<void>;
  stop(): void;
}

/** Files up to this size are read by the page as they are. */
const SMALL = 4 << 20;
/** Milliseconds that a sample may take: what must be gone through for one is shown when it is prepared. */
const SOON = 10_000;

/** With `skipBad` also small files become stores: what is left out of them is told here, and not known to the page. */
export async function layerOf(
  url: string,
  number: number,
  folder: string,
  session: Session,
  skipBad = false,
): Promise<ViewLayer> {
  const { signal } = session;
  const location = await openLocation(url, { signal });
  const opening: OpenFileOptions = { signal, onBad: skipBad ? () => {} : undefined };
  const { match } = await detect(location, opening);
  const name = nameOf(url);
  const size = location.file === undefined ? undefined : await location.store.stat(location.file, { signal });
  if (size !== undefined && (skipBad || size.size > SMALL)) {
    const dataset = await match.open();
    if (isPlainFile(dataset))
      return preparedLayer({ url, name, ...size, version: size.version, skipBad }, dataset, number, folder, session);
  }
  if (/^https?:/i.test(url) && (await letsPagesRead(url, signal))) return { url, routes: [] };
  const at = `data/${number}/`;
  const format = location.format === undefined ? "" : `|${location.format}:`;
  if (location.file === undefined)
    return { url: `${addressOf(at, name)}/${format}`, routes: [locationRoute(`${at}${name}/`, location)] };
  return { url: addressOf(at, lastOf(location)) + format, routes: [locationRoute(at, location)] };
}

const addressOf = (at: string, name: string): string => at + encodeURIComponent(name);
const lastOf = ({ file }: Location): string => file!.slice(file!.lastIndexOf("/") + 1);
const nameOf = (url: string): string =>
  url
    .replace(/\|.*$/, "")
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .replace(/^.*\//, "")
    .replace(/^\.*/, "") || "data";

/** A file of other software that says nowhere where in space its data are. */
const isPlainFile = (dataset: Dataset): dataset is FileDataset =>
  "content" in dataset && (dataset as FileDataset).content.levels === undefined;

/** Whether a browser would let a page of another server read there; where that is in doubt, this server reads. */
async function letsPagesRead(url: string, signal: AbortSignal): Promise<boolean> {
  const origin = "http://127.0.0.1";
  const within = AbortSignal.any([signal, AbortSignal.timeout(3_000)]);
  try {
    const { headers } = await fetch(url.replace(/\|.*$/, ""), { method: "HEAD", headers: { origin }, signal: within });
    return ["*", origin].includes(headers.get("access-control-allow-origin") ?? "");
  } catch {
    return false;
  }
}

async function preparedLayer(
  file: ConstructorParameters<typeof KeptStore>[0],
  dataset: FileDataset,
  number: number,
  folder: string,
  { output, signal }: Session,
): Promise<ViewLayer> {
  const kept = new KeptStore(file);
  const { name } = file;
  const url = `${addressOf(`data/${number}/`, name)}/`;
  const whole = `data/${number}/${name}/`;
  if (await kept.isThere()) {
    output.remark(`${name} has no index; shown is its store of an earlier time, ${kept.path}`);
    return { url, routes: [storeRoute(whole, fileStore(kept.path))], work: done(kept.path) };
  }
  const sample = join(folder, `sample${number}.zv`);
  const within = AbortSignal.any([signal, AbortSignal.timeout(SOON)]);
  const isSampled = await makeSample(dataset, sample, within).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof OctavoError || within.aborted)) throw error;
    return false;
  });
  output.remark(
    `${name} has no index: ${isSampled ? "a sample of it is shown" : "nothing of it is shown yet"}, while a store is made in ${kept.path}`,
  );
  const preview = `preview/${number}/${name}/`;
  const shows = isSampled ? `${addressOf(`preview/${number}/`, name)}/` : undefined;
  let state: Preparing | undefined = { url, shows, says: `${what(name, isSampled)} being prepared.` };
  let made: Route | undefined;
  const later: Route = {
    at: whole,
    answer: (asked) => {
      if (made === undefined) throw new NotFound(`${name} is still being prepared`);
      return made.answer(asked);
    },
  };
  const run = async (): Promise<void> => {
    try {
      await kept.make((how) => {
        state = { url, shows, says: `${what(name, isSampled)} being prepared: ${how}.` };
      }, output.remark);
      made = storeRoute(whole, fileStore(kept.path));
      state = undefined;
      output.remark(`${name} is all there now, in ${kept.path}`);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      state = { url, shows, says: `${name} could not be prepared: ${why}`, failed: true };
      output.remark(state.says);
    }
  };
  return {
    url,
    routes: [later, ...(isSampled ? [storeRoute(preview, fileStore(sample))] : [])],
    work: { state: () => state, path: kept.path, run, stop: () => kept.stop() },
  };
}

const what = (name: string, isSampled: boolean): string =>
  isSampled ? `Shown is a sample of ${name}; all of it is` : `${name} is`;

const done = (path: string): Work => ({ state: () => undefined, path, run: async () => {}, stop() {} });

/** A store of some of the file; false where there is nothing that could be taken without going through all of it. */
async function makeSample(dataset: FileDataset, at: string, signal: AbortSignal): Promise<boolean> {
  const sample = await sampleOf(dataset, { signal });
  const { vertices = 0 } = await sample.describe();
  if (vertices === 0) return false;
  await convert(sample, at, { to: "zarr-vectors", durability: "none", signal });
  return true;
}
