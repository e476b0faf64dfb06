/**
 * Writing skeletons. `info` comes last, so that whoever finds it finds the rest.
 *
 * Neuroglancer draws only attributes that are float32, and nothing of a layer that has another one: `drawable` writes them
 * all as float32, and counts the values that this rounds (whole numbers beyond 2^24).
 */
import type { NumericArray } from "../../../codec/types.js";
import { Conflict } from "../../../errors.js";
import { Affine } from "../../../space/transform.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { writeInfo } from "../info.js";
import type { Sharding } from "../sharded/types.js";
import { createValues, type ValuesWritten, type WriteValuesOptions } from "../values.js";
import { type SkeletonAttribute, SkeletonInfo, undrawnOf } from "./info.js";
import { Skeleton } from "./skeleton.js";

/** What the skeletons are to be. */
export interface SkeletonDescription {
  readonly attributes?: readonly SkeletonAttribute[] | undefined;
  /** 12 numbers, 3 rows of 4, from the coordinates that are given to nanometres; absent: they are that. */
  readonly transform?: readonly number[] | undefined;
  /** Absent or null: a file for each. */
  readonly sharding?: Sharding | null | undefined;
  /** The folder of their properties, relative to this one. */
  readonly segmentProperties?: string | undefined;
}

/** How to write them. */
export interface SkeletonWriteOptions
  extends Pick<WriteValuesOptions, "signal" | "limits" | "maxMemory" | "scratch" | "overwrite"> {
  /** Write all attributes as float32, the only ones that Neuroglancer draws. */
  readonly drawable?: boolean | undefined;
}

/** What was written, and what a person should know of it. */
export interface SkeletonsWritten extends ValuesWritten {
  /** Values that float32 could not hold exactly. */
  readonly rounded: number;
  readonly warnings: readonly string[];
}

/** Skeletons on their way into a store. */
export interface SkeletonWriter {
  /** Takes a skeleton, in any order of ids; an id may come once. */
  put(id: bigint, skeleton: Skeleton): Promise<void>;
  /** Writes what was put, and then the info. */
  commit(): Promise<SkeletonsWritten>;
  /** Removes everything that was written. */
  abort(): Promise<void>;
}

/** Bytes of a skeleton, mostly: those that have more get memory of their own. */
const ROOM = 1 << 16;

/** Begins a folder of skeletons; Conflict where something is. */
export async function createSkeletons(
  store: Store,
  at: Prefix,
  description: SkeletonDescription,
  options: SkeletonWriteOptions = {},
): Promise<SkeletonWriter> {
  const { attributes = [], transform, sharding = null, segmentProperties } = description;
  const { drawable = false, ...writing } = options;
  const { signal } = options;
  const stored = drawable ? attributes.map((own): SkeletonAttribute => ({ ...own, type: "float32" })) : attributes;
  const document = SkeletonInfo.format({
    transform: transform && Affine.of(transform),
    attributes: stored,
    sharding,
    segmentProperties,
  });
  const key = Key.join(at, "info");
  if (options.overwrite) await store.delete(key, { signal });
  else if ((await store.stat(key, { signal })) !== undefined)
    throw new Conflict(`${store.url}/${key} is there already`, { where: `${store.url}/${key}` });
  const values = await createValues(store, at, sharding, writing);
  let rounded = 0;
  let room: Uint8Array<ArrayBuffer> | undefined = new Uint8Array(ROOM); // while no skeleton is in it
  return {
    async put(id, skeleton) {
      let own = skeleton;
      if (drawable) {
        // Checked as what they are, before they become something else.
        Skeleton.encode(skeleton, attributes);
        const floats = new Map(
          [...skeleton.attributes].map(([name, column]) => [name, Float32Array.from(column as Float32Array)]),
        );
        for (const [name, column] of skeleton.attributes) rounded += differences(column, floats.get(name)!);
        own = { ...skeleton, attributes: floats };
      }
      const mine = room;
      room = undefined;
      try {
        await values.put(id, Skeleton.encode(own, stored, mine));
      } finally {
        room ??= mine;
      }
    },
    async commit() {
      const written = await values.commit();
      await writeInfo(store, at, document, signal);
      return { ...written, rounded, warnings: undrawnOf(stored) };
    },
    abort: () => values.abort(),
  };
}

function differences(a: NumericArray, b: Float32Array): number {
  let count = 0;
  for (let i = 0; i < b.length; i++) if (a[i] !== b[i] && !Number.isNaN(b[i])) count++;
  return count;
}
