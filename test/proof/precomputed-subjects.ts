/**
 * What writers of precomputed data do, for R8 to R10, and what must be there afterwards: maps in shards and in files that are
 * edited, a volume whose regions are written, and collections that are written anew as a whole.
 */
import { NotFound } from "../../src/errors.js";
import {
  compactValues,
  createAnnotations,
  createSkeletons,
  createVolume,
  editValues,
  openAnnotations,
  openSkeletons,
  openValues,
  openVolume,
  precomputed,
  type Sharding,
  type ValueNames,
  verifyValues,
  volumeInfo,
  writeVolume,
} from "../../src/format/precomputed/index.js";
import { ndarray, typed } from "../../src/model/elements.js";
import { Key, Prefix } from "../../src/store/key.js";
import type { Store } from "../../src/store/types.js";

/** Something that is changed in steps, each on top of the one before, whoever made it. */
export interface Subject {
  readonly at: Prefix;
  /** It is written anew in each step, and may be gone in between. */
  readonly whole?: true;
  /** Makes it as it is after step 0. */
  begin(store: Store): Promise<unknown>;
  /** Makes the next step, and says which it was. */
  step(store: Store): Promise<number>;
  /** What is there, to compare with `state`; undefined where nothing is. */
  told(store: Store): Promise<string | undefined>;
  state(n: number): string;
  /** What is wrong besides. */
  findings(store: Store): Promise<string[]>;
}

export const sharding: Sharding = {
  hash: "murmur3",
  preshiftBits: 0,
  minishardBits: 2,
  shardBits: 2,
  indexEncoding: "gzip",
  dataEncoding: "gzip",
};
const names: ValueNames = {
  nameOf: (id) => `${id}.index`,
  idOf: (name) => (/^\d+\.index$/.test(name) ? BigInt(name.slice(0, -6)) : undefined),
  beforeOf: (id) => `${id}`,
};

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const plain = (bytes: Uint8Array | undefined): string => (bytes ? new TextDecoder().decode(bytes) : "nothing");

const KEPT = 12; // values that are there at a time
const MARK = 2n ** 64n - 1n;
const idOf = (n: number): bigint => BigInt(n) * 7919n;
const wordsOf = (n: number, word: string): string => `${word} ${n};`.repeat(1 + (n % 50));

/** In each step a value comes, one changes, one goes, and one says which step it was. Each but the last has bytes before it. */
function map(folder: string, how: Sharding | null): Subject {
  const at = Prefix.of(folder);
  const edit = async (store: Store, n: number): Promise<number> => {
    const editor = await editValues(store, at, how, { names, maxMemory: 1000 });
    const put = (i: number, word: string) => editor.put(idOf(i), text(wordsOf(i, word)), text(`before ${i}`));
    try {
      await put(n, "new");
      if (n > 0) await put(n - 1, "old");
      if (n >= KEPT) await editor.delete(idOf(n - KEPT));
      await editor.put(MARK, text(`${n}`));
      await editor.commit();
    } catch (error) {
      await editor.abort();
      throw error;
    }
    return n;
  };
  return {
    at,
    begin: (store) => edit(store, 0),
    async step(store) {
      const n = 1 + Number(plain(await (await openValues(store, at, how, { names })).get(MARK)));
      if (how !== null && n % 5 === 0) await compactValues(store, at, how);
      return edit(store, n);
    },
    async told(store) {
      const reader = await openValues(store, at, how, { names });
      const lines: string[] = [];
      for await (const { ids, values } of reader.entries({ order: "id" }))
        for (const [i, id] of ids.entries()) {
          const length = id === MARK ? 0 : `before ${id / 7919n}`.length;
          lines.push(`${id}: ${plain(await reader.before(id, length, length))}, ${plain(values[i])}`);
        }
      return lines.length === 0 ? undefined : lines.join("\n");
    },
    state(n) {
      const there = Array.from({ length: Math.min(n + 1, KEPT) }, (_, i) => n - i).reverse();
      const lines = there.map((i) => `${idOf(i)}: before ${i}, ${wordsOf(i, i === n ? "new" : "old")}`);
      return [...lines, `${MARK}: , ${n}`].join("\n");
    },
    async findings(store) {
      const wrong: string[] = [];
      if (how !== null)
        for await (const { severity, message } of verifyValues(store, at, how))
          if (severity !== "info") wrong.push(message);
      return wrong;
    },
  };
}

const validated = (at: Prefix) => async (store: Store) => {
  const wrong: string[] = [];
  for await (const { severity, message } of precomputed.validate(store, at))
    if (severity === "error") wrong.push(message);
  return wrong;
};

const SIZE = [24, 20, 8] as const;

