/**
 * A volume as it lies in space: voxels at one or more scales, each with its size and the corner where the first one begins.
 *
 * | dataset                                   | axes of space                        | where voxel i lies                        |
 * |-------------------------------------------|--------------------------------------|-------------------------------------------|
 * | precomputed volume                        | x, y, z                              | from (offset + i) · resolution on, in nm  |
 * | Zarr group with `multiscales` (OME-NGFF)  | those of type space, by their names  | around i · scale + translation            |
 * | any other array                           | named x, y, z; else the last is x    | from i on                                 |
 *
 * Of axes that are not of space (time, channels) one index is shown. An array of two dimensions has one voxel along z.
 */
import { isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import { InvalidInput, Unsupported } from "../errors.js";
import { chunkCodec } from "../format/zarr/decode.js";
import { arrayNode, type ZarrArray } from "../format/zarr/node.js";
import type { ArrayDataset, GroupDataset, ReadOptions } from "../model/dataset.js";
import { cacheStore } from "../store/cache.js";
import type { Bounds, Vector } from "./camera.js";

/** A scale of a volume. Triples are along x, y, z. */
export interface VolumeLevel {
  readonly array: ArrayDataset;
  /** Which axis of the array each one is; −1 where there is none. */
  readonly axes: Vector;
  /** Voxels. */
  readonly shape: Vector;
  /** What is decoded at once: chunks, or those inside of shards. */
  readonly brick: Vector;
  /** The size of a voxel. */
  readonly voxel: Vector;
  /** The low corner of the first voxel. */
  readonly corner: Vector;
}

/** Something that slices can be cut from. */
export interface Volume {
  readonly kind: "volume";
  readonly url: string;
  /** Finest first. */
  readonly levels: readonly VolumeLevel[];
  readonly bounds: Bounds;
  /** Of the three axes; undefined where nobody says. */
  readonly unit: string | undefined;
  /** Values are names of things rather than amounts. */
  readonly labels: boolean;
  /** How many there are along the axis of channels, or of what else is not of space. */
  readonly channels: number;
  readonly notes: readonly string[];
}

const NAMES = ["x", "y", "z"];
const triple = (of: (k: number) => number): Vector => [of(0), of(1), of(2)];

/** The volume that a dataset is; InvalidInput where it is none. */
export async function volumeOf(dataset: ArrayDataset | GroupDataset, options: ReadOptions = {}): Promise<Volume> {
  if (dataset.kind === "group") return ofMultiscales(dataset, options);
  const scales = dataset.levels ?? [dataset];
  const axes = axesOf(dataset);
  const placed = scales.map((array) => ({ array, axes, ...placeOf(array, axes) }));
  return volume(dataset, placed, {
    unit: dataset.format === "precomputed" ? "nm" : undefined,
    labels: dataset.attributes.type === "segmentation" || (dataset.format !== "precomputed" && isLabels(dataset)),
  });
}

/** Large whole numbers are names, where nothing says what they are. */
const isLabels = ({ dtype }: ArrayDataset): boolean => dtype.kind === "uint" && dtype.size >= 4;

/** By name where all of space is named; else the last axes, x last, as images lie in memory. */
function axesOf(
  { shape, dimensionNames = [], url }: ArrayDataset,
  names: readonly (string | null)[] = dimensionNames,
): Vector {
  const named = NAMES.map((name) => names.findIndex((own) => own?.toLowerCase() === name));
  if (named[0]! >= 0 && named[1]! >= 0) return triple((k) => named[k]!);
  if (shape.length < 2)
    throw new InvalidInput(`${url} has ${shape.length} dimensions, and a slice is cut from two or more`);
  return triple((k) => shape.length - 1 - k);
}

function placeOf({ format, attributes }: ArrayDataset, axes: Vector): Pick<VolumeLevel, "voxel" | "corner"> {
  if (format !== "precomputed") return { voxel: [1, 1, 1], corner: [0, 0, 0] };
  const [resolution, offset] = [attributes.resolution, attributes.voxel_offset] as [number[], number[]];
  const voxel = triple((k) => resolution[axes[k]!]!);
  return { voxel, corner: triple((k) => offset[axes[k]!]! * voxel[k]!) };
}

interface Placed extends Pick<VolumeLevel, "array" | "axes" | "voxel" | "corner"> {}

async function volume(
  { url, notes }: ArrayDataset | GroupDataset,
  placed: readonly Placed[],
  { unit, labels }: Pick<Volume, "unit" | "labels">,
): Promise<Volume> {
  const levels = await Promise.all(placed.map(levelOf));
  levels.sort((a, b) => a.voxel[0] * a.voxel[1] * a.voxel[2] - b.voxel[0] * b.voxel[1] * b.voxel[2]);
  const { array, axes, shape, voxel, corner } = levels[0]!;
  if (!["int", "uint", "float", "bool"].includes(array.dtype.kind))
    throw new Unsupported(`${url} has elements of type ${array.dtype.kind}, and a slice is made of numbers`);
  const bounds = { min: corner, max: triple((k) => corner[k]! + shape[k]! * voxel[k]!) };
  const channels = array.shape[channelAxis(array, axes)] ?? 1;
  return { kind: "volume", url, levels, bounds, unit, labels, channels, notes };
}

async function levelOf(placed: Placed): Promise<VolumeLevel> {
  const { axes } = placed;
  const { array, brick } = await inBricks(placed.array);
  const along = (lengths: readonly number[]): Vector => triple((k) => lengths[axes[k]!] ?? 1);
  return { ...placed, array, shape: along(array.shape), brick: along(brick) };
}

const INDEXES = 16 << 20;

/** Shards are read chunk by chunk, and each time their index is: it is kept. */
async function inBricks(array: ArrayDataset): Promise<{ array: ArrayDataset; brick: readonly number[] }> {
  if (array.format !== "zarr") return { array, brick: array.chunkShape };
  const { store, at, meta } = array as ZarrArray;
  let codec = await chunkCodec(meta, array.url, { decodeOnly: true });
  if (codec.shard === undefined) return { array, brick: array.chunkShape };
  while (codec.shard !== undefined) codec = codec.shard.inner;
  return { array: arrayNode(cacheStore(store, { bytes: INDEXES }), at, meta), brick: codec.spec.shape };
}

/** The last axis that is not of space and has more than one; −1 where there is none. */
export const channelAxis = ({ shape }: ArrayDataset, axes: Vector): number =>
  shape.findLastIndex((length, axis) => length > 1 && !axes.includes(axis));

/** What `multiscales` says of an image; its transformations are scales and translations, per level and for all. */
async function ofMultiscales(group: GroupDataset, options: ReadOptions): Promise<Volume> {
  const { url, attributes } = group;
  const ome = isJsonObject(attributes.ome) ? attributes.ome : attributes;
  const [scales] = asList(ome.multiscales);
  if (!isJsonObject(scales))
    throw new InvalidInput(`${url} is a group without multiscales: give the address of an array`);
  const axes = asList(scales.axes).map((axis) => (isJsonObject(axis) ? axis : { name: axis ?? "" }));
  const opened = await Promise.all(
    asList(scales.datasets).map(async (own) => {
      if (!isJsonObject(own) || typeof own.path !== "string")
        throw new InvalidInput(`${url} has a level without a path`);
      const array = await group.open(own.path, options);
      if (array.kind !== "array") throw new InvalidInput(`${url} has a group, ${own.path}, where its level should be`);
      return { array, steps: [...asList(own.coordinateTransformations), ...asList(scales.coordinateTransformations)] };
    }),
  );
  if (opened.length === 0) throw new InvalidInput(`${url} has multiscales without a level`);
  const place = axesOf(opened[0]!.array, axes.length === 0 ? undefined : axes.map(({ name }) => String(name)));
  const placed = opened.map(({ array, steps }) => ({ array, axes: place, ...transformed(steps, place, url) }));
  const unit = axes[place[0]]?.unit;
  return volume(group, placed, {
    unit: typeof unit === "string" ? unit : undefined,
    labels: "image-label" in ome || isLabels(opened[0]!.array),
  });
}

const asList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

function transformed(steps: readonly Json[], axes: Vector, url: string): Pick<VolumeLevel, "voxel" | "corner"> {
  const [voxel, middle] = [
    [1, 1, 1],
    [0, 0, 0],
  ];
  for (const step of steps) {
    const { type, scale, translation } = isJsonObject(step) ? step : ({} as JsonObject);
    const numbers = type === "scale" ? scale : type === "translation" ? translation : undefined;
    if (type === "identity") continue;
    if (!Array.isArray(numbers))
      throw new Unsupported(`${url} has a transformation ${JSON.stringify(type)}, expected a scale or a translation`);
    for (let k = 0; k < 3; k++) {
      const by = Number(numbers[axes[k]!] ?? (type === "scale" ? 1 : 0));
      if (!Number.isFinite(by) || (type === "scale" && by <= 0))
        throw new InvalidInput(`${url} has a ${type} of ${by} along an axis, expected a number that places its voxels`);
      if (type === "scale") {
        voxel[k]! *= by;
        middle[k]! *= by;
      } else middle[k]! += by;
    }
  }
  return { voxel: triple((k) => voxel[k]!), corner: triple((k) => middle[k]! - voxel[k]! / 2) };
}
