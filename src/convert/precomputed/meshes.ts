/**
 * Meshes of several resolutions, one for each object: the levels are made from the finest. The format holds no attributes of
 * vertices, and positions to 16 bits of the size of a cell.
 */
import { Unsupported } from "../../errors.js";
import { createMeshes } from "../../format/precomputed/mesh/write.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import type { ConvertReport } from "../arrays.js";
import { transformTo } from "./frame.js";
import { piecesOf, valuesOf } from "./pieces.js";
import {
  loseAttributes,
  type Publication,
  publishedIds,
  publishTable,
  shardingFor,
  writingInto,
} from "./publication.js";
import { Tally } from "./tally.js";

const BYTES = 8; // that a vertex takes in Draco, with its faces, on all levels

export async function publishMeshes(publication: Publication, store: Store, at: Prefix): Promise<ConvertReport> {
  const { source, geometry, level, schema, options, lose, note, reading, batchVertices } = publication;
  const { url: where } = source;
  if (level.objects === undefined || level.linkWidth !== 3)
    throw new Unsupported(`${where} should have objects and faces of three corners, found ${level.linkWidth}`, {
      where,
    });
  for (const { name } of schema.vertex) lose(`the vertex attribute ${name}: meshes have none`);
  loseAttributes(publication);
  if (source.levels.length > 1) lose(`its ${source.levels.length - 1} coarser levels: others are made from the finest`);
  const transform = transformTo(source, options.resolution, note);
  const ids = await publishedIds(publication);
  const sharding = shardingFor(publication, ids, BYTES, true);
  const segmentProperties = await publishTable(publication, ids, store, at);
  const description = { transform, sharding, segmentProperties };
  const writer = await createMeshes(store, at, description, writingInto(store, publication));
  const tally = new Tally();
  try {
    for await (const batch of source.select({ level: 0, geometry }).batches({ ...reading, batchVertices })) {
      if (batch.repeats === true) {
        tally.between += batch.links!.ends.length / 3;
        continue;
      }
      const positions = tally.inThree(batch);
      for (const { row, vertices, links } of piecesOf(batch, 3, tally)) {
        await writer.put(ids.of(batch.ids[row]!), { positions: valuesOf(positions, 3, vertices), faces: links });
        tally.objects++;
        tally.vertices += vertices.length;
        publication.progress(tally.vertices);
      }
    }
    tally.tell(ids.count, lose);
    const { files, collapsed } = await writer.commit();
    note("vertices of meshes are rounded to 16 bits of the size of their cell");
    if (collapsed > 0) lose(`${collapsed} faces that such rounding leaves no area`);
    const { losses, notes } = publication;
    return { chunksCopied: 0, chunksRecoded: files, ...tally.counts(), losses, notes };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
