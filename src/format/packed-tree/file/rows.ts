/** Particles in the order of their tree, wherever they lie: what the writer of a file reads, from front to back. */
import type { NumericArray } from "../../../codec/types.js";
import { InvalidInput } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { Positions } from "../../../model/vectors.js";
import type { Particles } from "../particles.js";
import type { PackedTree } from "../types.js";

/** A piece is not looked at again once the next one is asked for; each column is read twice or three times. */
export interface TreeRows {
  readonly tree: PackedTree;
  readonly count: number;
  /** What positions are stored as. */
  readonly precision: "float32" | "float64";
  /** What there is besides: numbers, `channels` for each particle. */
  readonly attributes: readonly AttributeInfo[];
  /** x, y, z of the particles from `start` up to `stop`. */
  positions(start: number, stop: number): Positions | Promise<Positions>;
  /** The numbers that these had before. */
  order(start: number, stop: number): Uint32Array | Promise<Uint32Array>;
  /** The values of an attribute, by its place in the list. */
  values(attribute: number, start: number, stop: number): NumericArray | Promise<NumericArray>;
}

/** Particles in memory, with attributes as the data were before the tree. */
export function rowsInMemory(particles: Particles, attributes: readonly Column[] = []): TreeRows {
  const { tree, count, positions, order } = particles;
  for (const { info, values } of attributes)
    if ((values as NumericArray).length !== count * info.channels)
      throw new InvalidInput(
        `the attribute ${info.name} should have ${count * info.channels} values, found ${(values as NumericArray).length}`,
      );
  return {
    tree,
    count,
    precision: positions instanceof Float32Array ? "float32" : "float64",
    attributes: attributes.map(({ info }) => info),
    positions: (start, stop) => positions.subarray(3 * start, 3 * stop),
    order: (start, stop) =>
      order?.subarray(start, stop) ?? Uint32Array.from({ length: stop - start }, (_, i) => start + i),
    values(attribute, start, stop) {
      const { info, values } = attributes[attribute]!;
      const { channels } = info;
      const all = values as NumericArray;
      if (order === undefined) return all.subarray(start * channels, stop * channels);
      const out = all.slice(0, (stop - start) * channels);
      for (let i = start, at = 0; i < stop; i++)
        for (let c = 0, from = order[i]! * channels; c < channels; c++) out[at++] = all[from++]!;
      return out;
    },
  };
}
