/**
 * A store of your own: here, a pack of values in one buffer, as a page might have downloaded it in one go. Anything with
 * `get`, `stat` and a few more can be one: a database, an archive, a service of your lab.
 *
 * The exported suite then holds it to what every store promises. It runs in any test framework with `describe` and `it`; this
 * file hands it a very small one.
 */
import {
  type ByteRange,
  type Capabilities,
  Corrupt,
  InvalidInput,
  Key,
  LimitExceeded,
  memoryStore,
  ndarray,
  Prefix,
  type Store,
  Unsupported,
} from "octavo/node";
import { runStoreSuite } from "octavo/testing";
import { createArray, openZarr, writeRegion } from "octavo/zarr";

const can: Capabilities = { list: true, write: false, conditional: false };

function packStore(pack: Uint8Array, places: ReadonlyMap<string, readonly [offset: number, length: number]>): Store {
  const url = "pack:";
  const refuse = async (): Promise<never> => {
    throw new Unsupported(`${url} cannot be written`, { where: url });
  };
  return {
    url,
    can,
    async get(key, options) {
      options?.signal?.throwIfAborted();
      const place = places.get(key);
      if (place === undefined) return undefined; // absence is a value
      if (options?.range === undefined && place[1] > (options?.most ?? Infinity))
        throw new LimitExceeded(`${url}/${key} has ${place[1]} bytes, at most ${options?.most} were wanted`);
      const [offset, length] = within(options?.range, place[1], `${url}/${key}`);
      return pack.slice(place[0] + offset, place[0] + offset + length); // a copy: it belongs to the caller
    },
    async stat(key, options) {
      options?.signal?.throwIfAborted();
      const place = places.get(key);
      return place && { size: place[1] };
    },
    async *list(prefix, options) {
      options?.signal?.throwIfAborted();
      for (const [key, [, size]] of places) if (key.startsWith(prefix)) yield { key: Key.of(key), size };
    },
    async children(prefix, options) {
      options?.signal?.throwIfAborted();
      const [keys, prefixes] = [new Set<Key>(), new Set<Prefix>()];
      for (const key of places.keys()) {
        if (!key.startsWith(prefix)) continue;
        const slash = key.indexOf("/", prefix.length);
        if (slash < 0) keys.add(Key.of(key));
        else prefixes.add(Prefix.of(key.slice(0, slash)));
      }
      return { keys: [...keys].sort(), prefixes: [...prefixes].sort() };
    },
    set: refuse,
    write: refuse,
    delete: refuse,
  };
}

/** Where a range lies in a value of this size: exactly what was asked for, or an error. */
function within(range: ByteRange | undefined, size: number, where: string): [offset: number, length: number] {
  if (range === undefined) return [0, size];
  const numbers = "suffix" in range ? [range.suffix] : [range.offset, range.length, range.offset + range.length];
  if (!numbers.every((n) => Number.isSafeInteger(n) && n >= 0))
    throw new InvalidInput(`${JSON.stringify(range)} is no range of ${where}`, { where });
  if ("suffix" in range) return [size - Math.min(size, range.suffix), Math.min(size, range.suffix)];
  if (range.offset + range.length > size)
    throw new Corrupt(`${where} has ${size} bytes, asked for ${range.offset} to ${range.offset + range.length}`, {
      where,
      reason: "past-end", // lets `coalesceStore` see which of several merged ranges was too long
    });
  return [range.offset, range.length];
}

function packed(values: Readonly<Record<string, Uint8Array>>): Store {
  const places = new Map<string, [number, number]>();
  let end = 0;
  for (const [key, { length }] of Object.entries(values)) {
    places.set(key, [end, length]);
    end += length;
  }
  const pack = new Uint8Array(end);
  for (const [key, value] of Object.entries(values)) pack.set(value, places.get(key)![0]);
  return packStore(pack, places);
}

// In Vitest, Jest, Mocha or node:test: runStoreSuite({ describe, it }, "pack", can, async (values) => packed(values));
const tests: (() => Promise<void>)[] = [];
runStoreSuite(
  { describe: (_name, body) => body(), it: (_name, body) => void tests.push(body) },
  "pack",
  can,
  async (values) => packed(values),
);
for (const test of tests) await test();
console.log(`${tests.length > 60 ? "more than 60" : tests.length} behaviours shown`);

// And everything else works on it.
const source = memoryStore();
const array = await createArray(source, Prefix.root, { shape: [4, 4], chunkShape: [2, 2], dtype: "uint8" });
await writeRegion(
  array,
  undefined,
  ndarray(
    [4, 4],
    Uint8Array.from({ length: 16 }, (_, i) => i),
  ),
);
const values: Record<string, Uint8Array> = {};
for await (const { key } of source.list(Prefix.root)) values[key] = (await source.get(key))!;
const node = await openZarr(packed(values));
if (node.kind === "array") console.log(`row 2 is ${((await node.read([2])).data as Uint8Array).join(" ")}`);
