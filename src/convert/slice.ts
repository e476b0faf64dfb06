/**
 * A part of an array as an array of its own, which every target can be made of: elements are read through it when they are wanted, and
 * nothing is held. An axis that is picked by one index is gone, with its name and its share of chunks and codecs.
 *
 * Voxels that have a place (`voxel_offset`, `resolution`) keep it: the first one is where the part begins, and with a step they are as
 * much larger.
 */
import type { Json, JsonObject } from "../bytes/json.js";
import type { CodecSpec } from "../codec/types.js";
import { InvalidInput } from "../errors.js";
import type { ReadRegionOptions } from "../format/zarr/read.js";
import type { AxisSelection, Region } from "../model/array.js";
import type { ArrayDataset, Dataset } from "../model/dataset.js";
import { type Axis, select } from "../model/region.js";
import type { Store } from "../store/types.js";
import type { Input } from "./inputs.js";
import { isMany } from "./options.js";
import { DIMENSIONS, isNames } from "./target.js";
import { AXES, numbersOf, spatialAxes } from "./volumes.js";

/** InvalidInput where a part of an array is asked for, and there is none. */
export function refuseSlice(source: Dataset | readonly Input[], slice: Region | undefined): void {
  if (slice === undefined || (!isMany(source) && source.kind === "array")) return;
  throw new InvalidInput(
    `a slice is a part of an array, and ${isMany(source) ? "files are" : `${source.url} is`} none`,
  );
}

/** The part that is asked for, or all of it. */
export function sliced(array: ArrayDataset & { readonly store?: Store }, slice: Region | undefined): ArrayDataset {
  if (slice === undefined) return array;
  const { axes, shape } = select(slice, array.shape);
  const kept = axes.map((_, axis) => axis).filter((axis) => typeof slice[axis] !== "number");
  const keep = <T>(list: readonly T[]): T[] => kept.map((axis) => list[axis]!);
  const own = (region: Region = []): Region => regionOf(axes, kept, select(region, shape).axes, region);
  const isSharded = array.codecs?.[0]?.name === "sharding_indexed" && kept.length > 0;
  const chunkShape = keep(array.chunkShape).map((n, axis) => (isSharded ? n : Math.min(n, Math.max(1, shape[axis]!))));
  const size = (lengths: readonly number[]): number => lengths.reduce((product, n) => product * n, 1);
  const larger = size(array.chunkShape) / size(chunkShape); // what is decoded for a chunk of the part
  const placed = withPlace(array, axes);
  return {
    kind: "array",
    format: array.format,
    version: array.version,
    url: array.url,
    shape,
    chunkShape,
    dtype: array.dtype,
    fill: array.fill,
    dimensionNames: placed.dimensionNames && keep(placed.dimensionNames),
    ...(array.codecs && { codecs: codecsOf(array.codecs, kept) }),
    attributes: namesKept(placed.attributes, array.shape.length, keep),
    notes: array.notes,
    ...(array.store && { store: array.store }), // so that it is known where it lies
    read: (region, options: ReadRegionOptions = {}) => {
      const { concurrency } = options;
      const fewer = concurrency && { concurrency: Math.max(1, Math.floor(concurrency / larger)) };
      return array.read(own(region), { ...options, ...fewer });
    },
    plan: (region) => array.plan(own(region)),
  };
}

/** A region of the part as a region of the whole. */
function regionOf(axes: readonly Axis[], kept: readonly number[], inner: readonly Axis[], region: Region): Region {
  return axes.map(({ start, step }, axis): AxisSelection => {
    const at = kept.indexOf(axis);
    if (at < 0) return start;
    const part = inner[at]!;
    const first = start + part.start * step;
    if (typeof region[at] === "number") return first;
    if (part.count === 0) return { start: 0, stop: 0 };
    const stride = step * part.step;
    const stop = first + part.count * stride;
    return stop < 0 ? { start: first, step: stride } : { start: first, stop, step: stride };
  });
}

/** The chain for fewer axes. */
function codecsOf(codecs: readonly CodecSpec[], kept: readonly number[]): readonly CodecSpec[] {
  return codecs.flatMap(({ name, configuration }): readonly CodecSpec[] => {
    const { order, chunk_shape: chunk, codecs: inner } = configuration;
    if (name === "transpose" && Array.isArray(order)) {
      const left = (order as number[]).map((axis) => kept.indexOf(axis)).filter((axis) => axis >= 0);
      return left.length > 0 ? [{ name, configuration: { ...configuration, order: left } }] : [];
    }
    if (name !== "sharding_indexed") return [{ name, configuration }];
    const within = codecsOf(inner as unknown as CodecSpec[], kept);
    if (kept.length === 0) return within;
    const chunkShape = kept.map((axis) => (chunk as number[])[axis]!);
    return [{ name, configuration: { ...configuration, chunk_shape: chunkShape, codecs: within as unknown as Json } }];
  });
}

/** Where the voxels of the part are. Axes without names are x, y and z by their order, which names must say once one is gone. */
function withPlace(array: ArrayDataset, axes: readonly Axis[]): Pick<ArrayDataset, "attributes" | "dimensionNames"> {
  const { attributes, dimensionNames, shape, url } = array;
  const [offset, resolution] = [numbersOf(attributes.voxel_offset), numbersOf(attributes.resolution)];
  if (offset === undefined && resolution === undefined) return array;
  const along = spatialAxes(array).map((axis) => (axis === undefined ? { start: 0, step: 1 } : axes[axis]!));
  const [begin, size] = [[...(offset ?? [0, 0, 0])], [...(resolution ?? [1, 1, 1])]];
  for (const [i, name] of AXES.slice(0, 3).entries()) {
    const { start, step } = along[i]!;
    begin[i] = (begin[i]! + start) / step;
    size[i] = size[i]! * step;
    if (step > 0 && Number.isInteger(begin[i])) continue;
    throw new InvalidInput(
      `${url}: voxels have a place, so that a slice along ${name} goes forwards and begins at a multiple of its step ` +
        `counted from voxel 0, found the step ${step} from voxel ${(offset?.[i] ?? 0) + start} on`,
      { where: url },
    );
  }
  return {
    attributes: {
      ...attributes,
      ...((offset !== undefined || begin.some((voxel) => voxel !== 0)) && { voxel_offset: begin }),
      ...(resolution && { resolution: size }),
    },
    dimensionNames: dimensionNames ?? shape.map((_, axis) => AXES[axis] ?? null),
  };
}

/** Names of axes are attributes in Zarr v2. */
function namesKept(attributes: JsonObject, rank: number, keep: (list: readonly Json[]) => Json[]): JsonObject {
  const names = attributes[DIMENSIONS];
  return isNames(names, rank) ? { ...attributes, [DIMENSIONS]: keep(names) } : attributes;
}
