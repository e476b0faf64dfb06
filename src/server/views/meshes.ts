/**
 * Meshes in several resolutions, one for each object, encoded with Draco when it is asked for.
 *
 *     info · segment_properties/info · ID.index (its manifest) · ID (its fragments) …
 */
import { loadDracoEncoder } from "../../codec/draco-encode.js";
import { transformTo } from "../../convert/precomputed/frame.js";
import { piecesOf } from "../../convert/precomputed/pieces.js";
import type { Publication } from "../../convert/precomputed/publication.js";
import { Tally } from "../../convert/precomputed/tally.js";
import { encodeMesh } from "../../format/precomputed/mesh/encode.js";
import { MeshInfo } from "../../format/precomputed/mesh/info.js";
import { SegmentProperties } from "../../format/precomputed/properties/properties.js";
import { withLimits } from "../../limits.js";
import { pick } from "../../query/columns.js";
import { Affine } from "../../space/transform.js";
import { type Computation, document, one } from "./computed.js";
import { idOf, viewIds } from "./objects.js";
import { firstOf, objectTable } from "./skeletons.js";

const TABLE = "segment_properties";
const BITS = 16;

/** One mesh for each object. */
export async function meshView(publication: Publication): Promise<Computation> {
  const { source, geometry, level, options, note, reading, batchVertices } = publication;
  const ids = await viewIds(level.objects!, reading);
  const table = await objectTable(publication, ids);
  const transform = Affine.of(transformTo(source, options.resolution, note));
  const info = document(
    MeshInfo.format({
      kind: "multi",
      quantizationBits: BITS,
      transform,
      lodScaleMultiplier: 1,
      sharding: null,
      segmentProperties: table && TABLE,
    }),
  );
  const form = { quantizationBits: BITS, transform, levels: undefined, chunkShape: undefined } as const;
  return {
    shown: firstOf(ids.all),
    async compute(name, { signal }) {
      if (name === "info") return one(name, info);
      if (name === `${TABLE}/info`) return table && one(name, document(SegmentProperties.format(table)));
      const id = idOf(name.replace(/\.index$/, ""));
      const row = id === undefined ? -1 : ids.rowOf(id);
      if (row < 0) return undefined;
      const question = source.select({ level: 0, geometry, object: [ids.own[row]!] });
      let mesh = { positions: new Float32Array(), faces: new Uint32Array() };
      for await (const batch of question.batches({ ...reading, signal, batchVertices, attributes: [] })) {
        if (batch.repeats === true) continue;
        const positions = new Tally().inThree(batch);
        for (const { vertices, links } of piecesOf(batch, 3, new Tally()))
          mesh = {
            positions: pick(positions, 3, vertices) as Float32Array<ArrayBuffer>,
            faces: links as Uint32Array<ArrayBuffer>,
          };
      }
      const { chunkBytes } = withLimits(reading.limits);
      const { manifest, fragments } = await encodeMesh(mesh, form, await loadDracoEncoder(), chunkBytes);
      return new Map([
        [`${id}.index`, manifest],
        [`${id}`, fragments],
      ]);
    },
    async *names() {
      yield "info";
      if (table !== undefined) yield `${TABLE}/info`;
      for (const id of ids.all) yield* [`${id}.index`, `${id}`];
    },
  };
}
