/** Room for something new: an empty place, outside of what it is made from. */
import { Conflict, InvalidInput } from "../../errors.js";
import { Key, type Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type CreateOptions, makeRoom } from "./create.js";
import { deleteNode } from "./edit.js";
import { urlOf } from "./node.js";

/** The name of the journal; it also marks a place as one that a conversion may clear. */
export const JOURNAL = "octavo-convert.json";

/** The ways out where a conversion was interrupted. */
export const REMAINS = "Go on with it: --resume (of parts: --part, --finish); or begin anew: --overwrite.";

/** Overwriting would delete the source before it is read. */
export function refuseOverlap(
  dataset: { readonly url: string; readonly store?: Store },
  store: Store,
  at: Prefix,
): void {
  if (dataset.store !== store && store.url.startsWith("memory:")) return; // a name that many stores share
  const [source, target] = [dataset.url, urlOf(store, at)];
  if (`${source}/`.startsWith(`${target}/`) || `${target}/`.startsWith(`${source}/`)) {
    throw new InvalidInput(`${source} cannot be converted to ${target}: one lies inside the other`, { where: target });
  }
}

/**
 * An empty place, or Conflict; old chunks would otherwise show through where new ones are absent. Only a dataset, or what an
 * interrupted conversion left, is ever deleted: a folder of other things is not ours.
 */
export async function clear(store: Store, at: Prefix, options: CreateOptions): Promise<void> {
  await makeRoom(store, at, options);
  const { keys, prefixes } = await store.children(at, { signal: options.signal });
  if (keys.length + prefixes.length === 0) return;
  const where = urlOf(store, at);
  if (!keys.includes(Key.join(at, JOURNAL))) {
    const hint = "Choose an empty place, or empty this one yourself.";
    throw new Conflict(`${where} is not empty, and what it holds is no dataset`, { where, hint });
  }
  if (options.overwrite === true) return deleteNode(store, at, options);
  throw new Conflict(`${where} holds an interrupted conversion`, { where, hint: REMAINS });
}
