/** What is said where no format claims a place: whether there is anything, and whether the data are one folder further down. */
import { NotFound, OctavoError } from "../errors.js";
import type { Format, FormatOptions } from "../model/format.js";
import { Key, LOGS, Prefix } from "../store/key.js";
import type { Location } from "../store/open.js";
import type { Store } from "../store/types.js";
import { JOURNAL, REMAINS } from "./zarr/room.js";

const LOOKED_AT = 5; // folders, for a hint

export async function nothingAt(
  location: Location,
  where: string,
  candidates: readonly Format[],
  names: string,
  options: FormatOptions,
): Promise<NotFound> {
  const unfinished = await underWay(location, where, options);
  if (unfinished !== undefined) return unfinished;
  const below = await foldersBelow(location, options);
  if (below?.empty) return new NotFound(`${where} is not there, or empty`, { where });
  const found = await firstBelow(location.store, below?.prefixes ?? [], candidates, options);
  return new NotFound(`${where} holds nothing that is ${names}`, {
    where,
    hint: found ?? "Is the address right? Perhaps the data are one folder further down.",
  });
}

/** What a conversion that is not finished has come to: which of its parts are there. */
async function underWay(
  { store, at }: Location,
  where: string,
  { signal }: FormatOptions,
): Promise<NotFound | undefined> {
  try {
    if (!store.can.list || (await store.stat(Key.join(at, JOURNAL), { signal })) === undefined) return undefined;
    const { keys } = await store.children(Prefix.join(at, `${LOGS}parts`), { signal });
    const found = keys.flatMap((key) => [...key.matchAll(/\/(\d+)-of-(\d+)$/g)].map(([, ...own]) => own.map(Number)));
    const there = found.map(([index]) => index!).sort((a, b) => a - b);
    const [, of] = found[0] ?? [];
    if (of === undefined)
      return new NotFound(`${where} holds a conversion that is not finished`, { where, hint: REMAINS });
    const missing = Array.from({ length: of }, (_, i) => i + 1).filter((index) => !there.includes(index));
    return new NotFound(
      `${where} holds a conversion in ${of} parts that is not finished: ${there.length === 1 ? "part" : "parts"} ${there.join(", ")} ${there.length === 1 ? "is" : "are"} there`,
      {
        where,
        hint:
          missing.length === 0
            ? "Put them together: --finish."
            : `Run ${missing.map((index) => `--part ${index}/${of}`).join(", ")}, then --finish.`,
      },
    );
  } catch (error) {
    if (error instanceof OctavoError) return undefined;
    throw error;
  }
}

/** A hint that names data one folder further down, where there are some. */
async function firstBelow(
  store: Store,
  folders: readonly Prefix[],
  candidates: readonly Format[],
  options: FormatOptions,
): Promise<string | undefined> {
  try {
    for (const at of folders.slice(0, LOOKED_AT))
      for (const format of candidates) {
        const match = await format.detect(store, at, options);
        if (match !== undefined)
          return `Did you mean ${`${store.url}/${at}`.replace(/\/$/, "")}? That is a ${match.summary}.`;
      }
  } catch (error) {
    if (!(error instanceof OctavoError)) throw error;
  }
  return undefined;
}

/** What lies right below a place; undefined where the store cannot or will not say. */
async function foldersBelow(
  { store, at }: Location,
  { signal }: FormatOptions,
): Promise<{ readonly empty: boolean; readonly prefixes: readonly Prefix[] } | undefined> {
  if (!store.can.list) return undefined;
  try {
    const { keys, prefixes } = await store.children(at, { signal });
    return { empty: keys.length + prefixes.length === 0, prefixes };
  } catch (error) {
    if (error instanceof OctavoError) return undefined;
    throw error;
  }
}
