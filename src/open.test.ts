import { expect, it } from "vitest";
import { createArray } from "./format/zarr/index.js";
import { detect } from "./open.js";
import { Prefix } from "./store/key.js";
import { memoryStore } from "./store/memory.js";
import { recordingStore } from "./testing/index.js";

it("what was read to find the format is not asked for again to open it", async () => {
  const store = recordingStore(memoryStore());
  await createArray(store, Prefix.root, { shape: [4], dtype: "int32" });
  store.log.length = 0;
  const { match } = await detect({ store, at: Prefix.root });
  expect((await match.open()).kind).toBe("array");
  expect(store.log).toEqual([{ kind: "get", at: "zarr.json" }]);
});
