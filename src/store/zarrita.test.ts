import { describe, expect, it } from "vitest";
import * as zarrita from "zarrita";
import { serveStore } from "../testing/http-server.js";
import { fill, runStoreSuite } from "../testing/index.js";
import { Key, Prefix } from "./key.js";
import { memoryStore } from "./memory.js";
import { fromZarrita, toZarrita } from "./zarrita.js";

const can = { list: false, write: false, conditional: false };
runStoreSuite({ describe, it }, "zarrita's, a Map", can, async (values) =>
  fromZarrita(new Map(Object.entries(values).map(([key, value]) => [`/${key}` as const, value]))),
);
runStoreSuite({ describe, it }, "zarrita's, there and back", can, async (values) =>
  fromZarrita(toZarrita(await fill(memoryStore(), values))),
);

describe("zarrita", () => {
  async function written(store = memoryStore(), at = Prefix.root) {
    const array = await zarrita.create(zarrita.root(toZarrita(store, at)), {
      shape: [4, 6],
      chunkShape: [2, 3],
      dtype: "int32",
    });
    const data = Int32Array.from({ length: 24 }, (_, i) => i * i);
    await zarrita.set(array, null, { data, shape: [4, 6], stride: [6, 1] });
    return { store, data };
  }

  it("writes to a store of ours and reads from it", async () => {
    const { store, data } = await written(memoryStore(), Prefix.of("deep/down"));
    expect((await store.children(Prefix.of("deep/down"))).keys).toEqual(["deep/down/zarr.json"]);
    const root = zarrita.root(toZarrita(store, Prefix.of("deep/down")));
    const array = await zarrita.open.v3(root, { kind: "array" });
    const found = await zarrita.get(array, null);
    expect(found.data).toEqual(data);
  });
  it("lends us its store over the web", async () => {
    const { store } = await written();
    const server = await serveStore(store);
    try {
      const theirs = fromZarrita(new zarrita.FetchStore(server.url), server.url);
      const key = Key.of("c/0/0");
      expect(await theirs.get(key)).toEqual(await store.get(key));
      const range = { offset: 4, length: 4 };
      expect(await theirs.get(key, { range })).toEqual(await store.get(key, { range }));
      expect(await theirs.get(Key.of("c/9/9"))).toBe(undefined);
    } finally {
      await server.close();
    }
  });
  it("does not lead us out of a root, and a range of another length is Corrupt", async () => {
    await expect(toZarrita(memoryStore()).get("/../secret")).rejects.toMatchObject({ kind: "invalid-input" });
    const short = fromZarrita({ get: () => undefined, getRange: () => Uint8Array.of(1, 2) });
    await expect(short.get(Key.of("v"), { range: { offset: 0, length: 3 } })).rejects.toMatchObject({
      kind: "corrupt",
    });
  });
});
