/**
 * The streaming writer: batches in any order, of any size, in bounded memory. A batch is checked, its vertices are put to their
 * chunks and its links to their cells; what does not fit into memory is put aside. `commit` writes the arrays and in the end
 * the root's document: before that there is nothing that anybody would take for a store.
 *
 * What stays in memory whatever happens: the ids and attributes of objects, the texts that attributes have, and where fragments are
 * no runs of paths (what an object has in a chunk: of meshes, graphs, skeletons, points) 36 bytes for each.
 */
import { Conflict, InvalidInput } from "../../../errors.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { Columns } from "../../../model/vectors.js";
import { Key, LOGS, Prefix } from "../../../store/key.js";
import { type ScratchPlace, scratchIn } from "../../../store/scratch.js";
import type { Store } from "../../../store/types.js";
import { wrap } from "../../../store/wrap.js";
import { makeRoom } from "../../zarr/create.js";
import { urlOf } from "../../zarr/node.js";
import { findRoot } from "../nodes/open-nodes.js";
import { openStore, vectorDataset } from "../open.js";
import type { ZarrVectors } from "../read/dataset.js";
import { planOf, type VectorDescription } from "./description.js";
import { checkLevel, type LevelDescription, planOfLevel, saidOf } from "./description-level.js";
import { queue } from "./spill-batches.js";
import { arrays07 } from "./write-07-arrays.js";
import { arraysIn } from "./write-arrays.js";
import { type BatchParts, type Dropped, type Dtype, type Rows, rowsOf } from "./write-batch.js";
import { groupDocument, rootDocument } from "./write-documents.js";
import type { GroupMembers } from "./write-index.js";
import { type Coarser, type LevelWriter, levelWriter } from "./write-level.js";
import { storedObjects } from "./write-objects.js";
import { writeParametric } from "./write-parametric.js";
import { chooseShape, sampleOf } from "./write-shape.js";

export type { LevelDescription } from "./description-level.js";
export type { BatchParts } from "./write-batch.js";
export type { GroupMembers } from "./write-index.js";

/** How to write. */
export interface VectorWriteOptions extends ReadOptions {
  /** Delete what is there first; else Conflict. */
  readonly overwrite?: boolean | undefined;
  /** Bytes that may be held before vertices and links are put aside; 512 MiB unless told. */
  readonly maxMemory?: number | undefined;
  /** Where they are put aside; by default below `.octavo/` of the place itself. */
  readonly scratch?: ScratchPlace | undefined;
}

/** A level on its way. */
export interface VectorLevelWriter {
  /** Takes a batch, whole or not at all. An object that comes again goes on. */
  add(batch: BatchParts): Promise<void>;
  /** The groups, by their number, and their attributes. */
  groups(members: readonly GroupMembers[], columns?: Columns): void;
}

/** Coarser levels: level 1, 2 … as they are described, and what fills them. */
export interface NewLevels {
  readonly levels: readonly LevelDescription[];
  /** Hands the batches of every level to its writer; again where a commit is tried again. */
  fill(writers: readonly VectorLevelWriter[]): Promise<void>;
}

/** A store on its way; what is added is level 0. */
export interface VectorWriter extends VectorLevelWriter {
  /** A coarser level, by its number. Ids are those of level 0, and every object of it has a row in each level. */
  level(level: number, description: LevelDescription): VectorLevelWriter;
  /** What the policies have left out so far. */
  readonly dropped: Readonly<Dropped>;
  /** Writes the store and opens it. Coarser levels can be made of level 0, which is read before anybody else sees it. */
  commit(coarser?: (finest: ZarrVectors) => Promise<NewLevels>): Promise<ZarrVectors>;
  /** Removes everything that was written; safe to call twice and after commit. */
  abort(): Promise<void>;
}

const MEMORY = 512 << 20;

/** What is known of a level before it is written. */
interface LevelState {
  readonly description: LevelDescription | undefined;
  readonly waiting: ReturnType<typeof queue>;
  dtype: Dtype | undefined;
  writer: LevelWriter | undefined;
  groups: { readonly members: readonly GroupMembers[]; readonly columns: Columns } | undefined;
}

