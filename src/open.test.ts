import { expect, it, vi } from "vitest";
import { convertArray } from "./convert/arrays.js";
import { Unsupported } from "./errors.js";
import {
  append,
  consolidate,
  createArray,
  createGroup,
  deleteNode,
  openZarr,
  resize,
  setAttributes,
  writeRegion,
  zarr,
} from "./format/zarr/index.js";
import { ndarray, typed } from "./model/elements.js";
import { open } from "./node.js";
import { detect } from "./open.js";
import { Key, Prefix } from "./store/key.js";
import { memoryStore } from "./store/memory.js";
import { faultyStore, recordingStore } from "./testing/index.js";

it("what was read to find the format is not asked for again to open it", async () => {
  const store = recordingStore(memoryStore());
  await createArray(store, Prefix.root, { shape: [4], dtype: "int32" });
  store.log.length = 0;
  const { match } = await detect({ store, at: Prefix.root });
  expect((await match.open()).kind).toBe("array");
  expect(store.log).toEqual([{ kind: "get", at: "zarr.json" }]);
});

it("what is not there, what is something else, and what cannot be listed are told apart", async () => {
  const store = memoryStore();
  const at = Prefix.of("a");
  await expect(detect({ store, at })).rejects.toThrow("memory:/a is not there, or empty");
  await store.set(Key.of("a/readme"), new Uint8Array(1));
  await expect(detect({ store, at })).rejects.toThrow("memory:/a holds nothing that is Zarr");
  const closed = faultyStore(memoryStore(), ({ kind }) => {
    if (kind === "children") throw new Unsupported("listing is forbidden", { reason: "forbidden" });
  });
  await expect(detect({ store: closed, at })).rejects.toThrow("memory:/a holds nothing that is Zarr");
});

it("the caller's own fetch, and no other, makes the requests of every kind of address", async () => {
  const files = memoryStore();
  await createArray(files, Prefix.of("a"), { shape: [4], dtype: "int32", fill: 7 });
  vi.stubGlobal("fetch", () => Promise.reject(new Error("the wrong fetch")));
  try {
    for (const url of ["https://h/a", "s3://bucket/a?region=eu-west-1&anonymous=true", "gs://bucket/a"]) {
      const seen: string[] = [];
      const own = async (input: string | URL | Request) => {
        const address = decodeURIComponent(String(input instanceof Request ? input.url : input));
        seen.push(address);
        const key = /(a\/[^?]*)/.exec(address)?.[1];
        const bytes = key === undefined ? undefined : await files.get(Key.of(key));
        return bytes === undefined ? new Response("", { status: 404 }) : new Response(bytes as Uint8Array<ArrayBuffer>);
      };
      const array = await open(url, { fetch: own as typeof fetch });
      if (array.kind !== "array") throw new Error("it is an array");
      expect(typed(await array.read())).toEqual(new Int32Array([7, 7, 7, 7]));
      expect(seen.length).toBeGreaterThan(1);
    }
  } finally {
    vi.unstubAllGlobals();
  }
});

it("a signal that is aborted ends every call with its reason, and nothing has changed", async () => {
  const store = memoryStore();
  const group = await createGroup(store, Prefix.root);
  const array = await createArray(store, Prefix.of("a"), { shape: [4], dtype: "int32" });
  await writeRegion(array, undefined, ndarray([4], new Int32Array([1, 2, 3, 4])));
  const all = async () => {
    const found: [string, Uint8Array | undefined][] = [];
    for await (const { key } of store.list(Prefix.root)) found.push([key, await store.get(key)]);
    return found;
  };
  const before = await all();
  const reason = new Error("enough");
  const options = { signal: AbortSignal.abort(reason) };
  const one = ndarray([1], new Int32Array([5]));
  const drain = async (items: AsyncIterable<unknown>) => {
    for await (const _ of items);
  };
  const calls: Record<string, () => Promise<unknown>> = {
    open: () => openZarr(store, Prefix.of("a"), options),
    detect: () => detect({ store, at: Prefix.root }, options),
    read: () => array.read([], options),
    stored: () => drain(array.stored(options)!),
    children: () => group.children(options),
    member: () => group.open("a", options),
    validate: () => drain(zarr.validate(store, Prefix.root, options)),
    writeRegion: () => writeRegion(array, [{ stop: 1 }], one, options),
    resize: () => resize(array, [2], options),
    append: () => append(array, one, 0, options),
    setAttributes: () => setAttributes(array, { x: 1 }, options),
    consolidate: () => consolidate(group, options),
    createArray: () => createArray(store, Prefix.of("b"), { shape: [1], dtype: "int8" }, options),
    createGroup: () => createGroup(store, Prefix.of("c"), {}, options),
    deleteNode: () => deleteNode(store, Prefix.of("a"), options),
    convert: () => convertArray(array, store, Prefix.of("d"), options),
  };
  for (const [name, call] of Object.entries(calls)) {
    expect([name, await call().catch((error: unknown) => error)]).toEqual([name, reason]);
    expect(await all(), name).toEqual(before);
  }
});
