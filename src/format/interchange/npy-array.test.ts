/** .npy files as arrays: any shape, both orders, both byte orders, any region; what is not whole. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat } from "../../bytes/concat.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import type { Region } from "../../model/array.js";
import type { ArrayDataset } from "../../model/dataset.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { readNpy } from "./npy.js";
import { npyArray } from "./npy-array.js";

/** The file of 0, 1, 2 … as int16. */
function npy(shape: readonly number[], fortran: boolean, big = false): Uint8Array {
  const count = shape.reduce((product, length) => product * length, 1);
  const view = new DataView(new ArrayBuffer(2 * count));
  for (let i = 0; i < count; i++) view.setInt16(2 * i, i, !big);
  const tuple = `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
  const text = `{'descr': '${big ? ">" : "<"}i2', 'fortran_order': ${fortran ? "True" : "False"}, 'shape': ${tuple}, }\n`;
  const head = new TextEncoder().encode(`\x93NUMPY\x01\x00..${text}`.replace("\x93", "?"));
  head[0] = 0x93;
  new DataView(head.buffer).setUint16(8, text.length, true);
  return concat([head, new Uint8Array(view.buffer)]);
}

async function opened(bytes: Uint8Array, limits = {}): Promise<ArrayDataset> {
  const [store, file] = [memoryStore(), Key.of("a.npy")];
  await store.set(file, bytes);
  return (await npyArray.open(store, Prefix.root, { file, limits })) as ArrayDataset;
}

const numbers = ({ data }: { readonly data: unknown }): number[] => [
  ...new Int16Array((data as Uint8Array).slice().buffer),
];

describe("an array", () => {
  it("is what numpy would see, in any region", async () => {
    const shapes = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(shapes, fc.boolean(), fc.boolean(), fc.nat(), async (shape, fortran, big, seed) => {
        const bytes = npy(shape, fortran, big);
        const array = await opened(bytes);
        const all = readNpy(bytes);
        expect([array.shape, numbers(await array.read())]).toEqual([shape, numbers(all)]);
        const region: Region = shape.map((length, axis) => {
          const start = (seed >> axis) % (length + 1);
          return seed % 3 === 0 ? { start: length - 1, step: -2 } : { start, stop: length, step: 1 + (seed % 2) };
        });
        const part = await array.read(region);
        expect((await array.plan(region)).requests).toBe(part.shape.includes(0) ? 0 : 1);
        const values = numbers(all);
        const index = region.map((own, axis) => {
          const { start = 0, stop = -1, step = 1 } = own as { start: number; stop?: number; step: number };
          const out: number[] = [];
          for (let at = start; step > 0 ? at < Math.min(stop, shape[axis]!) : at >= 0; at += step) out.push(at);
          return out;
        });
        const wanted = index.reduce<number[]>(
          (rows, own, axis) => rows.flatMap((row) => own.map((at) => row * shape[axis]! + at)),
          [0],
        );
        expect(numbers(part)).toEqual(shape.includes(0) ? [] : wanted.map((at) => values[at]));
      }),
    );
  });

  it("is told from points by its shape, or by the caller", async () => {
    const store = memoryStore();
    const file = Key.of("a.npy");
    for (const [shape, as, found] of [
      [[4, 3], undefined, false],
      [[4, 3], "npy-array", true],
      [[4], undefined, true],
      [[2, 3, 4], undefined, true],
      [[2, 3, 4], "npy", false],
    ] as const) {
      await store.set(file, npy(shape, false));
      expect((await npyArray.detect(store, Prefix.root, { file, as })) !== undefined).toBe(found);
    }
  });

  it("that is cut, or larger than may be held, is an error", async () => {
    const bytes = npy([4, 5], false);
    for (let length = 0; length < bytes.length; length++)
      await expect(opened(bytes.subarray(0, length))).rejects.toThrow(Corrupt);
    const array = await opened(bytes, { resultBytes: 20 });
    await expect(array.read()).rejects.toThrow(LimitExceeded);
    expect(numbers(await array.read([1]))).toEqual([5, 6, 7, 8, 9]);
  });
});
