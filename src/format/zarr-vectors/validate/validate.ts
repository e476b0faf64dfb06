/**
 * Everything that can be wrong with a store, level by level, in bounded memory: a few chunks at a time, and a few numbers for
 * each chunk, fragment and object. What the rules say is in validate-rules.ts.
 *
 * | option level | looks at                                                                      | file                      |
 * |--------------|-------------------------------------------------------------------------------|---------------------------|
 * | 1            | the documents of the root, the levels and the object index                    | this, validate-level.ts   |
 * | 2            | what these say of each other                                                  | validate-documents.ts     |
 * | 3            | directories and counts against what is stored                                 | validate-level.ts         |
 * | 4            | every chunk decodes                                                           | validate-chunks.ts …      |
 * | 5            | positions, owners, ends of links, levels against each other                   | … -objects, -links, -levels |
 *
 * After an error in the root nothing else is looked at; after one in a level's document, the other levels are.
 */
import type { Finding, ValidateOptions } from "../../../model/format.js";
import type { Prefix } from "../../../store/key.js";
import { Head, headKey } from "../../../store/transaction-log.js";
import type { Store } from "../../../store/types.js";
import { checkConsolidated } from "../../zarr/consolidated-check.js";
import { openZarr } from "../../zarr/open.js";
import { type OpenedStore, openStore } from "../nodes/open-nodes.js";
import { readParametric } from "../read/parametric.js";
import { checkRoot } from "./validate-documents.js";
import { type CheckedLevel, checkLevel } from "./validate-level.js";
import { checkPyramid } from "./validate-levels.js";
import { attempt, failure, finding, isFinding } from "./validate-rules.js";

export async function* validateZarrVectors(
  store: Store,
  at: Prefix,
  options: ValidateOptions = {},
): AsyncGenerator<Finding> {
  const { signal, level: depth = 5 } = options;
  signal?.throwIfAborted();
  const url = at === "" ? store.url : `${store.url}/${at.slice(0, -1)}`;
  // Consolidated metadata are only a hint: every node is taken at its own word.
  yield* leftovers(store, at, url, options);
  const opened = await attempt("metadata", url, () => openStore(store, at, { ...options, consolidated: false }));
  if (isFinding(opened)) {
    yield opened;
    return;
  }
  if (opened.levels.length === 0) yield finding("levels", url, "the store has no level");
  yield* checkRoot(opened, depth);
  if (depth >= 2) yield* consolidated(opened, options);

  const checked: CheckedLevel[] = [];
  for (const number of opened.levels) {
    const found = yield* checkLevel(opened, number, options);
    if (found !== undefined) checked.push(found);
  }
  if (depth >= 4) yield* parametric(opened, options);
  yield* checkPyramid(opened, checked, options);
  for (const note of opened.notes) yield finding("note", url, note);
}

/** What writers of this store have left: a commit on its way, and writes that never ended. */
async function* leftovers(store: Store, at: Prefix, url: string, { signal }: ValidateOptions): AsyncGenerator<Finding> {
  try {
    if ((await Head.get({ store, at }, { signal })).pending !== undefined)
      yield finding(
        "torn-transaction",
        headKey(at),
        "a committed change has not been brought to its place: Octavo reads it from the log, other software does not see it",
        { says: "bring the change to its place", recover: true },
      );
    if (!store.can.list) return;
    const { keys } = await store.children(at, { signal, partial: true });
    for (const key of keys)
      if (key.endsWith(".partial"))
        yield finding(
          "leftover-partial",
          key,
          "a write that has not ended, or never will, left this; readers ignore it",
        );
  } catch (error) {
    yield failure("metadata", url, error);
  }
}

async function* consolidated({ store, at, url }: OpenedStore, options: ValidateOptions): AsyncGenerator<Finding> {
  const root = await attempt("metadata", url, () => openZarr(store, at, { ...options, consolidated: true }));
  if (isFinding(root) || root.kind !== "group" || root.meta.consolidated === undefined) return;
  for await (const found of checkConsolidated(root, options)) {
    if (found instanceof Error) yield failure("array", url, found);
    else
      yield finding("consolidated-differs", url, found, {
        says: "take the consolidated metadata away",
        consolidated: true,
      });
  }
}

async function* parametric(opened: OpenedStore, options: ValidateOptions): AsyncGenerator<Finding> {
  const where = `${opened.at}parametric`;
  const found = await attempt("parametric", where, async () => {
    const nodes = await opened.parametric(options);
    if (nodes !== undefined) await readParametric(nodes, options);
    return undefined;
  });
  if (isFinding(found)) yield found;
}
