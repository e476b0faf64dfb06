/** Skeletons by their ids. */
import { NotFound } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { FormatOptions } from "../../../model/format.js";
import { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { type InfoAt, readInfo, typeOf } from "../info.js";
import { openValues, type ValueReader } from "../values.js";
import { SkeletonInfo } from "./info.js";
import { Skeleton } from "./skeleton.js";

/** A folder of skeletons, opened. */
export interface Skeletons {
  readonly url: string;
  readonly info: SkeletonInfo;
  readonly values: ValueReader;
  /** The skeleton of an id; undefined where there is none. */
  get(id: bigint, options?: ReadOptions): Promise<Skeleton | undefined>;
  /** Those of many ids, as they come; `row` is the place of the id among those asked for. */
  getMany(
    ids: BigUint64Array,
    options?: ReadOptions,
  ): AsyncIterable<{ readonly row: number; readonly skeleton: Skeleton | undefined }>;
}

/** Opens the skeletons at a place; NotFound where there are none. */
export async function openSkeletons(
  store: Store,
  at: Prefix = Prefix.root,
  options: FormatOptions = {},
): Promise<Skeletons> {
  const place = await readInfo(store, at, options);
  if (place === undefined || typeOf(place) !== "neuroglancer_skeletons")
    throw new NotFound(`${store.url}/${at}info should be the info of skeletons, but it is not there, or another`);
  return skeletonsAt(place, options);
}

export async function skeletonsAt({ store, at, info, where }: InfoAt, options: FormatOptions = {}): Promise<Skeletons> {
  const parsed = SkeletonInfo.parse(info, where);
  const { signal } = options;
  const limits = withLimits(options.limits);
  const values = await openValues(store, at, parsed.sharding, { signal, limits });
  const url = `${store.url}/${at}`.replace(/\/$/, "");
  const parse = (bytes: Uint8Array, id: bigint): Skeleton => Skeleton.parse(bytes, parsed.attributes, `${url}/${id}`);
  return {
    url,
    info: parsed,
    values,
    async get(id, call) {
      const bytes = await values.get(id, call);
      return bytes && parse(bytes, id);
    },
    async *getMany(ids, call) {
      for await (const { rows, values: found } of values.getMany(ids, call))
        for (let i = 0; i < rows.length; i++) {
          const row = rows[i]!;
          const bytes = found[i];
          yield { row, skeleton: bytes && parse(bytes, ids[row]!) };
        }
    },
  };
}
