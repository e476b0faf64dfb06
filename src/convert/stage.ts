/**
 * Work whose result is there whole or not at all, and that several runs may share: one goes on where another was killed, or each does
 * a part (parts.ts). While it is under way the target has octavo-convert.json: what is converted, and how (job.ts); with a report
 * once nothing but links between levels is missing.
 */
import type { JsonObject } from "../bytes/json.js";
import { Conflict, Unsupported } from "../errors.js";
import { urlOf } from "../format/zarr/node.js";
import { JOURNAL } from "../format/zarr/room.js";
import { forEachConcurrent } from "../model/concurrent.js";
import { isPrivate, Key } from "../store/key.js";
import type { Location } from "../store/open.js";
import type { Store } from "../store/types.js";
import { wrap } from "../store/wrap.js";
import type { ConvertReport } from "./arrays.js";
import { difference, type Job, jobText, parseJob } from "./job.js";
import { finished, partly } from "./parts.js";
import { isDocument, staged } from "./staged.js";

/** How the work is shared. */
export interface StageOptions {
  readonly signal?: AbortSignal | undefined;
  readonly overwrite?: boolean | undefined;
  /** Go on with a conversion that was interrupted: what it has written is not made again. What fails stays, to go on with. */
  readonly resume?: boolean | undefined;
  /** Do only this share of the work, from 1. The others may be done at the same time, elsewhere; `finish` puts them together. */
  readonly part?: { readonly index: number; readonly of: number } | undefined;
  /** All parts are there: check them and make the target visible. */
  readonly finish?: boolean | undefined;
}

export interface Place extends Location {
  readonly where: string;
  readonly journal: Key;
  readonly job: Job;
  readonly signal: AbortSignal | undefined;
}

export type Work = (location: Location) => Promise<ConvertReport>;

/** What comes when the work is done. */
export interface More {
  /** Of parts that are put together: before anybody sees them. */
  readonly unseen?: ((report: ConvertReport, location: Location) => Promise<ConvertReport>) | undefined;
  /** When everything is there. */
  readonly last?: ((report: ConvertReport) => Promise<ConvertReport>) | undefined;
}

/** Does the work as the options say. */
export async function inStage(
  location: Location,
  job: Job,
  options: StageOptions,
  work: Work,
  { unseen, last }: More,
): Promise<ConvertReport> {
  const { store, at } = location;
  const { signal, part, finish, resume } = options;
  const where = urlOf(store, at);
  if (!store.can.conditional || !store.can.list) {
    if ([part, finish || undefined, resume || undefined].every((asked) => asked === undefined))
      return (last ?? same)(await work(location));
    throw new Unsupported(`${where} is written in one go, and not in parts or by resuming`, {
      where,
      hint: "Write to a folder first.",
    });
  }
  const journal = Key.join(at, JOURNAL);
  const place: Place = { ...location, where, journal, job, signal };
  const before = await jobAt(place);
  const goesOn = resume === true && (before !== undefined || (await isEmpty(place)));
  if (part !== undefined) return partly(place, before, part, goesOn, work);
  if (finish === true) return ended(place, await finished(place, before, unseen), last);
  if (goesOn) return ended(place, await resumed(place, before, work), last);
  return (last ?? same)(await anew(place, work));
}

const same = async (report: ConvertReport): Promise<ConvertReport> => report;

/** What comes last: what is wanted besides, and then nothing tells any more that there was work. */
async function ended({ store, journal }: Place, report: ConvertReport, last = same): Promise<ConvertReport> {
  try {
    return await last(report);
  } finally {
    await store.delete(journal);
  }
}

/** In a place that the work itself makes room in; the journal says what it is. */
function anew({ store, at, journal, job }: Place, work: Work): Promise<ConvertReport> {
  const set: Store["set"] = (key, value, call) => store.set(key, key === journal ? jobText(job) : value, call);
  return work({ store: wrap(store, { set }), at });
}

/** From here on only what is not data of the target is missing. */
async function mark({ store, journal, job, signal }: Place, report: ConvertReport): Promise<void> {
  await store.set(journal, jobText({ ...job, report: report as unknown as JsonObject }), { signal });
}

export async function jobAt({ store, journal, where, signal }: Place): Promise<Job | undefined> {
  const bytes = await store.get(journal, { signal });
  if (bytes === undefined) return undefined;
  return parseJob(bytes, `${where}/${JOURNAL}`) ?? { inputs: {}, versions: "", options: {} };
}

export async function isEmpty({ store, at, signal }: Place): Promise<boolean> {
  const { keys, prefixes } = await store.children(at, { signal, bare: true });
  return keys.length + prefixes.length === 0;
}

export function mustBeSame({ where, job }: Place, before: Job): void {
  const other = difference(before, job);
  if (other === undefined) return;
  throw new Conflict(`${where} holds an interrupted conversion that is not this one: ${other}`, {
    where,
    hint: "Convert the same input with the same options, or begin anew with --overwrite.",
  });
}

async function resumed(place: Place, before: Job | undefined, work: Work): Promise<ConvertReport> {
  const { store, at, journal, job, signal } = place;
  if (before === undefined) await store.set(journal, jobText(job), { signal });
  else mustBeSame(place, before);
  if (before?.report !== undefined) return before.report as unknown as ConvertReport;
  const stage = staged(store, () => true, await dataAt(place));
  const report = await work({ store: stage.store, at });
  await publish(place, report, stage.documents, new Set(stage.sizes.keys()));
  return report;
}

/** The data that are there, with their sizes. */
export async function dataAt({ store, at, signal }: Place): Promise<Map<Key, number>> {
  const there = new Map<Key, number>();
  for await (const { key, size } of store.list(at, { signal })) {
    if (isPrivate(key) || isDocument(key)) continue;
    there.set(key, size ?? (await store.stat(key, { signal }))?.size ?? 0);
  }
  return there;
}

/** Makes the data visible, and takes away what is none of it: what killed runs have left. */
export async function publish(
  place: Place,
  report: ConvertReport,
  documents: ReadonlyMap<Key, Uint8Array>,
  data: ReadonlySet<Key>,
): Promise<void> {
  const { store, at, journal, signal } = place;
  signal?.throwIfAborted();
  for (const [key, bytes] of documents) await store.set(key, bytes, { signal });
  await mark(place, report);
  const remains: Key[] = [];
  for await (const { key } of store.list(at, { signal, bare: true }))
    if (key !== journal && !data.has(key) && !documents.has(key)) remains.push(key);
  await forEachConcurrent(remains, 16, (key) => store.delete(key));
}
