/** Annotations of one cell, gathered piece by piece and brought into their random order, of which a client may draw the beginning. */
import type { NumericArray } from "../../codec/types.js";
import { type Field, roomFor } from "../../convert/precomputed/numbers.js";
import type { Annotations } from "../../format/precomputed/annotation/list.js";

/** Some annotations of `per` numbers each. */
export interface Gathered {
  readonly ids: ArrayLike<bigint>;
  /** Their random numbers. */
  readonly order: ArrayLike<number>;
  readonly points: ArrayLike<number>;
  /** The values of each field. */
  readonly columns: readonly NumericArray[];
}

/** All of them as one, first those with the lowest random numbers. */
export function gather(parts: readonly Gathered[], fields: readonly Field[], per: number, rank: number): Annotations {
  const places: { readonly part: Gathered; readonly i: number }[] = [];
  for (const part of parts) for (let i = 0; i < part.ids.length; i++) places.push({ part, i });
  places.sort((a, b) => a.part.order[a.i]! - b.part.order[b.i]!); // stable: segments of one path stay in their order
  const count = places.length;
  const points = new Float32Array(per * count);
  const columns = fields.map(({ type, channels }) => roomFor(type, channels * count) as Float64Array);
  for (const [to, { part, i }] of places.entries()) {
    for (let k = 0; k < per; k++) points[per * to + k] = part.points[per * i + k]!;
    for (const [f, { channels }] of fields.entries())
      for (let c = 0; c < channels; c++) columns[f]![channels * to + c] = part.columns[f]![channels * i + c] as number;
  }
  return {
    ids: BigUint64Array.from(places, ({ part, i }) => part.ids[i]!),
    offsets: Uint32Array.from({ length: count + 1 }, (_, i) => (i * per) / rank),
    points,
    properties: new Map(fields.map(({ id }, f) => [id, columns[f]! as NumericArray])),
  };
}
