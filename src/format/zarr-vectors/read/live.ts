/**
 * A dataset that others may be editing. Before it answers it looks whether there have been commits since, and if so begins with
 * the store as it is now; afterwards it looks again. What was read while a commit came in may be a mixture, and so may an error
 * on the way: it is asked once more, unless a piece of the answer was already handed out. Then there is nothing left but Conflict.
 */
import { Conflict } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { LevelSource } from "../../../model/source.js";
import type { Query, Selection } from "../../../model/vectors.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import { datasetOf, type ZarrVectors } from "./dataset.js";

export async function vectorDataset(opened: OpenedStore, options?: ReadOptions): Promise<ZarrVectors> {
  let now = await begin(opened, options);

  /** The dataset as it is at this moment. */
  async function current(call?: ReadOptions): Promise<ZarrVectors> {
    if (await now.opened.changed(call)) now = await begin(await now.opened.reopen(), options);
    return now;
  }
  const conflict = (): Conflict =>
    new Conflict(`${now.url} was changed by others while it was read`, { where: now.url, hint: "Ask again." });

  /** Whether what was just tried should be tried again. */
  async function again(used: ZarrVectors, call: ReadOptions | undefined, final: boolean): Promise<boolean> {
    if (!(await used.opened.changed(call))) return false;
    if (final) throw conflict();
    return true;
  }
  async function steady<T>(call: ReadOptions | undefined, ask: (dataset: ZarrVectors) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      const used = await current(call);
      let answer: T;
      try {
        answer = await ask(used);
      } catch (error) {
        const maybe = await again(used, call, false).catch(() => false);
        if (maybe && tries === 0) continue;
        throw maybe ? conflict() : error;
      }
      if (!(await again(used, call, tries > 0))) return answer;
    }
  }

  const selectionOf = (query: Query | undefined): Selection => ({
    dataset: live,
    query: now.select(query).query, // refuses at once what cannot be asked
    level: (call) => steady(call, (dataset) => dataset.select(query).level(call)),
    count: (call) => steady(call, (dataset) => dataset.select(query).count(call)),
    plan: (call) => steady(call, (dataset) => dataset.select(query).plan(call)),
    read: (call) => steady(call, (dataset) => dataset.select(query).read(call)),
    async *batches(call) {
      for (let tries = 0; ; tries++) {
        const used = await current(call);
        let handed = false;
        try {
          for await (const batch of used.select(query).batches(call)) {
            handed = true;
            yield batch;
          }
        } catch (error) {
          const maybe = await again(used, call, false).catch(() => false);
          if (maybe && !handed && tries === 0) continue;
          throw maybe ? conflict() : error;
        }
        if (!(await again(used, call, handed || tries > 0))) return;
      }
    },
  });

  const live: ZarrVectors = {
    ...now,
    get opened() {
      return now.opened;
    },
    get bounds() {
      return now.bounds;
    },
    get levels() {
      return now.levels;
    },
    get attributes() {
      return now.attributes;
    },
    get notes() {
      return now.notes;
    },
    describe: (level, call) => steady(call, (dataset) => dataset.describe(level, call)),
    headers: (call) => steady(call, (dataset) => dataset.headers(call)),
    parametric: (call) => steady(call, (dataset) => dataset.parametric(call)),
    schema: (level, call) => steady(call, (dataset) => dataset.schema(level, call)),
    objectIds: (level, call) => steady(call, (dataset) => dataset.objectIds(level, call)),
    groups: (level, call) => steady(call, (dataset) => dataset.groups(level, call)),
    groupMembers: (group, level, call) => steady(call, (dataset) => dataset.groupMembers(group, level, call)),
    groupColumns: (level, call) => steady(call, (dataset) => dataset.groupColumns(level, call)),
    async source(level, call, geometry) {
      let used: ZarrVectors = now;
      const source = await steady(call, (dataset) => {
        used = dataset;
        return dataset.source(level, call, geometry);
      });
      return watched(source, async () => {
        if (await used.opened.changed()) throw conflict();
      });
    },
    select: selectionOf,
  };
  return live;
}

/** A level is the store as it was when it was asked for: whatever it answers is Conflict once there has been a commit since. */
function watched({ objects, ...source }: LevelSource, check: () => Promise<void>): LevelSource {
  const told =
    <A extends readonly unknown[], T>(ask: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> =>
      ask(...args).finally(check); // a commit is the better reason, if there is one
  const each = <A extends readonly unknown[], T>(ask: (...args: A) => AsyncIterable<T>) =>
    async function* (...args: A): AsyncGenerator<T> {
      try {
        yield* ask(...args);
      } finally {
        await check();
      }
    };
  return {
    ...source,
    schema: told(source.schema),
    chunks: told(source.chunks),
    cost: told(source.cost),
    counts: told(source.counts),
    tiles: each(source.tiles),
    links: each(source.links),
    objects: objects && {
      rows: objects.rows,
      ids: told(objects.ids),
      rowsOf: told(objects.rowsOf),
      place: told(objects.place),
      owners: told(objects.owners),
      orphans: told(objects.orphans),
      columns: told(objects.columns),
      group: told(objects.group),
      groupColumns: told(objects.groupColumns),
      joints: each(objects.joints),
    },
  };
}

/** Opening reads documents, too, and a commit may come in between. */
async function begin(opened: OpenedStore, options: ReadOptions | undefined): Promise<ZarrVectors> {
  try {
    return await datasetOf(opened, options);
  } catch (error) {
    if (!(await opened.changed(options).catch(() => false))) throw error;
    return datasetOf(await opened.reopen(), options);
  }
}
