/** What reading older meshes costs: their documents are indexes, which are read to know the files that they name. */
import type { ReadOptions, ReadPlan } from "../../../model/dataset.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import type { Meshes } from "./read.js";

export async function legacyCost(
  meshes: Meshes,
  { store, at }: { readonly store: Store; readonly at: Prefix },
  ids: BigUint64Array,
  documents: ReadPlan,
  options: ReadOptions,
): Promise<ReadPlan> {
  let { requests, bytes } = documents;
  for await (const { outline } of meshes.outlines(ids, options))
    for (const name of outline?.fragments ?? []) {
      requests++;
      if (store.can.list) bytes += (await store.stat(Key.join(at, name), { signal: options.signal }))?.size ?? 0;
    }
  return { ...documents, requests, bytes };
}
