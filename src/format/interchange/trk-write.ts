/**
 * Writes TRK; trk.ts and trk-header.ts have the tables. The header is that of the TRK that the data once were, or made from the image that
 * the caller names (or a TRX was about); without either, voxels of 1 mm from the origin on, so that coordinates stay right.
 */
import type { JsonObject } from "../../bytes/json.js";
import { swapBytes } from "../../bytes/swap.js";
import { Unsupported } from "../../errors.js";
import { type AttributeInfo, lostUnit } from "../../model/attributes.js";
import type { Sink } from "../../store/types.js";
import { lettersOf, nearestOrientation, voxelSizes } from "./orientation.js";
import { spoolIn } from "./spool.js";
import {
  floatPositions,
  floatValues,
  imageOf,
  isNumeric,
  Losses,
  type PathBatch,
  pathBatches,
  refuseNotFinite,
  tellUnheld,
} from "./streamlines-write.js";
import { encodeTrkHeader, listOf, slotOf, trkHeaderOf, wholeTrkHeader } from "./trk-header.js";
import { Backward } from "./trk-space.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

const SLOTS = 10;

export async function writeTrk(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const losses = new Losses();
  const json = headerFor(data, options, losses);
  const scalars = held(data.schema.vertex, listOf(json.scalar_names), "scalars", losses);
  const properties = held(data.schema.object, listOf(json.property_names), "properties", losses);
  tellUnheld(data, ["fragment", "link"], losses);
  const { toRas, endian } = trkHeaderOf(json, data.url);
  const backward = new Backward(toRas);
  const spool = spoolIn(options.scratch); // the count comes first
  let [vertices, objects] = [0, 0];
  for await (const batch of pathBatches(data, options, losses)) {
    const bytes = encode(batch, scalars.infos, properties.infos, backward, data.url, losses);
    await spool.write(endian === "big" ? swapBytes(bytes, 4) : bytes);
    vertices += batch.positions.length / 3;
    objects += batch.paths;
  }
  if (backward.inexact > 0)
    losses.tell(
      `digits of ${backward.inexact} vertices, which are off by up to ${backward.error.toPrecision(1)} mm: a TRK counts from the corner of its image`,
    );
  const header = {
    ...json,
    n_scalars: channelsOf(scalars.infos),
    scalar_names: scalars.slots,
    n_properties: channelsOf(properties.infos),
    property_names: properties.slots,
    n_count: objects,
  };
  await sink.write(encodeTrkHeader(header, endian));
  await spool.pour(sink);
  return { vertices, objects, losses: losses.sentences };
}

const channelsOf = (infos: readonly AttributeInfo[]): number => infos.reduce((sum, { channels }) => sum + channels, 0);

function headerFor({ headers, url: where }: FileData, { reference }: WriteFileOptions, losses: Losses): JsonObject {
  const known = headers.get("trk");
  if (reference === undefined && known !== undefined) return wholeTrkHeader(known);
  const { affine, dimensions } = imageOf(headers, reference, losses);
  const orientation = nearestOrientation(affine);
  if (orientation === undefined) throw new Unsupported(`${where}: the axes of the image do not span space`, { where });
  if (dimensions.some((size) => size > 32767))
    throw new Unsupported(`${where}: a TRK has no images of more than 32767 voxels along an axis`, { where });
  return {
    ...known,
    version: 2,
    dimensions,
    voxel_size: voxelSizes(Float32Array.from(affine)).map(Math.fround),
    vox_to_ras: [...affine],
    voxel_order: lettersOf(orientation),
  };
}

/** The attributes that a TRK can hold, in the order of the names that it once had, and their slots. */
function held(all: readonly AttributeInfo[], before: readonly string[], rest: string, losses: Losses) {
  const order = before.map((slot) => slot.split("\0")[0]!);
  const isUnnamed = ({ name }: AttributeInfo): boolean => name === rest && before.length > 0 && !order.includes(rest);
  const place = (info: AttributeInfo): number => {
    if (isUnnamed(info)) return order.length + 1; // numbers without a name are the last ones
    const found = order.indexOf(info.name);
    return found < 0 ? order.length : found;
  };
  const infos: AttributeInfo[] = [];
  const slots: string[] = [];
  for (const info of [...all].sort((a, b) => place(a) - place(b))) {
    const slot = isUnnamed(info) ? "" : (slotOf(info) ?? shortened(info));
    if (!isNumeric(info)) losses.tell(`the attribute ${info.name}, which is no number: its ${rest} are float32`);
    else if (slots.length === SLOTS) losses.tell(`the attribute ${info.name}: there is room for ten ${rest}`);
    else {
      if (slot !== "" && slot !== slotOf(info))
        losses.tell(
          `the name ${info.name}, which is too long or has letters that a TRK has not: it is ${slot.split("\0")[0]}`,
        );
      for (const loss of lostUnit(info)) losses.tell(loss);
      infos.push(info);
      slots.push(slot);
    }
  }
  return { infos, slots };
}

/** As much of the name as fits, in Latin-1. */
function shortened({ name, channels }: AttributeInfo): string {
  const suffix = channels > 1 ? `\0${channels}` : "";
  return name.replace(/[^\x20-\xff]/g, "_").slice(0, 20 - suffix.length) + suffix;
}

/** The streamlines of a batch, as they lie in the file. */
function encode(
  { positions, parts, objects, paths, vertexColumns, objectColumns, ids }: PathBatch,
  scalars: readonly AttributeInfo[],
  properties: readonly AttributeInfo[],
  backward: Backward,
  where: string,
  losses: Losses,
): Uint8Array {
  refuseNotFinite(positions, where);
  const own = floatPositions(positions, losses);
  const vertices = own.length / 3;
  const perVertex = scalars.map(({ name, channels }) =>
    floatValues(vertexColumns.get(name), vertices * channels, losses),
  );
  const perObject = properties.map(({ name, channels }) =>
    floatValues(objectColumns.get(name), ids.length * channels, losses),
  );
  const size = paths * (1 + channelsOf(properties)) + vertices * (3 + channelsOf(scalars));
  const values = new Float32Array(size);
  const counts = new Int32Array(values.buffer);
  let at = 0;
  for (let part = 0; part < paths; part++) {
    const to = parts[part + 1]!;
    counts[at++] = to - parts[part]!;
    for (let v = parts[part]!; v < to; v++) {
      backward.put(own[3 * v]!, own[3 * v + 1]!, own[3 * v + 2]!, values, at);
      at += 3;
      if (scalars.length > 0) at = gather(values, at, scalars, perVertex, v);
    }
    at = gather(values, at, properties, perObject, objects[part]!);
  }
  return new Uint8Array(values.buffer);
}

/** Row `row` of each attribute, one after the other; row −1 has no values. */
function gather(
  out: Float32Array,
  at: number,
  infos: readonly AttributeInfo[],
  columns: readonly Float32Array[],
  row: number,
): number {
  for (let k = 0; k < infos.length; k++) {
    const { channels } = infos[k]!;
    for (let c = 0; c < channels; c++) out[at++] = row < 0 ? Number.NaN : columns[k]![row * channels + c]!;
  }
  return at;
}
