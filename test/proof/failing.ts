/** R9: failing storage. The n-th operation fails, for every n: Octavo's error, nothing torn, and a later try succeeds. */
import { OctavoError } from "../../src/errors.js";
import {
  append,
  createArray,
  openZarr,
  resize,
  setAttributes,
  writeRegion,
  type ZarrArray,
  zarr,
} from "../../src/format/zarr/index.js";
import { ndarray } from "../../src/model/elements.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/types.js";
import { failNth, faultyStore } from "../../src/testing/index.js";
import { many, type Row } from "./row.js";

const open = async (store: Store): Promise<ZarrArray> => (await openZarr(store)) as ZarrArray;
const ramp = (n: number, from: number) =>
  ndarray(
    [n, 3],
    Int32Array.from({ length: n * 3 }, (_, i) => from + i),
  );

/** Each does one thing to a store that holds an array of 10 × 3, and may be done again after it failed. */
const works: { readonly [name: string]: (store: Store) => Promise<unknown> } = {
  "write a region": async (store) => writeRegion(await open(store), [{ start: 1, stop: 9 }], ramp(8, 500)),
  resize: async (store) => resize(await open(store), [5, 3]),
  "set attributes": async (store) => setAttributes(await open(store), { a: 1 }),
  create: (store) => createArray(store, Prefix.of("other"), { shape: [4], dtype: "int32" }, { overwrite: true }),
  append: async (store) => append(await open(store), ramp(4, 900)),
};

export const failing: Row = {
  id: "R9",
  promise: "failing storage",
  async run() {
    const broken: string[] = [];
    let tried = 0;
    for (const version of [0, 2, 3] as const) {
      for (const [name, work] of Object.entries(works)) {
        for (let n = 1; n < 1000; n++) {
          tried++;
          const store = memoryStore();
          const array = await createArray(store, Prefix.root, {
            version,
            shape: [10, 3],
            chunkShape: [4, 3],
            dtype: "int32",
          });
          await writeRegion(array, undefined, ramp(10, 100));
          try {
            await work(faultyStore(store, failNth(n)));
            break; // no operation was the n-th: done
          } catch (error) {
            if (!(error instanceof OctavoError))
              broken.push(`v${version} ${name}, operation ${n}: ${(error as Error).stack}`);
          }
          for await (const { severity, message } of zarr.validate(store, Prefix.root)) {
            if (severity === "error") broken.push(`v${version} ${name}, operation ${n}: ${message}`);
          }
          await work(store).catch((error: Error) =>
            broken.push(`v${version} ${name}, again after ${n}: ${error.message}`),
          );
        }
      }
    }
    return { tried: `${many(tried)} failing operations`, broken };
  },
};
