/**
 * A conversion in parts, each a share of the keys of the target: every part reads all of the input and writes what is its own, so that
 * a part that runs again writes the same. `finish` needs no input but its size: it checks what the parts say of themselves.
 *
 * | key below .octavo/parts/ | holds                                                                          |
 * |--------------------------|--------------------------------------------------------------------------------|
 * | 3-of-8                   | of a part that is done: a line of JSON, then size and key of all that it wrote |
 * | DIGEST/…                 | the documents that the parts came to, under the keys that they will have       |
 */
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from "../bytes/json.js";
import { decodeUtf8, encodeUtf8 } from "../bytes/text.js";
import { Conflict, Corrupt, InvalidInput, NotFound } from "../errors.js";
import { defaultLimits } from "../limits.js";
import { Key, LOGS, Prefix } from "../store/key.js";
import type { ConvertReport } from "./arrays.js";
import { digest, type Job, jobText } from "./job.js";
import {
  dataAt,
  isEmpty,
  jobAt,
  type More,
  mustBeSame,
  type Place,
  publish,
  type StageOptions,
  type Work,
} from "./stage.js";
import { partOf, type Staged, staged } from "./staged.js";

const recordsAt = (at: Prefix): Prefix => Prefix.join(at, `${LOGS}parts`);

/** One share of the work; its record says that it is done. */
export async function partly(
  given: Place,
  before: Job | undefined,
  { index, of }: NonNullable<StageOptions["part"]>,
  goesOn: boolean,
  work: Work,
): Promise<ConvertReport> {
  const place = { ...given, job: { ...given.job, parts: of } };
  const { store, at, where, signal } = place;
  if (![index, of].every(Number.isSafeInteger) || index < 1 || index > of)
    throw new InvalidInput(`a part should be one of its number, such as 1 of 8, found ${index} of ${of}`);
  if (before === undefined) await beginParts(place);
  else mustBeSame(place, before);
  if (before?.report !== undefined)
    throw new Conflict(`${where} is finished but for the links between its levels`, {
      where,
      hint: "Add --finish once more.",
    });
  const there = goesOn ? await dataAt(place) : new Map<Key, number>();
  const stage = staged(store, (key) => partOf(key, at, of) === index - 1, there);
  const report = await work({ store: stage.store, at });
  const documents = await putDocuments(place, stage);
  const { losses, notes = [], ...counts } = report;
  const head = { documents, report: { ...counts, losses, notes } } as unknown as JsonObject;
  const lines = [stringifyJson(head)];
  let bytes = 0;
  for (const [key, size] of stage.sizes) {
    lines.push(`${size} ${key.slice(at.length)}`);
    bytes += size;
  }
  await store.set(recordOf(at, index, of), encodeUtf8(lines.join("\n"), "a record"), { signal });
  return { ...report, part: { index, of, keys: stage.sizes.size, bytes } };
}

/** The first part to come says what all are of. */
async function beginParts(place: Place): Promise<void> {
  const { store, where, journal, job, signal } = place;
  const empty = await isEmpty(place);
  const other = await jobAt(place); // which another part may have written by now
  if (other !== undefined) return mustBeSame(place, other);
  if (!empty)
    throw new Conflict(`${where} is not empty, and parts are written to an empty place`, {
      where,
      hint: "Choose another place, or delete what is there: octavo delete.",
    });
  try {
    await store.set(journal, jobText(job), { signal, if: { absent: true } });
  } catch (error) {
    const first = error instanceof Conflict ? await jobAt(place) : undefined;
    if (first === undefined) throw error;
    mustBeSame(place, first);
  }
}

const recordOf = (at: Prefix, index: number, of: number): Key => Key.join(recordsAt(at), `${index}-of-${of}`);

/** What all parts come to is kept once: under its digest, names in order. */
async function putDocuments({ store, at, signal }: Place, { documents }: Staged): Promise<JsonObject> {
  const names = [...documents.keys()].map((key) => key.slice(at.length));
  const said = [...documents].map(([key, bytes]) => `${key.slice(at.length)} ${digest(bytes)}`);
  const all = digest(said.sort().join("\n")); // those of chunks come in any order
  const folder = Prefix.join(recordsAt(at), all);
  for (const [key, bytes] of documents) await store.set(Key.join(folder, key.slice(at.length)), bytes, { signal });
  return { digest: all, names };
}

interface Record {
  readonly index: number;
  readonly report: ConvertReport;
  readonly documents: { readonly digest: string; readonly names: readonly string[] };
  readonly sizes: ReadonlyMap<Key, number>;
}

