/**
 * Graphs, skeletons and paths as skeletons, one for each object: batch by batch, in bounded memory. Vertices keep their order and
 * edges their direction; a path is the edges between its neighbours.
 *
 * Neuroglancer draws only attributes that are float32, so that all become that; `keepTypes` leaves them as they are.
 */
import { Unsupported } from "../../errors.js";
import type { SkeletonAttribute } from "../../format/precomputed/skeleton/info.js";
import { createSkeletons } from "../../format/precomputed/skeleton/write.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { Batch, Geometry } from "../../model/vectors.js";
import { pick } from "../../query/columns.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import type { ConvertReport } from "../arrays.js";
import { transformTo } from "./frame.js";
import { fieldsOf, numbersOf } from "./numbers.js";
import { loseAttributes, type Publication, publishedIds, publishTable, shardingFor } from "./publication.js";
import { Tally } from "./tally.js";

/** Geometry whose vertices follow each other. */
export const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"];

export async function publishSkeletons(publication: Publication, store: Store, at: Prefix): Promise<ConvertReport> {
  const { source, geometry, level, schema, options, lose, note, reading, maxMemory, batchVertices } = publication;
  const { url } = source;
  const isPath = PATHS.includes(geometry);
  if (level.objects === undefined && !isPath)
    throw new Unsupported(`${url} has no objects, and a skeleton needs the id of one`, { where: url });
  const widthOf = ({ channels }: AttributeInfo): number => (channels <= 4 ? channels : 1); // what a shader can take
  const type = options.keepTypes === true ? undefined : "float32";
  const fields = fieldsOf(schema.vertex, "vertex", { clean, widthOf, type }, lose);
  for (const { info, first } of type === undefined ? [] : fields)
    if (first === 0 && info.dtype.kind !== "float")
      note(`${info.name} of vertices is float32 now, which is all that Neuroglancer draws`);
  loseAttributes(publication);
  if (source.levels.length > 1) lose(`its ${source.levels.length - 1} coarser levels: skeletons have one`);
  const transform = transformTo(source, options.resolution, note);
  const ids = await publishedIds(publication);
  const perVertex = 20 + fields.reduce((sum, own) => sum + 4 * own.channels, 0);
  const sharding = shardingFor(publication, ids, perVertex);
  const segmentProperties = await publishTable(publication, ids, store, at);
  const attributes = fields.map(({ id, type, channels }): SkeletonAttribute => ({ id, type, components: channels }));
  const description = { attributes, transform, sharding, segmentProperties };
  const writer = await createSkeletons(store, at, description, { ...reading, maxMemory: Math.floor(maxMemory / 4) });
  const tally = new Tally();
  try {
    for await (const batch of source.select({ level: 0, geometry }).batches({ ...reading, batchVertices })) {
      if (batch.repeats === true) {
        tally.between += batch.links!.ends.length / 2;
        continue;
      }
      const positions = tally.inThree(batch);
      const columns = fields.map((field) => {
        const { values, changed } = numbersOf(batch.vertexColumns.get(field.info.name)!, field);
        tally.change(field.info.name, changed);
        return values;
      });
      for (const { row, vertices, edges } of piecesOf(batch, isPath, tally)) {
        const skeleton = {
          vertices: pick(positions, 3, vertices),
          edges,
          attributes: new Map(fields.map(({ id, channels }, f) => [id, pick(columns[f]!, channels, vertices)])),
        };
        await writer.put(row < batch.ids.length ? ids.of(batch.ids[row]!) : ids.next(), skeleton);
        tally.objects++;
        tally.vertices += vertices.length;
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

/** A name that a shader can have. */
const clean = (name: string): string => name.replace(/\W/g, "_").replace(/^(?=\d|$)/, "_");

/** An object of a batch. */
interface Piece {
  /** Of the object; parts without one come after them. */
  readonly row: number;
  /** The vertices of the batch, in order. */
  readonly vertices: Uint32Array;
  /** Pairs of places among them. */
  readonly edges: Uint32Array;
}

function* piecesOf({ parts, objects, ids, links }: Batch, isPath: boolean, tally: Tally): Generator<Piece> {
  const count = parts[objects.length]!;
  let rows = ids.length;
  const owner = new Int32Array(count);
  for (let p = 0; p < objects.length; p++) {
    const row = objects[p]! >= 0 ? objects[p]! : isPath ? rows++ : -1;
    if (row < 0) tally.loose += parts[p + 1]! - parts[p]!;
    owner.fill(row, parts[p], parts[p + 1]);
  }
  const ends: number[] = [];
  for (let p = 0; isPath && p < objects.length; p++)
    for (let v = parts[p]! + 1; v < parts[p + 1]!; v++) ends.push(v - 1, v);
  const given = isPath ? ends : (links?.ends ?? ends);
  const [starts, edgeStarts] = [new Uint32Array(rows + 1), new Uint32Array(rows + 1)];
  for (let v = 0; v < count; v++) if (owner[v]! >= 0) starts[owner[v]! + 1]!++;
  for (let e = 0; e < given.length; e += 2) {
    const row = owner[given[e]!]!;
    if (row >= 0 && row === owner[given[e + 1]!]) edgeStarts[row + 1]!++;
    else tally.between++;
  }
  for (let row = 0; row < rows; row++) {
    starts[row + 1]! += starts[row]!;
    edgeStarts[row + 1]! += edgeStarts[row]!;
  }
  const order = new Uint32Array(starts[rows]!);
  const place = new Uint32Array(count);
  const filled = starts.slice();
  for (let v = 0; v < count; v++) {
    const row = owner[v]!;
    if (row < 0) continue;
    place[v] = filled[row]! - starts[row]!;
    order[filled[row]!++] = v;
  }
  const edges = new Uint32Array(2 * edgeStarts[rows]!);
  const drawn = edgeStarts.slice();
  for (let e = 0; e < given.length; e += 2) {
    const row = owner[given[e]!]!;
    if (row < 0 || row !== owner[given[e + 1]!]) continue;
    const at = 2 * drawn[row]!++;
    edges[at] = place[given[e]!]!;
    edges[at + 1] = place[given[e + 1]!]!;
  }
  for (let row = 0; row < rows; row++) {
    const vertices = order.subarray(starts[row], starts[row + 1]);
    if (vertices.length > 0)
      yield { row, vertices, edges: edges.subarray(2 * edgeStarts[row]!, 2 * edgeStarts[row + 1]!) };
  }
}
