/**
 * Meshes, both ways: what igneous and cloud-volume write is read equal at every level, and what Octavo writes cloud-volume reads
 * equal: sharded and not, with 10 and 16 bits, in several resolutions and in the older form.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  chooseSharding,
  createMeshes,
  type Mesh,
  type MeshDescription,
  openMeshes,
} from "../../src/format/precomputed/index.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("precomputed");
const folder = mkdtempSync(join(tmpdir(), "octavo-meshes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Told {
  readonly [id: string]: readonly { readonly vertices: number[]; readonly faces: number[] }[];
}

/** The same vertices in the same order, but for what float32 loses, and the same faces. */
function expectEqual({ positions, faces }: Mesh, { vertices, faces: theirs }: Told[string][number]): void {
  expect(faces.length).toBe(theirs.length);
  expect(theirs.every((vertex, i) => faces[i] === vertex)).toBe(true);
  expect(positions.length).toBe(vertices.length);
  const size = vertices.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  expect(vertices.reduce((most, value, i) => Math.max(most, Math.abs(value - positions[i]!)), 0)).toBeLessThan(
    size * 1e-6,
  );
}

/** The corners of each face, in an order of their own: cloud-volume joins the parts of older meshes as they come. */
const facesOf = (positions: ArrayLike<number>, faces: ArrayLike<number>): string[] =>
  Array.from({ length: faces.length / 3 }, (_, i) =>
    [0, 1, 2].map((k) => [0, 1, 2].map((axis) => positions[3 * faces[3 * i + k]! + axis]).join()).join(" "),
  ).sort();

describe.skipIf(reason !== undefined)(`what the peers write${reason === undefined ? "" : `: ${reason}`}`, () => {
  let told: { readonly [store: string]: Told };
  beforeAll(() => {
    told = JSON.parse(runPeer("precomputed", "pc_meshes.py", "write", join(folder, "theirs")));
  }, 300_000);

  it.each([
    ["igneous_legacy", 1],
    ["cloudvolume_legacy", 1],
    ["igneous_10", 2],
    ["igneous_16", 2],
    ["igneous_sharded", 2],
  ])("%s", async (name, levels) => {
    const meshes = await openMeshes(fileStore(join(folder, "theirs", name, "mesh")));
    const most = Object.entries(told[name]!).map(async ([id, lods]) => {
      for (const [lod, one] of lods.entries()) {
        const mesh = (await meshes.get(BigInt(id), lod))!;
        if (meshes.info.kind === "multi") expectEqual(mesh, one);
        else expect(facesOf(mesh.positions, mesh.faces)).toEqual(facesOf(one.vertices, one.faces));
      }
      return lods.length;
    });
    expect(Math.max(...(await Promise.all(most)))).toBe(levels);
  });
});

/** A ring with ripples: closed, with a hole. */
function ring(n: number, size: number): Mesh {
  const positions: number[] = [];
  const faces: number[] = [];
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      const [a, b] = [(2 * Math.PI * i) / n, (2 * Math.PI * j) / n];
      const thick = size * (0.3 + 0.03 * Math.sin(9 * a));
      const from = size + thick * Math.cos(b);
      positions.push(size * 2 + from * Math.cos(a), size * 2 + from * Math.sin(a), size + (thick * Math.sin(b)) / 10);
      const at = (x: number, y: number): number => (x % n) * n + (y % n);
      faces.push(at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j), at(i + 1, j + 1), at(i, j + 1));
    }
  return { positions: Float32Array.from(positions), faces: Uint32Array.from(faces) };
}

const MESHES: readonly (readonly [bigint, Mesh])[] = [
  [7n, ring(60, 1000)],
  [0n, ring(5, 30)],
  [2n ** 63n + 1n, { positions: Float32Array.of(0, 0, 0, 8, 0, 0, 0, 8, 4), faces: Uint32Array.of(0, 1, 2) }],
  [2n ** 64n - 1n, ring(30, 100)],
];

const transform = [4, 0, 0, 100, 0, 4, 0, 0, 0, 0, 40, -7];
const { sharding } = chooseSharding({ count: MESHES.length, bytes: 1e5, compressed: true });
const spread = { ...sharding, minishardBits: 2, shardBits: 1 };
const FORMS: readonly (readonly [string, MeshDescription])[] = [
  ["legacy", { kind: "legacy" }],
  ["files_10", { quantizationBits: 10, levels: 3 }],
  ["files_16", { quantizationBits: 16, levels: 3, chunkShape: [300, 300, 40] }],
  ["sharded_10", { quantizationBits: 10, levels: 3, sharding }],
  ["sharded_16", { quantizationBits: 16, levels: 3, sharding: { ...spread, dataEncoding: "gzip" } }],
  ["sharded_identity", { levels: 2, sharding: { ...spread, hash: "identity", indexEncoding: "raw" } }],
];

/** cloud-volume wants a volume around them. */
const VOLUME = {
  data_type: "uint64",
  num_channels: 1,
  scales: [
    {
      chunk_sizes: [[64, 64, 64]],
      encoding: "raw",
      key: "4",
      resolution: [4, 4, 40],
      size: [64, 64, 64],
      voxel_offset: [0, 0, 0],
    },
  ],
  mesh: "mesh",
  type: "segmentation",
};

describe.skipIf(reason !== undefined)("what Octavo writes, cloud-volume reads", () => {
  let told: Told[];
  const levelsOf = async (name: string): Promise<{ [id: string]: number }> => {
    const meshes = await openMeshes(fileStore(join(folder, name, "mesh")));
    const out: { [id: string]: number } = {};
    for (const [id] of MESHES) out[`${id}`] = meshes.outlineOf(id, (await meshes.values.get(id))!).levels;
    return out;
  };
  beforeAll(async () => {
    const jobs: object[] = [];
    for (const [name, description] of FORMS) {
      const writer = await createMeshes(fileStore(join(folder, name)), Prefix.of("mesh"), {
        ...description,
        transform,
      });
      for (const [id, mesh] of MESHES) await writer.put(id, mesh);
      await writer.commit();
      writeFileSync(join(folder, name, "info"), JSON.stringify(VOLUME));
      jobs.push({ folder: join(folder, name), levels: await levelsOf(name) });
    }
    const file = join(folder, "jobs.json");
    writeFileSync(file, JSON.stringify(jobs));
    told = JSON.parse(runPeer("precomputed", "pc_meshes.py", "read", file));
  }, 300_000);

  it.each(FORMS.map(([name], i) => [name, i] as const))("%s", async (name, number) => {
    const meshes = await openMeshes(fileStore(join(folder, name, "mesh")));
    const levels = await levelsOf(name);
    if (name !== "legacy") expect(levels["7"]).toBeGreaterThan(1);
    for (const [id, given] of MESHES) {
      const lods = told[number]![`${id}`]!;
      expect(lods.length).toBe(levels[`${id}`]);
      for (const [lod, one] of lods.entries()) {
        expect(one.faces.length).toBeGreaterThan(0);
        expectEqual((await meshes.get(id, lod))!, one);
      }
      expect(lods[0]!.faces.length).toBeGreaterThanOrEqual(given.faces.length);
    }
  });
});