/** Checks that all parts are there and are those of one conversion, and makes what they have written visible. */
export async function finished(
  given: Place,
  before: Job | undefined,
  more: More["unseen"] = async (report) => report,
): Promise<ConvertReport> {
  const { store, at, where, signal } = given;
  if (before?.parts === undefined)
    throw new NotFound(`${where} has no parts that could be put together`, {
      where,
      hint: "They are written with --part 1/8, --part 2/8 …",
    });
  const { parts } = before;
  const place = { ...given, job: { ...given.job, parts } };
  mustBeSame(place, before);
  if (before.report !== undefined) return before.report as unknown as ConvertReport;
  const records: Record[] = [];
  const missing: number[] = [];
  for (let index = 1; index <= parts; index++) {
    const record = await recordAt(place, index, parts);
    if (record === undefined) missing.push(index);
    else records.push(record);
  }
  const again = (which: readonly number[]): string =>
    `Run ${which.map((index) => `--part ${index}/${parts}`).join(", ")}.`;
  if (missing.length > 0)
    throw new NotFound(
      `${where} is not complete: ${named(missing)} of ${parts} ${missing.length > 1 ? "are" : "is"} missing`,
      {
        where,
        hint: again(missing),
      },
    );
  const [{ documents }] = records as [Record];
  const others = records.filter((record) => record.documents.digest !== documents.digest).map(({ index }) => index);
  if (others.length > 0)
    throw new Corrupt(
      `${where}: ${named(others)} of ${parts} came to other metadata than part 1, as from another input`,
      {
        where,
        hint: `All of them must read the same. ${again(others)}`,
      },
    );
  const there = await dataAt(place);
  const data = new Set<Key>();
  for (const { index, sizes } of records)
    for (const [key, size] of sizes) {
      data.add(key);
      if (there.get(key) === size) continue;
      const found = there.has(key) ? `has ${there.get(key)} bytes` : "is not there";
      throw new Corrupt(`${where}/${key.slice(at.length)}, which part ${index} wrote with ${size} bytes, ${found}`, {
        where,
        hint: again([index]),
      });
    }
  const stage = staged(store, () => true, there);
  const folder = Prefix.join(recordsAt(at), documents.digest);
  for (const name of documents.names) {
    const bytes = await store.get(Key.join(folder, name), { signal });
    if (bytes === undefined)
      throw new Corrupt(`${where}: the document ${name} that its parts wrote is gone`, { where, hint: again([1]) });
    stage.documents.set(Key.join(at, name), bytes);
  }
  const report = await more(reportOf(records, parts), { store: stage.store, at });
  for (const key of stage.sizes.keys()) data.add(key);
  await publish(place, report, stage.documents, data);
  return report;
}

const named = (parts: readonly number[]): string => `part${parts.length > 1 ? "s" : ""} ${parts.join(", ")}`;

/** What a part that is done says of itself. */
async function recordAt({ store, at, where, signal }: Place, index: number, of: number): Promise<Record | undefined> {
  const key = recordOf(at, index, of);
  const bytes = await store.get(key, { signal });
  if (bytes === undefined) return undefined;
  const [head = "", ...lines] = decodeUtf8(bytes, `${where}/${key}`).split("\n");
  const said = parseJson(head, defaultLimits, `${where}/${key}`);
  if (!isJsonObject(said) || !isJsonObject(said.documents) || !isJsonObject(said.report))
    throw new Corrupt(`${where}/${key} should be the record of a part, found something else`, {
      where: `${where}/${key}`,
    });
  const sizes = lines.map((line): [Key, number] => {
    const blank = line.indexOf(" ");
    return [Key.join(at, line.slice(blank + 1)), Number(line.slice(0, blank))];
  });
  return { ...(said as unknown as Pick<Record, "documents" | "report">), index, sizes: new Map(sizes) };
}

/** What all of them did; what only some lose is told with their numbers. */
function reportOf(records: readonly Record[], parts: number): ConvertReport {
  const [{ report: first }] = records as [Record];
  const sum = (of: "chunksCopied" | "chunksRecoded"): number =>
    records.reduce((total, { report }) => total + report[of], 0);
  const told = (of: "losses" | "notes"): string[] => {
    const all = new Set(records.flatMap(({ report }) => report[of] ?? []));
    return [...all].flatMap((sentence) => {
      const own = records.filter(({ report }) => report[of]?.includes(sentence));
      return own.length === records.length
        ? [sentence]
        : own.map(({ index }) => `part ${index} of ${parts}: ${sentence}`);
    });
  };
  const isArray = first.vertices === undefined;
  return {
    ...first,
    chunksCopied: isArray ? sum("chunksCopied") : first.chunksCopied,
    chunksRecoded: isArray ? sum("chunksRecoded") : first.chunksRecoded,
    losses: told("losses"),
    notes: told("notes"),
  };
}
