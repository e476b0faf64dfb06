/**
 * Where vertices are: in their chunk, in their bin, in the bounds, and somewhere at all.
 *
 * A vertex is in chunk floor(position / size), in float64. Coarse levels put it there before they round it to float32, so that
 * it may lie beyond the border by as much as that rounds. Draco rounds to 2^11 steps across a chunk unless told otherwise, and to
 * 2^10 at the coarsest that is in use.
 */
import type { Finding } from "../../../model/format.js";
import type { ChunkTable } from "../../../model/source.js";
import type { Positions } from "../../../model/vectors.js";
import type { FragmentIndex } from "../payload/fragment-index.js";
import { geometryOf } from "../read/geometry.js";
import type { LevelCheck } from "./validate-level.js";
import { finding, setting } from "./validate-rules.js";

const ROUNDS = 2 ** -22;

export interface PositionCheck {
  chunk(chunk: number, positions: Positions, index: FragmentIndex): Generator<Finding>;
  /** After all chunks. */
  end(): Generator<Finding>;
}

export const PositionCheck = {
  of({ root, meta, nodes, at, opened }: LevelCheck, table: ChunkTable, draco: boolean): PositionCheck {
    const dims = root.axes.length;
    const lead = table.rank - dims;
    const { chunkShape, binShape } = meta;
    const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
    const low = new Float64Array(dims).fill(Number.POSITIVE_INFINITY);
    const high = new Float64Array(dims).fill(Number.NEGATIVE_INFINITY);
    const perAxis = chunkShape.map((size, axis) => Math.max(1, Math.round(size / binShape[axis]!)));
    const bins = perAxis.reduce((product, n) => product * n, 1);
    const binned =
      geometryOf(root.geometryTypes[0]) === "points" &&
      root.geometryTypes.length === 1 &&
      nodes.dialect.manifests === "none" &&
      nodes.dialect.container === "cells" &&
      meta.level === 0;

    const slackOf = (axis: number, start: number, end: number): number =>
      Math.max(ROUNDS * Math.max(Math.abs(start), Math.abs(end)), draco ? chunkShape[axis]! / 1024 : 0);

    /** Beyond the border of a box by more than rounding: how, for people. */
    const outside = (from: (axis: number) => number, size: readonly number[]): string | undefined => {
      for (let axis = 0; axis < dims; axis++) {
        const start = from(axis);
        const end = start + size[axis]!;
        const slack = slackOf(axis, start, end);
        const value = min[axis]! < start - slack ? min[axis]! : max[axis]! > end + slack ? max[axis]! : undefined;
        if (value !== undefined) return `${value} along ${root.axes[axis]!.name}, which is not from ${start} to ${end}`;
      }
      return undefined;
    };

    function* inBins(chunk: number, positions: Positions, { count, offsets, rows }: FragmentIndex): Generator<Finding> {
      const where = at("vertex_fragments", chunk);
      if (count > bins)
        yield finding("bin-fragments", where, `the chunk has ${count} fragments, but only ${bins} bins`);
      if (count !== bins || bins === 1 || rows !== undefined) return;
      const corner = (axis: number): number => table.coords[chunk * table.rank + lead + axis]! * chunkShape[axis]!;
      const edges = perAxis.map((n, axis) =>
        Float64Array.from({ length: n + 1 }, (_, i) => corner(axis) + i * binShape[axis]!),
      );
      const stray = strayed(
        positions,
        offsets,
        edges,
        edges.map((own, axis) => slackOf(axis, own[0]!, own.at(-1)!)),
      );
      if (stray < 0) return;
      const value = positions[stray];
      const fragment = offsets.findIndex((end) => end > Math.floor(stray / dims)) - 1;
      yield finding(
        "vertex-bin",
        where,
        `fragment ${fragment} has a vertex at ${value} along ${root.axes[stray % dims]!.name}, outside of its bin`,
      );
    }

    return {
      *chunk(chunk, positions, index) {
        const odd = extent(positions, 0, positions.length, dims, min, max);
        if (odd >= 0) {
          const row = Math.floor(odd / dims);
          yield finding(
            "vertex-finite",
            at("vertices", chunk),
            `row ${row} has the coordinate ${positions[odd]} along ${root.axes[odd % dims]!.name}`,
          );
        }
        for (let axis = 0; axis < dims; axis++) {
          if (min[axis]! < low[axis]!) low[axis] = min[axis]!;
          if (max[axis]! > high[axis]!) high[axis] = max[axis]!;
        }
        const corner = (axis: number): number => table.coords[chunk * table.rank + lead + axis]! * chunkShape[axis]!;
        const found = outside(corner, chunkShape);
        if (found !== undefined)
          yield finding("vertex-chunk", at("vertices", chunk), `a vertex of the chunk is at ${found}: the chunk`);
        else if (binned && odd < 0) yield* inBins(chunk, positions, index);
      },
      *end() {
        const { bounds } = root;
        const widened = (): number[][] => [
          bounds.min.map((value, axis) => Math.min(value, low[axis]!)),
          bounds.max.map((value, axis) => Math.max(value, high[axis]!)),
        ];
        for (let axis = 0; axis < dims; axis++) {
          const slack = slackOf(axis, bounds.min[axis]!, bounds.max[axis]!);
          if (!(low[axis]! < bounds.min[axis]! - slack || high[axis]! > bounds.max[axis]! + slack)) continue;
          yield finding(
            "bounds",
            opened.url,
            `the vertices of level ${meta.level} go from ${low[axis]} to ${high[axis]} along ${root.axes[axis]!.name}, the bounds from ${bounds.min[axis]} to ${bounds.max[axis]}`,
            setting("", "widen the bounds", { bounds: widened() }, "zarr_vectors"),
          );
        }
      },
    };
  },
};

/**
 * The first coordinate that is not in the bin of its fragment, or −1. Fragments are bins in C order; bin i along an axis is
 * edges[axis][i] up to edges[axis][i + 1].
 */
function strayed(
  positions: Positions,
  offsets: Uint32Array,
  edges: readonly Float64Array[],
  slack: readonly number[],
): number {
  const dims = edges.length;
  const bin = new Uint32Array(dims);
  for (let f = 0; f + 1 < offsets.length; f++) {
    for (let axis = 0; axis < dims; axis++) {
      const low = edges[axis]![bin[axis]!]! - slack[axis]!;
      const high = edges[axis]![bin[axis]! + 1]! + slack[axis]!;
      const end = offsets[f + 1]! * dims;
      for (let i = offsets[f]! * dims + axis; i < end; i += dims)
        if (!(positions[i]! >= low && positions[i]! <= high)) return i;
    }
    for (let axis = dims - 1; axis >= 0 && ++bin[axis]! === edges[axis]!.length - 1; axis--) bin[axis] = 0;
  }
  return -1;
}

/** The least and the largest along each axis of what is finite; the place of the first number that is not, or −1. */
function extent(
  positions: Positions,
  from: number,
  to: number,
  dims: number,
  min: Float64Array,
  max: Float64Array,
): number {
  let odd = -1;
  for (let axis = 0; axis < dims; axis++) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    let finite = true;
    for (let i = from + axis; i < to; i += dims) {
      const value = positions[i]!;
      if (value < low) low = value;
      if (value > high) high = value;
      if (value - value !== 0) finite = false;
    }
    if (!finite) {
      [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let i = from + axis; i < to; i += dims) {
        const value = positions[i]!;
        if (!Number.isFinite(value)) {
          if (odd < 0 || i < odd) odd = i;
          continue;
        }
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    min[axis] = low;
    max[axis] = high;
  }
  return odd;
}
