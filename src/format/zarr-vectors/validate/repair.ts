/**
 * Repair: what follows from the rest is written again, and nothing is made up. `validate` says what that is: every finding with a
 * `fix` has the change beside it. All changes are one transaction, so that a store is as before or repaired.
 *
 * Directories come first, because counts follow from what they name; so the store is looked at again after each round, until
 * nothing is left that can be repaired.
 */
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from "../../../bytes/json.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Corrupt } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { Finding, FormatOptions, RepairOptions, RepairReport } from "../../../model/format.js";
import { Key, Prefix } from "../../../store/key.js";
import { Transaction } from "../../../store/transaction.js";
import type { Store } from "../../../store/types.js";
import { editLevel } from "../edit/edit-level.js";
import { openTree } from "../edit/edit-tree.js";
import { markLog } from "../nodes/log-mark.js";
import { validateZarrVectors } from "./validate.js";
import { type Fix, fixOf } from "./validate-rules.js";

const ROUNDS = 4; // directories, counts, seals, and a look that finds nothing

export async function repairZarrVectors(
  store: Store,
  at: Prefix = Prefix.root,
  options: RepairOptions = {},
): Promise<RepairReport> {
  if (options.dryRun === true) return sorted(await look(store, at, options));
  const torn = (await look(store, at, { ...options, level: 1 })).filter((found) => isRecovery(fixOf(found)));
  await Transaction.recover(store, at, { signal: options.signal });
  const { result } = await Transaction.run(
    store,
    at,
    async (view): Promise<RepairReport> => {
      const fixed: Finding[] = [...torn];
      for (let round = 1; ; round++) {
        const found = sorted(await look(view, at, options));
        if (found.fixed.length === 0 || round === ROUNDS) return { fixed, left: [...found.fixed, ...found.left] };
        if (round === 1) await markLog(store, at, options);
        await apply(view, at, found.fixed, options);
        fixed.push(...found.fixed);
      }
    },
    { signal: options.signal },
  );
  return result;
}

async function look(
  store: Store,
  at: Prefix,
  options: FormatOptions & { readonly level?: 1 | undefined },
): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const one of validateZarrVectors(store, at, options)) found.push(one);
  return found;
}

const isRecovery = (fix: Fix | undefined): boolean => fix !== undefined && "recover" in fix;

const sorted = (found: readonly Finding[]): RepairReport => ({
  fixed: found.filter((one) => fixOf(one) !== undefined),
  left: found.filter((one) => fixOf(one) === undefined),
});

async function apply(store: Store, at: Prefix, found: readonly Finding[], options: FormatOptions): Promise<void> {
  const owners = new Set<number>();
  for (const one of found) {
    const fix = fixOf(one)!;
    if ("node" in fix) await change(store, at, fix.node, fix.change, options);
    else if ("owners" in fix) owners.add(fix.owners);
    else if ("consolidated" in fix) await dropConsolidated(store, at, options);
  }
  // Owners go with documents that are final: when others have changed in this round, the next one sees to them.
  if (owners.size === 0 || found.some((one) => "node" in fixOf(one)!)) return;
  for (const level of owners) {
    const tree = await openTree(store, at, options);
    await (await editLevel(tree, level)).finish();
    await tree.flush();
  }
}

/** The document of a node, whatever the version: `zarr.json`, or `.zattrs` which has nothing but attributes. */
async function change(
  store: Store,
  at: Prefix,
  node: string,
  edit: (attributes: JsonObject) => JsonObject,
  options: FormatOptions,
): Promise<void> {
  const place = node === "" ? at : Prefix.join(at, node);
  for (const name of ["zarr.json", ".zattrs"]) {
    const key = Key.join(place, name);
    const document = await read(store, key, options);
    if (document === undefined) continue;
    const own = isJsonObject(document.attributes) ? document.attributes : {};
    const changed = name === ".zattrs" ? edit(document) : { ...document, attributes: edit(own) };
    await write(store, key, changed, options);
    return;
  }
  throw new Corrupt(`${store.url}/${place} has no document that could be repaired`, { where: place });
}

async function dropConsolidated(store: Store, at: Prefix, options: FormatOptions): Promise<void> {
  const key = Key.join(at, "zarr.json");
  const { consolidated_metadata: _, ...document } = (await read(store, key, options)) ?? {};
  await write(store, key, document, options);
}

async function read(store: Store, key: Key, options: FormatOptions): Promise<JsonObject | undefined> {
  const limits = withLimits(options.limits);
  const bytes = await store.get(key, { signal: options.signal, most: limits.metadataBytes });
  const document = bytes && parseJson(bytes, limits, key, { tokens: true });
  return isJsonObject(document) ? document : undefined;
}

const write = (store: Store, key: Key, document: JsonObject, { signal }: FormatOptions): Promise<void> =>
  store.set(key, encodeUtf8(stringifyJson(document), key), { signal });
