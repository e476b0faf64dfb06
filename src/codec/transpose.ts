/**
 * `transpose`: axis i of what is stored is axis `order[i]` of the array. "F" is all axes reversed and "C" is none changed,
 * an early form of the specification.
 */

import { isFixed } from "../bytes/dtype.js";
import { type Json, showJson } from "../bytes/json.js";
import { InvalidInput } from "../errors.js";
import { elementCount, strides } from "../space/shape.js";
import { copyStrided } from "./strided.js";
import type { ChunkData, ChunkSpec, CodecEntry } from "./types.js";

export const transposeCodec: CodecEntry = {
  name: "transpose",
  async load({ order }) {
    const permutation = (rank: number): number[] => {
      const axes = Array.from({ length: rank }, (_, axis) => axis);
      if (order === "C") return axes;
      if (order === "F") return axes.reverse();
      const found = order as readonly number[];
      if (found.length !== rank)
        throw new InvalidInput(`the transpose codec's order should name ${rank} axes, found [${found}]`);
      return [...found];
    };
    if (order !== "C" && order !== "F" && !isPermutation(order))
      throw new InvalidInput(`the transpose codec's order should be a permutation of axes, found ${showJson(order)}`);
    return {
      kind: "array-array",
      encodedSpec: (spec) => ({ ...spec, shape: permutation(spec.shape.length).map((axis) => spec.shape[axis]!) }),
      decode: (data, spec) => {
        const axes = permutation(spec.shape.length);
        const stored = strides(axes.map((axis) => spec.shape[axis]!));
        return copied(
          data,
          spec,
          spec.shape,
          spec.shape.map((_, axis) => stored[axes.indexOf(axis)]!),
        );
      },
      encode: (data, spec) => {
        const axes = permutation(spec.shape.length);
        const own = strides(spec.shape);
        return copied(
          data,
          spec,
          axes.map((axis) => spec.shape[axis]!),
          axes.map((axis) => own[axis]!),
        );
      },
    };
  },
};

const isPermutation = (order: Json | undefined): boolean =>
  Array.isArray(order) &&
  order.every((axis) => typeof axis === "number") &&
  [...order].sort((a, b) => a - b).every((axis, i) => axis === i);

/** The elements in C order of `shape`, taken from where `from` says that they lie. */
function copied(data: ChunkData, { dtype }: ChunkSpec, shape: readonly number[], from: readonly number[]): ChunkData {
  const out = isFixed(dtype) ? new Uint8Array(data.length) : new Array(elementCount(shape));
  copyStrided(out, { offset: 0, strides: strides(shape) }, data, { offset: 0, strides: from }, shape, dtype);
  return out;
}
