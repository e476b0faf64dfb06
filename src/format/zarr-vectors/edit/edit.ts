/**
 * Edits of a store, from 0.9 on. What is asked for is written down, and done when it is committed, as one transaction
 * (store/transaction.ts): all of it or nothing, whatever happens meanwhile. Others may edit at the same time; who comes second
 * to what both have read does his work again on top of theirs, so that nothing is lost and no id is given twice.
 *
 * Objects keep their ids on every level. Other software that edits does not use transactions: it must not edit at the same time.
 */
import { InvalidInput } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { Domain, Positions } from "../../../model/vectors.js";
import { LOGS, Prefix } from "../../../store/key.js";
import { type Committed, Transaction, type TransactionOptions } from "../../../store/transaction.js";
import type { Store } from "../../../store/types.js";
import { marked, markLog } from "../nodes/log-mark.js";
import type { LevelLinks } from "../read/link-levels.js";
import type { NewLevels } from "../write/write.js";
import type { BatchParts } from "../write/write-batch.js";
import type { GroupMembers } from "../write/write-index.js";
import { appendBatch, deleteObjects, replaceObject } from "./edit-append.js";
import { type AddedValues, type AttributeRows, addAttribute, dropAttribute, setAttribute } from "./edit-attributes.js";
import { linkLevels } from "./edit-between.js";
import { changeGroups, membersOf } from "./edit-groups.js";
import { replaceLevels } from "./edit-levels.js";
import { tellLinks } from "./edit-link-attributes.js";
import { moveVertices } from "./edit-move.js";
import { rechunk } from "./edit-rechunk.js";
import { reshard } from "./edit-shards.js";
import { openTree, type Tree } from "./edit-tree.js";

/** How a store is edited. */
export interface EditOptions extends ReadOptions, Pick<TransactionOptions, "lease" | "memory"> {
  /** What lies outside the grid makes it grow; else it is refused. */
  readonly expand?: boolean | undefined;
}

/** What a commit of edits has led to. */
export interface VectorCommitted extends Committed {
  /** The ids of the objects of each append, in the order of the appends. */
  readonly ids: readonly BigInt64Array[];
}

type Id = number | bigint;

/** Edits that happen together or not at all, when they are committed. */
export interface VectorTransaction {
  /** Adds objects under their ids, or under new ones where they have none, or should get others. */
  append(batch: BatchParts, options?: { readonly newIds?: boolean | undefined }): void;
  /** Objects go, on every level; their ids are not given again. */
  delete(ids: Iterable<Id>): void;
  /** Other geometry for an object, whose attributes and groups stay. */
  replace(id: Id, batch: Omit<BatchParts, "ids" | "objects">): void;
  /** Other positions for vertices of an object, by their rows as a query for it has them. */
  moveVertices(id: Id, rows: ArrayLike<number>, positions: Positions): void;
  /** Other values of an attribute that is there. */
  setAttribute(domain: Domain, name: string, rows: AttributeRows, values: Column["values"]): void;
  /**
   * A new attribute: values of objects or groups, or of the vertices, links or fragments of these objects one after the other; of
   * all of them where no ids are given. What gets no value has what stands for none.
   */
  addAttribute(domain: Domain, info: AttributeInfo, values?: AddedValues): void;
  /** An attribute goes, from every level. */
  dropAttribute(domain: Domain, name: string): void;
  /**
   * Chunks of another size: of the finest level, and of coarser ones in proportion. Everything else stays. Bins stay where they
   * fill the new chunks, else the chunks are the bins. A level at a time is held in memory.
   */
  rechunk(chunkShape: readonly number[] | number): void;
  /** Cells of so many chunks along each axis share a key; of all per-chunk arrays. */
  shard(shape: readonly number[]): void;
  /** Every cell has a key of its own. */
  unshard(): void;
  /** Coarser levels, anew: level 1, 2 … instead of those that are there. `maxMemory` bytes are held on the way. */
  setLevels(levels: NewLevels, maxMemory?: number): void;
  /** Links between levels, anew: `links` gives those from a level to the next coarser one, which are stored with both. */
  linkLevels(links: (level: number) => AsyncIterable<LevelLinks>, maxMemory?: number): void;
  /** All groups, anew. */
  setGroups(groups: readonly GroupMembers[]): void;
  /** One more group, after those that are there. */
  addGroup(members: GroupMembers): void;
  /** A group goes; those after it move up. */
  dropGroup(group: number): void;
  /** Makes all of them at once; tried again where others were faster. */
  commit(): Promise<VectorCommitted>;
  /** Forgets them. */
  abort(): Promise<void>;
}