/** A volume of 2 × 2 chunks: each step writes its number to all but the first voxels of each axis, so to a part of every chunk. */
function volume(folder: string, how: Sharding | null): Subject {
  const at = Prefix.of(folder);
  const inner = SIZE.map((length) => length - 1);
  const told = async (store: Store): Promise<string> => {
    const array = await openVolume(store, at);
    const numbers = new Set(typed(await array.read(SIZE.map((stop) => ({ start: 1, stop })))) as Uint32Array);
    const edges = new Set(typed(await array.read([{ stop: 1 }])) as Uint32Array);
    return `${[...numbers]} beside ${[...edges]}`;
  };
  const write = async (store: Store, n: number): Promise<number> => {
    const count = inner.reduce((product, length) => product * length, 1);
    const region = SIZE.map((stop) => ({ start: 1, stop }));
    await writeVolume(
      await openVolume(store, at),
      region,
      ndarray([...inner, 1], new Uint32Array(count).fill(1000 + n)),
    );
    return n;
  };
  return {
    at,
    async begin(store) {
      const dtype = { kind: "uint", size: 4, endian: "little" } as const;
      const wanted = { size: SIZE, dtype, chunkSize: [16, 16, 16] as const, sharding: how ?? false };
      const writer = await createVolume(store, at, volumeInfo(wanted), { overwrite: true });
      const count = SIZE.reduce((product, length) => product * length, 1);
      await writer.write(undefined, ndarray([...SIZE, 1], new Uint32Array(count).fill(7)));
      await writer.commit();
      await write(store, 0);
    },
    step: async (store) => write(store, Number.parseInt(await told(store), 10) - 999),
    told,
    state: (n) => `${1000 + n} beside 7`,
    findings: validated(at),
  };
}

const COUNT = 60;

/** A collection that says its number in every part. */
function collection(
  folder: string,
  write: (store: Store, at: Prefix, n: number) => Promise<unknown>,
  numbersIn: (store: Store, at: Prefix) => Promise<readonly number[]>,
): Subject {
  const at = Prefix.of(folder);
  const counter = Key.of(`${folder}-steps`);
  const step = async (store: Store, n: number): Promise<number> => {
    await write(store, at, n);
    await store.set(counter, text(`${n}`));
    return n;
  };
  return {
    at,
    whole: true,
    begin: (store) => step(store, 0),
    step: async (store) => step(store, 1 + Number(plain(await store.get(counter)))),
    async told(store) {
      try {
        const numbers = await numbersIn(store, at);
        return `${numbers.length} of ${[...new Set(numbers)]}`;
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    },
    state: (n) => `${COUNT} of ${n}`,
    findings: validated(at),
  };
}

/** In turn in shards and in files, so that an old form must give way to the new. */
const skeletons = collection(
  "skeletons",
  async (store, at, n) => {
    const attributes = [{ id: "n", type: "float32", components: 1 }] as const;
    const how = n % 2 === 0 ? sharding : null;
    const writer = await createSkeletons(
      store,
      at,
      { attributes, sharding: how },
      { overwrite: true, maxMemory: 1000 },
    );
    try {
      for (let i = 0; i < COUNT; i++) {
        const own = { vertices: Float32Array.of(i, i, i), edges: new Uint32Array() };
        await writer.put(BigInt(i), { ...own, attributes: new Map([["n", Float32Array.of(n)]]) });
      }
      await writer.commit();
    } catch (error) {
      await writer.abort();
      throw error;
    }
  },
  async (store, at) => {
    const numbers: number[] = [];
    const opened = await openSkeletons(store, at);
    for await (const ids of opened.values.ids())
      for await (const { skeleton } of opened.getMany(ids)) numbers.push(skeleton!.attributes.get("n")![0] as number);
    return numbers;
  },
);

const annotations = collection(
  "annotations",
  async (store, at, n) => {
    const dimensions = ["x", "y", "z"].map((name) => ({ name, scale: 1e-9, unit: "m" }));
    const writer = await createAnnotations(
      store,
      at,
      { type: "point", dimensions, properties: [{ id: "n", type: "uint32" }] },
      { overwrite: true, limit: 10, sharded: n % 2 === 0 },
    );
    await writer.add({
      ids: BigUint64Array.from({ length: COUNT }, (_, i) => BigInt(i * (n + 1))),
      offsets: Uint32Array.from({ length: COUNT + 1 }, (_, i) => i),
      points: Float32Array.from({ length: 3 * COUNT }, (_, i) => (i * 37 * (n + 1)) % 101),
      properties: new Map([["n", new Uint32Array(COUNT).fill(n)]]),
    });
    await writer.commit();
  },
  async (store, at) => {
    const opened = await openAnnotations(store, at);
    const numbers: number[] = [];
    for await (const ids of opened.byId.values.ids())
      for (const id of ids) numbers.push((await opened.get(id))!.properties.get("n")![0] as number);
    return numbers;
  },
);

export const subjects: { readonly [name: string]: Subject } = {
  "values in shards": map("shards", sharding),
  "values in files": map("files", null),
  "a volume in shards": volume("volume", { ...sharding, hash: "identity", minishardBits: 0 }),
  "a volume in files": volume("volume-files", null),
  skeletons,
  annotations,
};
