/** What `convert` makes of Zarr Vectors, and how it links it: cloud-volume and Neuroglancer's Python read the same. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createVolume, volumeInfo } from "../../src/format/precomputed/index.js";
import { createZarrVectors, type ZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { ndarray } from "../../src/model/elements.js";
import type { Batch, Geometry } from "../../src/model/vectors.js";
import { convert } from "../../src/node.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { scene } from "../zarr-vectors-scenes.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("precomputed");
const folder = mkdtempSync(join(tmpdir(), "octavo-convert-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KINDS = ["skeletons", "graph", "streamlines"] as const;
const CASES = KINDS.flatMap((kind) => [true, false].map((sharded) => [kind, sharded] as const));
const IDS = [1n, 7n, 2n ** 53n + 1n, 2n ** 62n, 100n, 101n];

async function stored(geometry: Geometry): Promise<ZarrVectors> {
  const axes = ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "um" }));
  const writer = await createZarrVectors(memoryStore(), Prefix.root, { geometry, axes, chunkShape: 10 });
  await writer.add({ ...scene(geometry, 9), ids: BigInt64Array.from(IDS) });
  return writer.commit();
}

/** One object alone, with its edges. */
async function one(source: ZarrVectors, id: bigint): Promise<{ batch: Batch; edges: number[] }> {
  const batch = await source.select({ object: [id] }).read();
  const path = Array.from({ length: batch.positions.length / 3 - 1 }, (_, v) => [v, v + 1]).flat();
  return { batch, edges: batch.links === undefined ? path : [...batch.links.ends] };
}

describe.skipIf(reason !== undefined)(`what convert writes${reason === undefined ? "" : `: ${reason}`}`, () => {
  const sources = new Map<string, ZarrVectors>();
  const read = new Map<string, unknown>();
  beforeAll(async () => {
    const jobs: { folder: string; [member: string]: unknown }[] = [];
    for (const [kind, sharded] of CASES) {
      const root = join(folder, `${kind}_${sharded}`);
      const info = volumeInfo({
        size: [64, 64, 64],
        dtype: { kind: "uint", size: 8, endian: "little" },
        type: "segmentation",
      });
      const volume = await createVolume(fileStore(root), Prefix.root, info);
      await volume.write(undefined, ndarray([64, 64, 64, 1], new BigUint64Array(64 ** 3)));
      await volume.commit();
      const source = await stored(kind);
      sources.set(root, source);
      await convert(source, join(root, "skeletons"), { to: "precomputed", sharded, link: root });
      jobs.push({ kind: "skeletons", folder: root, ids: IDS.map(String), attributes: ["uid", "dir"] });
    }
    for (const geometry of ["lines", "points"] as const) {
      const root = join(folder, geometry);
      const source = await stored(geometry);
      sources.set(root, source);
      await convert(source, root, { to: "precomputed" });
      const ids = geometry === "lines" ? IDS.map(String) : ["1", "2", "3"];
      const related = geometry === "points" ? IDS.map((id) => ["object", `${id}`]) : [];
      jobs.push({ kind: "annotations", type: geometry === "lines" ? "line" : "point", folder: root, ids, related });
    }
    const file = join(folder, "jobs.json");
    writeFileSync(file, JSON.stringify(jobs));
    const answers = JSON.parse(runPeer("precomputed", "pc_vectors.py", "read", file)) as unknown[];
    for (const [i, job] of jobs.entries()) read.set(job.folder, answers[i]);
  }, 300_000);

  it.each(CASES)("%s as skeletons of a volume, sharded %s", async (kind, sharded) => {
    const root = join(folder, `${kind}_${sharded}`);
    const theirs = (read.get(root) as { "cloud-volume": { [id: string]: { [column: string]: number[] } } })[
      "cloud-volume"
    ];
    for (const id of IDS) {
      const { batch, edges } = await one(sources.get(root)!, id);
      const own = theirs[`${id}`]!;
      // The transform of the info is applied there, in float32.
      expect(own.vertices).toEqual([...batch.positions].map((value) => Math.fround(1000 * value)));
      expect(own.edges).toEqual(edges);
      for (const name of ["uid", "dir"]) expect(own[name]).toEqual([...batch.vertexColumns.get(name)!.values]);
    }
  });

  it("lines as annotations", async () => {
    const root = join(folder, "lines");
    type Record_ = { points: number[]; properties: { [id: string]: number } };
    const { byId } = (read.get(root) as { neuroglancer: { byId: { [id: string]: Record_ } } }).neuroglancer;
    for (const id of IDS) {
      const { batch } = await one(sources.get(root)!, id);
      expect(byId[`${id}`]!.points).toEqual([...batch.positions]);
      expect(byId[`${id}`]!.properties.score).toBe(batch.objectColumns.get("score")!.values[0]);
    }
  });

  it("points as annotations, which know their objects", async () => {
    const root = join(folder, "points");
    type Read = {
      neuroglancer: { related: { [name: string]: string[] } };
      "cloud-volume": { [id: string]: { points: number[] } };
    };
    const theirs = read.get(root) as Read;
    const all = await sources.get(root)!.select().read();
    const places = Array.from({ length: all.positions.length / 3 }, (_, v) =>
      all.positions.subarray(3 * v, 3 * v + 3).join(),
    );
    for (const id of ["1", "2", "3"]) expect(places).toContain(theirs["cloud-volume"][id]!.points.join());
    const known = new Set(Object.values(theirs.neuroglancer.related).flat());
    expect(known.size).toBe(places.length);
  });
});
