/**
 * Vectors for R5: what is written is read back, whatever the kind, the layout and the memory; of one in eight also after more has
 * been appended and everything was cut into other chunks.
 */
import { isDeepStrictEqual } from "node:util";
import { createZarrVectors, editZarrVectors, openZarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { VectorDescription } from "../../src/format/zarr-vectors/write/description.js";
import type { BatchParts } from "../../src/format/zarr-vectors/write/write.js";
import type { Batch, Geometry } from "../../src/model/vectors.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/types.js";
import { type Random, random } from "../fuzz/mutate.js";
import { KINDS, scene } from "../zarr-vectors-scenes.js";
import { toldBatch } from "../zarr-vectors-told.js";

const at = Prefix.of("a.zarrvectors");
const pick = <T>(dice: Random, list: readonly T[]): T => list[dice.below(list.length)]!;
const isPath = (geometry: Geometry): boolean => ["lines", "polylines", "streamlines"].includes(geometry);

/** What differs after writing the dataset of a seed; undefined is good. */
export async function tryVectors(seed: number): Promise<string | undefined> {
  const dice = random(seed);
  const geometry = pick(dice, KINDS);
  const old = dice.below(4) === 0;
  const dims = old ? 2 + dice.below(3) : 1 + dice.below(5);
  const batch = scene(geometry, seed, dice.below(9), dims);
  const linked = geometry !== "points" && !isPath(geometry);
  const description: VectorDescription = {
    geometry,
    dims,
    objects: true,
    dtype: pick(dice, ["float32", "float64"]),
    chunkShape: pick(dice, [10, 7.5, 100, "auto"]),
    ...(old ? { formatVersion: "0.7.0" } : { sharding: pick(dice, ["auto", "none", 2] as const) }),
    codecs: pick(dice, ["zstd", "none", "gzip", "blosc"]),
    checksums: dice.below(2) === 0,
    ...(linked
      ? { links: { directed: dice.below(2) === 0, store: old ? "canonical" : pick(dice, ["canonical", "duplicate"]) } }
      : {}),
    ...(linked ? {} : { sharedFragments: dice.below(3) === 0 }),
    manifests: { forceExplicit: dice.below(3) === 0 },
  };
  const store = memoryStore();
  const writer = await createZarrVectors(store, at, description, { maxMemory: pick(dice, [1 << 10, 1 << 28]) });
  await writer.add(batch);
  await writer.commit();
  const written = [toldBatch(whole(geometry, dims, batch))];
  const wrong = await differs(store, written);
  if (wrong !== undefined || old || dice.below(8) > 0) return wrong; // an edit takes as long as several datasets

  const more = scene(geometry, seed + 1, 1 + dice.below(3), dims);
  const first = BigInt(batch.ids!.length);
  const ids = BigInt64Array.from(more.ids as BigInt64Array, (id) => id + first);
  const edit = await editZarrVectors(store, at, { expand: true });
  edit.append({ ...more, ids });
  edit.rechunk(pick(dice, [4, 9, 25]));
  await edit.commit();
  return differs(store, [...written, toldBatch(whole(geometry, dims, { ...more, ids }))]);
}

/** The batch that a reader should see. */
const whole = (geometry: Geometry, dims: number, batch: BatchParts): Batch =>
  ({ geometry, dims, ...batch, parts: batch.parts!, objects: batch.objects!, ids: batch.ids! }) as Batch;

async function differs(store: Store, written: readonly ReturnType<typeof toldBatch>[]): Promise<string | undefined> {
  const found = toldBatch(await (await openZarrVectors(store, at)).select().read(), { fragments: false });
  for (const what of ["objects", "links"] as const) {
    const expected = written.flatMap((told) => told[what]).sort();
    if (isDeepStrictEqual(found[what], expected)) continue;
    const place = expected.findIndex((line, i) => line !== found[what][i]);
    return `${what} differ: ${found[what][place]?.slice(0, 150)}, expected ${expected[place]?.slice(0, 150)}`;
  }
  return undefined;
}