type Step = (tree: Tree, ids: BigInt64Array[], view: Store) => Promise<void>;

/** Begins edits of a store. */
export async function editZarrVectors(
  store: Store,
  at: Prefix = Prefix.root,
  options: EditOptions = {},
): Promise<VectorTransaction> {
  const expand = options.expand === true;
  const steps: Step[] = [];
  let ended = false;
  const add = (step: Step): void => {
    if (ended) throw new InvalidInput(`the edits of ${store.url}/${at} have already ended`);
    steps.push(step);
  };
  return {
    append: (batch, { newIds } = {}) =>
      add(async (tree, ids) => {
        ids.push(await appendBatch(tree, batch, expand, newIds));
      }),
    delete(ids) {
      const gone = Array.from(ids, BigInt);
      add((tree) => deleteObjects(tree, gone));
    },
    replace: (id, batch) => add((tree) => replaceObject(tree, BigInt(id), batch, expand)),
    moveVertices: (id, rows, positions) => add((tree) => moveVertices(tree, BigInt(id), rows, positions, expand)),
    setAttribute: (domain, name, rows, values) => add((tree) => setAttribute(tree, domain, name, rows, values)),
    addAttribute(domain, info, values) {
      if (domain === "link") add(tellLinks);
      add((tree) => addAttribute(tree, domain, info, values));
    },
    dropAttribute: (domain, name) => add((tree) => dropAttribute(tree, domain, name)),
    rechunk: (chunkShape) => add((tree) => rechunk(tree, chunkShape)),
    shard: (shape) => add((tree) => reshard(tree, shape)),
    unshard: () => add((tree) => reshard(tree, undefined)),
    setLevels: (levels, maxMemory = 512 << 20) =>
      add((tree, _, view) =>
        replaceLevels(tree, view, at, levels, { store, at: Prefix.join(at, `${LOGS}scratch`) }, maxMemory),
      ),
    linkLevels: (links, maxMemory = 512 << 20) =>
      add((tree, _, view) =>
        linkLevels(tree, view, at, links, { store, at: Prefix.join(at, `${LOGS}scratch`) }, maxMemory),
      ),
    setGroups: (groups) =>
      add((tree) => changeGroups(tree, (list) => void list.splice(0, list.length, ...groups.map(membersOf)))),
    addGroup: (members) => add((tree) => changeGroups(tree, (list) => void list.push(membersOf(members)))),
    dropGroup: (group) =>
      add((tree) =>
        changeGroups(
          tree,
          (list) => {
            if (!(Number.isInteger(group) && group >= 0 && group < list.length))
              throw new InvalidInput(`${tree.opened.url} has no group ${group}, only ${list.length}`);
            list.splice(group, 1);
          },
          group,
        ),
      ),
    async commit() {
      add(async () => {});
      ended = true;
      const { result, ...committed } = await Transaction.run(
        store,
        at,
        async (view) => {
          const ids: BigInt64Array[] = [];
          for (const step of steps) {
            const tree = await openTree(view, at, options);
            await step(tree, ids, view);
            await markLog(store, at, options);
            const root = (await tree.group(""))!;
            root.attributes = marked(root.attributes);
            await tree.flush();
          }
          return ids;
        },
        options,
      );
      return { ...committed, ids: result };
    },
    async abort() {
      ended = true;
    },
  };
}
