/**
 * Meshes, one for each object: of several resolutions, whose levels are made from the finest and whose positions have 16 bits of the
 * size of a cell; or of the older form, with positions as they are. Neither has attributes of vertices.
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

export async function publishMeshes(
  publication: Publication,
  store: Store,
  at: Prefix,
  legacy: boolean,
): Promise<ConvertReport> {
  const { source, geometry, level, schema, options, lose, note, reading, batchVertices } = publication;
  const { url: where } = source;
  if (level.objects === undefined || level.linkWidth !== 3)
    throw new Unsupported(`${where} should have objects and faces of three corners, found ${level.linkWidth}`, {
      where,
    });
  for (const { name } of schema.vertex) lose(`the vertex attribute ${name}: meshes have none`);
  loseAttributes(publication);
  if (legacy && options.sharded === true)
    throw new Unsupported("meshes of the older form cannot be in shards: nothing reads them there");
  if (source.levels.length > 1)
    lose(
      `its ${source.levels.length - 1} coarser levels: ${legacy ? "the older form has one" : "others are made from the finest"}`,
    );
  const transform = transformTo(source, options.resolution, note);
  const ids = await publishedIds(publication);
  const segmentProperties = await publishTable(publication, ids, store, at);
  const description = legacy
    ? ({ kind: "legacy", transform, segmentProperties } as const)
    : { transform, sharding: shardingFor(publication, ids, BYTES, true), segmentProperties };
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
    const { files, collapsed, cut, unused, moved } = await writer.commit();
    const by = `by at most ${moved.toPrecision(2)}`;
    if (moved > 0)
      lose(
        legacy
          ? `coordinates, rounded to float32 nanometres ${by}`
          : `coordinates, rounded to 16 bits of the size of a cell ${by}; --kind legacy-meshes keeps them`,
      );
    if (collapsed > 0) lose(`${collapsed} faces that such rounding leaves no area`);
    if (cut > 0) lose(`faces that cross the sides of cells: cut there, they are ${cut} more`);
    if (unused > 0) lose(`${unused} vertices that no face has`);
    const { losses, notes } = publication;
    return { chunksCopied: 0, chunksRecoded: files, ...tally.counts(), losses, notes };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
