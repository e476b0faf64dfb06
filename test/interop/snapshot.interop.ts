/** Snapshots both ways: what Octavo writes, h5py and packingcubes open; cubes and sorted particles of packingcubes answer alike. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SnapshotDataset } from "../../src/format/snapshot/dataset.js";
import { encodeSnapshot, selectedParticles } from "../../src/format/snapshot/write.js";
import { open } from "../../src/node.js";
import { fixtures } from "../fixtures.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("packed-tree");
const folder = mkdtempSync(join(tmpdir(), "octavo-snapshot-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const gas = () => open(join(fixtures("hdf5"), "snap_010.0.hdf5")) as Promise<SnapshotDataset>;
const path = join(folder, "gas.hdf5");

describe.skipIf(reason !== undefined)(
  `snapshots, h5py and packingcubes${reason === undefined ? "" : `: ${reason}`}`,
  () => {
    beforeAll(async () => {
      const dataset = await gas();
      writeFileSync(path, await encodeSnapshot([await selectedParticles(dataset, {})], dataset.snapshot));
    });

    it("what is written has its types, its counts and its units", () => {
      const said = JSON.parse(runPeer("packed-tree", "snapshot.py", "read", path, "PartType0"));
      expect(said).toMatchObject({
        header: { NumPart_ThisFile: [1000, 0, 0, 0, 0, 0], NumFilesPerSnapshot: 1, BoxSize: 100, HubbleParam: 0.7 },
        fields: {
          Coordinates: ["float32", [1000, 3]],
          ParticleIDs: ["uint64", [1000]],
          Velocities: ["float32", [1000, 3]],
        },
        attributes: { a_scaling: 1, h_scaling: -1, to_cgs: 3.085678e21 },
        packingcubes: 1000,
      });
      expect(said.ids).toEqual(Array.from({ length: 1000 }, (_, i) => String(2n ** 60n + BigInt(i))));
    });

    it("cubes that packingcubes makes of it find what it finds, and what brute force does", {
      timeout: 900_000,
    }, async () => {
      const output = join(folder, "cubes.hdf5");
      const { sphere } = JSON.parse(runPeer("packed-tree", "snapshot.py", "cubes", path, output, "PartType0"));
      const query = { sphere: [50, 50, 50, 20] };
      const { positions, vertexColumns } = await ((await open(output)) as SnapshotDataset).select(query).read();
      const numbers = Array.from(vertexColumns.get("index")!.values as BigInt64Array, Number);
      expect([...numbers].sort((a, b) => a - b)).toEqual(sphere);
      const all = (await (await gas()).select(query).read()).positions;
      expect(positions.length).toBe(all.length);
      expect(Float64Array.from(positions).sort()).toEqual(Float64Array.from(all).sort());
    });
  },
);