/** Begins a store; Conflict where something is. */
export async function createZarrVectors(
  store: Store,
  at: Prefix,
  description: VectorDescription,
  options: VectorWriteOptions = {},
): Promise<VectorWriter> {
  const plan = planOf(description);
  const { signal, maxMemory = MEMORY } = options;
  await makeRoom(store, at, options);
  await clearRemains(store, at, options);

  const written = new Set<Key>();
  const tracked = wrap(store, {
    set(key, value, call) {
      written.add(key);
      return store.set(key, value, call);
    },
  });
  const scratch = scratchIn(options.scratch ?? { store, at: Prefix.join(at, LOGS) }, maxMemory, signal);
  const arraysAt = (path: string) => {
    const below = path === "" ? at : Prefix.join(at, path);
    const old = plan.formatVersion === "0.7.0" ? arrays07(tracked, below, plan, signal) : undefined;
    return { arrays: old ?? arraysIn(tracked, below, plan, signal), old };
  };

  const extent = { min: new Float64Array(plan.dims).fill(Infinity), max: new Float64Array(plan.dims).fill(-Infinity) };
  const dropped = { vertices: 0, objects: 0 };
  const sample = sampleOf(plan.dims);
  const levels = new Map<number, LevelState>();
  let shape = plan.chunkShape === "auto" ? undefined : plan.chunkShape; // of level 0
  let state: "open" | "failed" | "ended" = "open";
  let turn: Promise<unknown> = Promise.resolve();

  const begin = (level: number, own: LevelDescription | undefined): LevelState => {
    const begun = {
      description: own,
      waiting: queue(scratch),
      dtype: own?.dtype ?? plan.dtype,
      writer: undefined,
      groups: undefined,
    };
    levels.set(level, begun);
    return begun;
  };
  const finest = begin(0, undefined);

  const mustBeOpen = (): void => {
    if (state === "ended")
      throw new InvalidInput(`the writer of ${urlOf(store, at)} has already been committed or aborted`);
    if (state === "failed")
      throw new InvalidInput(`the writer of ${urlOf(store, at)} has failed; all that is left is to abort it`);
  };
  const writerFor = (
    level: number,
    { description: own, dtype = "float32" }: LevelState,
    shape: readonly number[],
    first: Rows | undefined,
  ): LevelWriter => {
    const levelPlan = own === undefined ? plan : planOfLevel(plan, shape, own);
    const chunkShape = own === undefined ? shape : (levelPlan.chunkShape as readonly number[]);
    return levelWriter({ plan: levelPlan, dtype, chunkShape, ...arraysAt(`${level}`), scratch }, first);
  };

  /** Batches one after the other, whoever waits for them. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.catch(() => {}).then(work);
    turn = mine;
    return mine;
  };

  async function take(level: number, to: LevelState, batch: BatchParts): Promise<void> {
    mustBeOpen();
    signal?.throwIfAborted();
    const type = to.dtype ?? (batch.positions instanceof Float64Array ? "float64" : "float32");
    const before = { min: extent.min.slice(), max: extent.max.slice(), ...dropped };
    const undo = (): void => {
      extent.min.set(before.min);
      extent.max.set(before.max);
      dropped.vertices = before.vertices;
      dropped.objects = before.objects;
    };
    let rows: Rows;
    let commit: () => Promise<void>;
    try {
      rows = rowsOf(plan, type, batch, extent, batch.repeats === true ? { vertices: 0, objects: 0 } : dropped);
      to.dtype = type;
      if (shape === undefined) {
        commit = async () => {
          if (!rows.repeats && level === 0) sample.add(rows.positions);
          await to.waiting.add(rows);
        };
      } else {
        to.writer ??= writerFor(level, to, shape, rows);
        commit = to.writer.prepare(rows, extent);
      }
    } catch (error) {
      undo();
      throw error;
    }
    state = "failed"; // until it has not
    await commit();
    state = "open";
  }

  async function finish(coarser: Parameters<VectorWriter["commit"]>[0]): Promise<ZarrVectors> {
    mustBeOpen();
    state = "failed";
    const bounds = boundsOf(plan, extent);
    const chunkShape = shape ?? chooseShape(sample, bounds, plan.axes, plan.binShape);
    shape = chunkShape;
    const base = plan.binShape ?? shape;
    const capabilities = new Set<string>();
    const numbered: { level: number; binShape: readonly number[] }[] = [];
    let attributes = {};
    const finishLevel = async (level: number, own: LevelState, above?: Coarser["finest"]): Promise<void> => {
      for await (const rows of own.waiting.take()) {
        own.writer ??= writerFor(level, own, chunkShape, rows);
        await own.writer.prepare(rows, extent)();
      }
      own.writer ??= writerFor(level, own, chunkShape, undefined);
      const said = own.description && saidOf(level, own.description, plan.dims, chunkShape);
      const result = await own.writer.finish(bounds, own.groups, said && { ...said, finest: above ?? finest.writer! });
      if (result.shared) capabilities.add("shared_fragments");
      if (result.preserves) capabilities.add("preserved_object_ids");
      if (level === 0) attributes = result.attributes;
      const scale = own.description === undefined ? 1 : own.description.scale;
      numbered.push({
        level,
        binShape: base.map((size, axis) => size * (typeof scale === "number" ? scale : scale[axis]!)),
      });
    };
    const rootNow = (): Uint8Array =>
      rootDocument(plan, {
        name: nameOf(store, at, plan.name),
        chunkShape,
        bounds,
        capabilities: [...capabilities].sort(),
        attributes,
        levels: numbered,
      });
    for (const [level, own] of [...levels].sort(([a], [b]) => a - b)) await finishLevel(level, own);
    const opening = { limits: options.limits };
    if (coarser !== undefined) {
      const root = rootNow();
      const found = await findRoot(store, at, { ...opening, signal, log: false, get: async () => root });
      const { levels: described, fill } = await coarser(await vectorDataset(await found!.open(), opening));
      const begun = described.map((own, i) => begin(i + 1, own));
      for (const own of described) checkLevel(plan, own);
      state = "open";
      await fill(begun.map((own, i) => ({ ...faceOf(i + 1, own), add: (batch) => take(i + 1, own, batch) })));
      state = "failed";
      const { objects, table } = finest.writer!;
      const above = table === undefined ? { objects, table } : storedObjects(plan, table);
      for (const [i, own] of begun.entries()) await finishLevel(i + 1, own, above);
    }
    const { arrays } = arraysAt("");
    for (const [format, header] of Object.entries(plan.headers ?? {})) {
      await arrays.document("headers", groupDocument());
      await arrays.document(`headers/${format}`, groupDocument({ format_name: format, ...header })); // zvtools asks for it
    }
    if (plan.parametric !== undefined) await writeParametric(plan, arraysAt("parametric"), plan.parametric);
    await scratch.clear();
    const key = Key.join(at, "zarr.json");
    written.add(key);
    await store.set(key, rootNow(), { signal, if: store.can.conditional ? { absent: true } : undefined });
    state = "ended";
    // Whoever gives up now is too late: the store is there.
    return vectorDataset(await openStore(store, at, opening), opening);
  }

  const faceOf = (level: number, own: LevelState): VectorLevelWriter => ({
    add: (batch) => inTurn(() => take(level, own, batch)),
    groups(members, columns = new Map()) {
      mustBeOpen();
      own.groups = { members, columns };
    },
  });
  return {
    dropped,
    ...faceOf(0, finest),
    level(level, own) {
      mustBeOpen();
      if (!Number.isSafeInteger(level) || level < 1 || levels.has(level))
        throw new InvalidInput(`a coarser level should be a new number from 1 on, found ${level}`);
      checkLevel(plan, own);
      return faceOf(level, begin(level, own));
    },
    commit: (coarser) => inTurn(() => finish(coarser)),
    abort: () =>
      inTurn(async () => {
        if (state === "ended") return;
        state = "ended";
        await scratch.clear();
        // The root's document first: what has none is no store.
        written.delete(Key.join(at, "zarr.json"));
        await store.delete(Key.join(at, "zarr.json"));
        await forEachConcurrent(written, 16, (key) => store.delete(key));
      }),
  };
}

/** What a writer that was killed has left: without a root it is no store, but its cells must not be mixed with new ones. */
async function clearRemains(store: Store, at: Prefix, options: VectorWriteOptions): Promise<void> {
  if (!store.can.list) return;
  const keys: Key[] = [];
  for await (const { key } of store.list(Prefix.join(at, "0"), { signal: options.signal })) {
    if (options.overwrite !== true) {
      const where = urlOf(store, at);
      throw new Conflict(`${where} already holds something, such as ${key.slice(at.length)}`, {
        where,
        hint: "Choose another place, or replace it: { overwrite: true }, --overwrite.",
      });
    }
    keys.push(key);
  }
  await forEachConcurrent(keys, 16, (key) => store.delete(key, { signal: options.signal }));
}

/** What the root says: given, grown where that was asked for; else those of the vertices. */
function boundsOf(
  { bounds, dims }: ReturnType<typeof planOf>,
  { min, max }: { readonly min: Float64Array; readonly max: Float64Array },
): { readonly min: number[]; readonly max: number[] } {
  const axes = Array.from({ length: dims }, (_, axis) => axis);
  const some = min[0]! <= max[0]!;
  return {
    min: axes.map((axis) => Math.min(bounds?.min[axis] ?? Infinity, some ? min[axis]! : (bounds?.min[axis] ?? 0))),
    max: axes.map((axis) => Math.max(bounds?.max[axis] ?? -Infinity, some ? max[axis]! : (bounds?.max[axis] ?? 0))),
  };
}

/** As the reference names a collection: the last part of the place, without what says that it is one. */
export function nameOf(store: Store, at: Prefix, name: string | undefined): string {
  const place = urlOf(store, at).replace(/\/+$/, "");
  const last = decodeURIComponent(place.slice(place.search(/[^/]*$/)));
  return name ?? (last.replace(/\.(zarrvectors|zv|zarr)$/, "") || "store");
}
