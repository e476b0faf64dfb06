/** Geometry on its way to precomputed and back, for the tests of that. */
import { expect } from "vitest";
import { convertToPrecomputed } from "../src/convert/precomputed/index.js";
import type { PublishOptions } from "../src/convert/precomputed/publication.js";
import { precomputed } from "../src/format/precomputed/index.js";
import { createZarrVectors } from "../src/format/zarr-vectors/index.js";
import type { VectorDescription } from "../src/format/zarr-vectors/write/description.js";
import type { BatchParts } from "../src/format/zarr-vectors/write/write.js";
import type { Batch, Columns, Geometry, VectorDataset } from "../src/model/vectors.js";
import { Prefix } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/types.js";
import { toldBatch } from "./zarr-vectors-told.js";

export const at = Prefix.root;
export const axes = ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "nanometer" }));

/** A store of one batch, on its way. */
export async function stored(geometry: Geometry, batch: BatchParts, more: Partial<VectorDescription> = {}) {
  const writer = await createZarrVectors(memoryStore(), at, { geometry, axes, chunkShape: 10, ...more });
  await writer.add(batch);
  return writer;
}

/** What comes of it as precomputed, without a finding. */
export async function published(source: VectorDataset, options: PublishOptions = {}, store: Store = memoryStore()) {
  const report = await convertToPrecomputed(source, store, at, options);
  const findings = [];
  for await (const found of precomputed.validate(store, at)) findings.push(found);
  expect(findings).toEqual([]);
  return { store, report, dataset: (await precomputed.open(store, at)) as VectorDataset };
}

/** Positions, topology, and attributes as numbers, whatever their types. */
export async function told(dataset: VectorDataset, leave: readonly string[] = []) {
  const batch = await dataset.select({ level: 0 }).read();
  const without = (columns: Columns): Columns => new Map([...columns].filter(([name]) => !leave.includes(name)));
  return toldBatch(
    {
      ...batch,
      geometry: "graph",
      links: pathLinks(batch),
      vertexColumns: without(batch.vertexColumns),
      objectColumns: without(batch.objectColumns),
    },
    { fragments: false },
  );
}

/** The links of a batch; of paths those between neighbours. */
function pathLinks({ geometry, parts, links }: Batch): Batch["links"] {
  if (!["lines", "polylines", "streamlines"].includes(geometry)) return links && { ...links, columns: new Map() };
  const ends: number[] = [];
  for (let p = 0; p + 1 < parts.length; p++) for (let v = parts[p]! + 1; v < parts[p + 1]!; v++) ends.push(v - 1, v);
  return { width: 2, ends: Uint32Array.from(ends), columns: new Map() };
}
