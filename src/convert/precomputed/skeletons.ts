/**
 * Graphs, skeletons and paths as skeletons, one for each object: batch by batch, in bounded memory. Vertices keep their order and
 * edges their direction; a path is the edges between its neighbours.
 *
 * Neuroglancer draws only attributes that are float32, so that all become that; `keepTypes` leaves them as they are.
 */
import { Unsupported } from "../../errors.js";
import type { SkeletonAttribute } from "../../format/precomputed/skeleton/info.js";
import type { Skeleton } from "../../format/precomputed/skeleton/skeleton.js";
import { createSkeletons } from "../../format/precomputed/skeleton/write.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { Batch } from "../../model/vectors.js";
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
  const fields = skeletonFields(publication);
  if (geometry !== "skeletons") note(`these are ${geometry}, and are read as skeletons`);
  loseAttributes(publication);
  if (source.levels.length > 1) lose(`its ${source.levels.length - 1} coarser levels: skeletons have one`);
  const transform = transformTo(source, options.resolution, note);
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

/** The attributes of vertices that skeletons keep. */
export function skeletonFields({ schema, options, lose, note }: Publication): Field[] {
  const widthOf = ({ channels }: AttributeInfo): number => (channels <= 4 ? channels : 1); // what a shader can take
  const type = options.keepTypes === true ? undefined : "float32";
  const fields = fieldsOf(schema.vertex, "vertex", { clean, widthOf, type }, lose);
  for (const { info, first } of type === undefined ? [] : fields)
    if (first === 0 && info.dtype.kind !== "float")
      note(`${info.name} of vertices is float32 now, which is all that Neuroglancer draws`);
  return fields;
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
