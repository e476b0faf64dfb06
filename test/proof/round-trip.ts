/** R5: what is written is read back, whole, in parts, after partial changes and after reopening, against a plain array. */
import { createArray, openZarr, writeRegion, type ZarrArray } from "../../src/format/zarr/index.js";
import type { NdArray, Region } from "../../src/model/array.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { random } from "../fuzz/mutate.js";
import { anyValues, generate, same } from "./generate.js";
import { many, type Row } from "./row.js";

export const roundTrip: Row = {
  id: "R5",
  promise: "round trip",
  async run(scale) {
    const count = scale === "proof" ? 10_000 : 100;
    const broken: string[] = [];
    for (let seed = 1; seed <= count; seed++) {
      const wrong = await tryOne(seed).catch((error: Error) => `${error.name}: ${error.message}`);
      if (wrong !== undefined) broken.push(`seed ${seed}: ${wrong}`);
    }
    return { tried: `${many(count)} arrays`, broken };
  },
};

async function tryOne(seed: number): Promise<string | undefined> {
  const { description, values } = generate(seed);
  const store = memoryStore();
  const at = Prefix.of("a");
  const array = await createArray(store, at, description);
  await writeRegion(array, undefined, values);
  const reopened = (await openZarr(store, at)) as ZarrArray;
  if (!same(await reopened.read(), values)) return "the whole differs";

  const dice = random(seed + 1_000_000);
  const bounds = description.shape.map((n) => {
    const start = dice.below(n + 1);
    return { start, stop: start + dice.below(n - start + 1) };
  });
  const patch = anyValues(
    dice,
    description.dtype,
    bounds.map(({ start, stop }) => stop - start),
  );
  await writeRegion(reopened, bounds as Region, patch);
  const expected = patched(values, bounds, patch);
  if (!same(await reopened.read(), expected)) return "the whole differs after a change of a part";
  if (!same(await reopened.read(bounds as Region), patch)) return "the part differs";
  return undefined;
}

/** The plain array after the same change, one element at a time. */
function patched(whole: NdArray, bounds: readonly { start: number; stop: number }[], patch: NdArray): NdArray {
  const size = "size" in whole.dtype ? whole.dtype.size : 1;
  const data = whole.data.slice() as NdArray["data"] & { [index: number]: unknown };
  const count = patch.shape.reduce((product, n) => product * n, 1);
  for (let i = 0; i < count; i++) {
    let rest = i;
    let at = 0;
    let stride = 1;
    for (let axis = whole.shape.length - 1; axis >= 0; axis--) {
      const n = patch.shape[axis]!;
      at += (bounds[axis]!.start + (rest % n)) * stride;
      rest = Math.floor(rest / n);
      stride *= whole.shape[axis]!;
    }
    for (let k = 0; k < size; k++) data[at * size + k] = patch.data[i * size + k]!;
  }
  return { ...whole, data };
}
