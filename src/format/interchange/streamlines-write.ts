/**
 * What writers of streamlines have in common: every part of a batch is a streamline, its coordinates are made millimetres, its attributes
 * numbers of one type; and what such a file cannot hold is told, once.
 */
import type { Json, JsonObject } from "../../bytes/json.js";
import { isBig } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { InvalidInput, Unsupported } from "../../errors.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Batch, Domain, Positions } from "../../model/vectors.js";
import { widened } from "../../query/columns.js";
import { inMillimetres } from "./millimetres.js";
import { nearestOrientation, orientationOf } from "./orientation.js";
import { trkHeaderOf, wholeTrkHeader } from "./trk-header.js";
import { forward } from "./trk-space.js";
import type { FileData, ImageSpace } from "./types.js";

/** Sentences about what is lost, each once. */
export class Losses {
  readonly #told = new Set<string>();

  tell(sentence: string): void {
    this.#told.add(sentence);
  }

  get sentences(): string[] {
    return [...this.#told];
  }
}

/** A batch whose positions are millimetres. */
export interface PathBatch extends Batch {
  readonly paths: number;
}

/** The batches of what is to be written to a file of paths in 3 dimensions. */
export async function* pathBatches(
  { url: where, axes, geometry, headers, batches }: FileData,
  options: ReadOptions,
  losses: Losses,
): AsyncGenerator<PathBatch> {
  if (geometry !== "streamlines" && geometry !== "polylines" && geometry !== "lines")
    throw new Unsupported(`${where} has ${geometry}, and files of streamlines hold paths`, { where });
  if (axes.length !== 3)
    throw new Unsupported(`${where} has ${axes.length} axes, and streamlines lie in space, which has 3`, { where });
  const placed = rasOf({ url: where, axes, headers });
  let [next, object] = [0n, -1];
  for await (const batch of batches(options)) {
    if (batch.repeats === true) continue;
    for (const id of batch.ids)
      if (id !== next++) losses.tell("the ids of objects: streamlines are numbered from 0 on");
    const { objects, parts } = batch;
    object = -1;
    for (let part = 0; part < objects.length; part++) {
      if (objects[part]! >= 0 && objects[part] === object)
        losses.tell("that paths are of one object: each is a streamline of its own");
      object = objects[part]!;
    }
    yield { ...batch, positions: placed(batch.positions), paths: parts.length - 1 };
  }
}

/** From the positions of a dataset with 3 axes to millimetres in RAS+. */
export function rasOf({
  url: where,
  axes,
  headers,
}: Pick<FileData, "url" | "axes" | "headers">): (positions: Positions) => Positions {
  const trk = headers.get("trk");
  // zarr-vectors-tools can leave coordinates as they lie in a TRK, and says so in the header that it keeps.
  if (trk?.space !== "voxmm") return (positions) => inMillimetres(positions, axes);
  const { toRas } = trkHeaderOf(wholeTrkHeader(trk), where);
  return (positions) => {
    const out = Float32Array.from(inMillimetres(positions, axes));
    forward(toRas, out, 0, 3, out.length / 3, out, 0);
    return out;
  };
}

/** What of a schema such a file has no place for. */
export function tellUnheld({ schema }: FileData, domains: readonly Domain[], losses: Losses): void {
  for (const domain of domains)
    for (const { name } of schema[domain])
      if (name !== "object_id") losses.tell(`the ${domain} attribute ${name}, which has no place there`); // of fragments: which object they are of
}

/** Whether the values are numbers that a float can be. */
export const isNumeric = ({ dtype, categories }: AttributeInfo): boolean =>
  categories === undefined && ["bool", "int", "uint", "float"].includes(dtype.kind);

/** The values as float32; what that rounds is told. Without a column, none of the `count` values is there. */
export function floatValues(column: Column | undefined, count: number, losses: Losses): Float32Array {
  if (column === undefined) return new Float32Array(count).fill(Number.NaN);
  const { info } = column;
  const values = widened(column).values as NumericArray;
  if (values instanceof Float32Array) return values;
  const out = new Float32Array(values.length);
  let exact = true;
  if (isBig(values)) {
    for (let i = 0; i < values.length; i++) {
      out[i] = Number(values[i]);
      if (BigInt(out[i]!) !== values[i]) exact = false;
    }
  } else {
    for (let i = 0; i < values.length; i++) {
      out[i] = values[i]!;
      if (out[i] !== values[i] && !Number.isNaN(values[i]!)) exact = false;
    }
  }
  if (!exact) losses.tell(`digits of the attribute ${info.name}: its values are float32 there`);
  return out;
}

/** Coordinates as float32; what that rounds is told. */
export function floatPositions(positions: Positions, losses: Losses): Float32Array {
  if (positions instanceof Float32Array) return positions;
  const out = Float32Array.from(positions);
  for (let i = 0; i < out.length; i++)
    if (out[i] !== positions[i] && !Number.isNaN(positions[i]!)) {
      losses.tell("digits of the coordinates, which are float32 there");
      break;
    }
  return out;
}

/** InvalidInput where a coordinate is no number, in formats in which those are marks, or would take the others with them. */
export function refuseNotFinite(positions: Positions, where: string): void {
  for (let i = 0; i < positions.length; i++) {
    const value = positions[i]!;
    if (value - value !== 0)
      throw new InvalidInput(`${where} has the coordinate ${value}, which such a file cannot hold`, { where });
  }
}

/** The image that streamlines are about: the one that the caller names, else the one of the file that they come from. */
export function imageOf(headers: FileData["headers"], reference: ImageSpace | undefined, losses: Losses): ImageSpace {
  const found = reference ?? ownImage(headers);
  if (found !== undefined) return found;
  losses.tell("the image that it is about, which nothing names: voxels of 1 mm are taken");
  return { affine: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], dimensions: [1, 1, 1] };
}

/** The image that the file says that they come from; undefined where it says none. */
export function ownImage(headers: FileData["headers"]): ImageSpace | undefined {
  const [trx, trk] = [headers.get("trx"), headers.get("trk")];
  return spaceOf(trx?.VOXEL_TO_RASMM, trx?.DIMENSIONS) ?? (trk && trk.version !== 1 ? trkImage(trk) : undefined);
}

/** A TRK counts voxels along axes in an order of its own, which need not be that of its affine: see trk-space.ts. */
function trkImage({ vox_to_ras, dimensions, voxel_order }: JsonObject): ImageSpace | undefined {
  const space = spaceOf(vox_to_ras, dimensions);
  const target = space && nearestOrientation(space.affine);
  const order = orientationOf(typeof voxel_order === "string" && voxel_order !== "" ? voxel_order : "LPS");
  if (space === undefined || target === undefined || order === undefined) return undefined;
  const along = order.map((own) => space.dimensions[target.findIndex(({ axis }) => axis === own.axis)]!);
  return { ...space, dimensions: along };
}

/** The space of an image as headers in JSON have it. */
export function spaceOf(affine: Json | undefined, dimensions: Json | undefined): ImageSpace | undefined {
  const numbers = (value: Json | undefined): number[] => (Array.isArray(value) ? value.flat().map(Number) : []);
  const space = { affine: numbers(affine), dimensions: numbers(dimensions) };
  const isWhole = space.affine.length === 16 && space.dimensions.length === 3 && space.affine[15] !== 0;
  return isWhole && [...space.affine, ...space.dimensions].every(Number.isFinite) ? space : undefined;
}
