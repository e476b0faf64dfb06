/** The faces within a chunk whose vertices are a Draco stream: they are in the stream. Those across chunks are links as ever. */
import { loadDraco } from "../../../codec/draco.js";
import { Unsupported } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import { chooser, type LinkContext, type LinkSource } from "./link-source.js";
import { sumOf } from "./tiles.js";

export function withDracoFaces(context: LinkContext, links: LinkSource | undefined): LinkSource {
  const { table, vertices, where } = context;
  if (links !== undefined && links.width !== 3)
    throw new Unsupported(`${where} has Draco vertices, whose faces are triangles, and links of ${links.width}`, {
      where,
    });
  return {
    width: 3,
    async cost(filter, columns, options) {
      const choose = chooser(context, 1, filter);
      const own: number[] = [];
      for (let chunk = 0; chunk < table.count; chunk++)
        if (choose(Int32Array.of(chunk), 0))
          own.push(...table.coords.subarray(chunk * table.rank, (chunk + 1) * table.rank));
      return sumOf([await vertices.cost(Int32Array.from(own), options), await links?.cost(filter, columns, options)]);
    },
    async *read(filter, columns, options) {
      if (links !== undefined) yield* links.read(filter, columns, options);
      const choose = chooser(context, 1, filter);
      const draco = await loadDraco();
      for (let chunk = 0; chunk < table.count; chunk++) {
        if (!choose(Int32Array.of(chunk), 0)) continue;
        const coords = table.coords.slice(chunk * table.rank, (chunk + 1) * table.rank);
        const [bytes] = await vertices.read(coords, options);
        const { faces } = draco.decode(
          bytes ?? new Uint8Array(),
          withLimits(options?.limits),
          `${where}/vertices of ${coords.join(".")}`,
        );
        if (faces === undefined || faces.length === 0) continue;
        const chunks = new Int32Array(faces.length).fill(chunk);
        yield { width: 3, count: faces.length / 3, chunks, vertices: faces, columns: new Map() };
      }
    },
  };
}
