/**
 * Graphs, skeletons and paths as skeletons, one for each object: batch by batch, in bounded memory. Vertices keep their order and
 * edges their direction; a path is the edges between its neighbours.
 *
 * Neuroglancer draws only attributes that are float32, so that all become that; `keepTypes` leaves them as they are.
 */
import { Unsupported } from "../../errors.js";
import { NANOMETER, RADIUS, type SkeletonAttribute } from "../../format/precomputed/skeleton/info.js";
import type { Skeleton } from "../../format/precomputed/skeleton/skeleton.js";
import { createSkeletons } from "../../format/precomputed/skeleton/write.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { Batch } from "../../model/vectors.js";
import { type Ratio, ratioOf } from "../../space/units.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import type { ConvertReport } from "../arrays.js";
import { transformTo } from "./frame.js";
import { type Field, fieldsOf, numbersOf } from "./numbers.js";
import { PATHS, piecesOf, valuesOf } from "./pieces.js";
import {
  loseAttributes,
  type Publication,
  publishedIds,
  publishTable,
  shardingFor,
  writingInto,
} from "./publication.js";
import { Tally } from "./tally.js";

export async function publishSkeletons(publication: Publication, store: Store, at: Prefix): Promise<ConvertReport> {
  const { source, geometry, level, options, lose, note, reading, batchVertices } = publication;
  const { url } = source;
  const isPath = PATHS.includes(geometry);
  if (level.objects === undefined && !isPath)
    throw new Unsupported(`${url} has no objects, and a skeleton needs the id of one`, { where: url });
  const transform = transformTo(source, options.resolution, note);
  const fields = skeletonFields(publication, transform);
  if (geometry !== "skeletons") note(`these are ${geometry}, and are read as skeletons`);
  loseAttributes(publication);
  if (source.levels.length > 1) lose(`its ${source.levels.length - 1} coarser levels: skeletons have one`);
  const ids = await publishedIds(publication);
  const perVertex = 20 + fields.reduce((sum, own) => sum + 4 * own.channels, 0);
  const sharding = shardingFor(publication, ids, perVertex);
  const segmentProperties = await publishTable(publication, ids, store, at);
  const description = { attributes: attributesOf(fields), transform, sharding, segmentProperties };
  const writer = await createSkeletons(store, at, description, writingInto(store, publication));
  const tally = new Tally();
  try {
    for await (const batch of source.select({ level: 0, geometry }).batches({ ...reading, batchVertices })) {
      if (batch.repeats === true) {
        tally.between += batch.links!.ends.length / 2;
        continue;
      }
      for (const { row, skeleton } of skeletonsOf(batch, fields, tally)) {
        await writer.put(row < batch.ids.length ? ids.of(batch.ids[row]!) : ids.next(), skeleton);
        tally.objects++;
        tally.vertices += skeleton.vertices.length / 3;
      }
      publication.progress(tally.vertices);
    }
    tally.tell(ids.count, lose);
    const { files, warnings } = await writer.commit();
    for (const warning of warnings) note(warning);
    return {
      chunksCopied: 0,
      chunksRecoded: files,
      ...tally.counts(),
      losses: publication.losses,
      notes: publication.notes,
    };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** The attributes of vertices that skeletons keep: lengths in nanometres, whatever `transform` makes of coordinates. */
export function skeletonFields(publication: Publication, transform: readonly number[]): Field[] {
  const { schema, options, lose, note } = publication;
  const widthOf = ({ channels }: AttributeInfo): number => (channels <= 4 ? channels : 1); // what a shader can take
  const type = options.keepTypes === true ? undefined : "float32";
  const isCounted = (info: AttributeInfo): boolean => lengthOf(info) !== undefined;
  const fields = fieldsOf(schema.vertex, "vertex", { clean, widthOf, type, isCounted }, lose);
  for (const { info, first } of type === undefined ? [] : fields)
    if (first === 0 && info.dtype.kind !== "float")
      note(`${info.name} of vertices is float32 now, which is all that Neuroglancer draws`);
  return fields.map((field) => ({ ...field, ratio: toNanometres(field, transform, publication) }));
}

/** What a length is in nanometres; undefined of what is none. */
const lengthOf = ({ unit, categories }: AttributeInfo): Ratio | undefined =>
  categories === undefined ? ratioOf(unit, NANOMETER) : undefined;

/** Of an attribute with a unit of length; a radius without one counts what coordinates do. */
function toNanometres(
  { info, first }: Field,
  transform: readonly number[],
  { source, lose, note }: Publication,
): Ratio | undefined {
  const { name, unit } = info;
  const ratio = lengthOf(info);
  if (ratio !== undefined && name !== RADIUS && first === 0)
    lose(`the unit ${unit} of ${name}: skeletons have none, and its numbers are nanometres`);
  if (ratio !== undefined || name !== RADIUS) return ratio;
  const scales = source.axes.map((_, axis) => Math.hypot(...[0, 4, 8].map((row) => transform[row + axis]!)));
  const [times = 1] = scales;
  if (scales.every((scale) => scale === times)) return { times, per: 1 };
  note(`the radius has no unit, and is kept as it is: coordinates have a scale of ${scales.join(", ")}`);
  return undefined;
}

export const attributesOf = (fields: readonly Field[]): SkeletonAttribute[] =>
  fields.map(({ id, type, channels }) => ({ id, type, components: channels }));

/** The skeletons of a batch, each with the row of its object; those of paths without one come after them. */
export function* skeletonsOf(
  batch: Batch,
  fields: readonly Field[],
  tally: Tally,
): Generator<{ readonly row: number; readonly skeleton: Skeleton }> {
  const positions = tally.inThree(batch);
  const columns = fields.map((field) => {
    const { values, changed } = numbersOf(batch.vertexColumns.get(field.info.name)!, field);
    tally.change(field.info.name, changed);
    return values;
  });
  for (const { row, vertices, links } of piecesOf(batch, 2, tally)) {
    const attributes = new Map(fields.map(({ id, channels }, f) => [id, valuesOf(columns[f]!, channels, vertices)]));
    yield { row, skeleton: { vertices: valuesOf(positions, 3, vertices), edges: links, attributes } };
  }
}

/** A name that a shader can have. */
const clean = (name: string): string => name.replace(/\W/g, "_").replace(/^(?=\d|$)/, "_");
