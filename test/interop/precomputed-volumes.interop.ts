/** Volumes, both ways: what tensorstore and cloud-volume write is read equal; what Octavo writes both read equal. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readNpy } from "../../src/format/interchange/npy.js";
import { precomputed } from "../../src/format/precomputed/index.js";
import type { Sharding } from "../../src/format/precomputed/sharded/types.js";
import {
  createVolume,
  type VolumeArray,
  type VolumeDescription,
  volumeInfo,
} from "../../src/format/precomputed/volume/index.js";
import { dtypeOf } from "../../src/format/precomputed/volume/info.js";
import type { VolumeDataType } from "../../src/format/precomputed/volume/types.js";
import type { NdArray } from "../../src/model/array.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("precomputed");
const folder = mkdtempSync(join(tmpdir(), "octavo-volumes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ask = <T>(verb: string, folders: readonly string[]): T[] => {
  const jobs = join(folder, `${verb}.json`);
  writeFileSync(jobs, JSON.stringify(folders.map((one) => ({ folder: one }))));
  return JSON.parse(runPeer("precomputed", "pc_volumes.py", verb, jobs)) as T[];
};

const sharding: Sharding = {
  hash: "murmur3",
  preshiftBits: 0,
  minishardBits: 2,
  shardBits: 1,
  indexEncoding: "raw",
  dataEncoding: "gzip",
};

/** Values in runs, so that labels repeat within a block. */
function drawn(shape: readonly number[], dtype: VolumeDescription["dtype"], seed: number): NdArray {
  const { size, kind } = dtype as { size: number; kind: string };
  const data = new Uint8Array(shape.reduce((product, length) => product * length, size));
  let state = seed;
  for (let i = 0; i < data.length; i += size) {
    state = (Math.imul(state, 1103515245) + 12345) | 0;
    if (i > 0 && (state >>> 20) % 4 !== 0) data.copyWithin(i, i - size, i);
    else if (kind === "float") new DataView(data.buffer).setFloat32(i, (state >> 8) / 1000, true);
    else for (let k = 0; k < size; k++) data[i + k] = (state >>> (16 + (k % 3))) % 7;
  }
  return { shape, dtype, data };
}

const TYPES: readonly VolumeDataType[] = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float32"];

function* descriptions(): Generator<[name: string, wanted: VolumeDescription]> {
  const placed = { size: [21, 17, 13], offset: [-3, 5, 40], resolution: [4, 4, 40], chunkSize: [8, 7, 6] } as const;
  const each = function* (
    name: string,
    wanted: Omit<VolumeDescription, "size">,
  ): Generator<[string, VolumeDescription]> {
    const scales = 3;
    yield [`${name}_files`, { ...placed, ...wanted, scales }];
    yield [`${name}_shards`, { ...placed, ...wanted, sharding: true }];
    yield [`${name}_murmur`, { ...placed, ...wanted, sharding }];
  };
  for (const type of TYPES)
    for (const channels of [1, 2])
      yield* each(`raw_${type}x${channels}`, { dtype: dtypeOf(type), channels, encoding: { name: "raw" } });
  for (const type of ["uint32", "uint64"] as const)
    for (const channels of [1, 3])
      yield* each(`labels_${type}x${channels}`, {
        dtype: dtypeOf(type),
        channels,
        encoding: { name: "compressed_segmentation", block: [4, 3, 2] },
      });
  for (const type of ["uint8", "uint16"] as const)
    for (const channels of [1, 2, 3, 4])
      yield* each(`png_${type}x${channels}`, { dtype: dtypeOf(type), channels, encoding: { name: "png" } });
}

describe.skipIf(reason !== undefined)(
  `volumes and their Python peers${reason === undefined ? "" : ` (${reason})`}`,
  () => {
    const open = async (root: string, name: string): Promise<VolumeArray> =>
      (await precomputed.open(fileStore(root), Prefix.of(name))) as VolumeArray;

    it("reads equal what they write", async () => {
      const written = join(folder, "theirs");
      const rows = JSON.parse(runPeer("precomputed", "pc_volumes.py", "write", written)) as {
        name: string;
        npy: string;
      }[];
      expect(rows.length).toBeGreaterThan(120);
      const differ: string[] = [];
      for (const { name, npy } of rows) {
        try {
          const { data, shape } = await (await open(written, name)).read();
          const expected = readNpy(readFileSync(join(written, npy)));
          expect(shape).toEqual(expected.shape);
          expect(Buffer.compare(data as Uint8Array, expected.data as Uint8Array)).toBe(0);
          for await (const { severity, message } of precomputed.validate(fileStore(written), Prefix.of(name)))
            if (severity === "error") differ.push(`${name}: ${message}`);
        } catch (error) {
          differ.push(`${name}: ${(error as Error).message.slice(0, 200)}`);
        }
      }
      expect(differ).toEqual([]);
    });

    it("is read equal by them, in the very bytes that tensorstore writes", async () => {
      const written = join(folder, "ours");
      const store = fileStore(written, { durability: "none" });
      const all: { name: string; wanted: VolumeDescription; values: NdArray }[] = [];
      for (const [name, wanted] of descriptions()) {
        const values = drawn([...wanted.size, wanted.channels ?? 1], wanted.dtype, all.length + 1);
        const writer = await createVolume(store, Prefix.of(name), volumeInfo(wanted));
        await writer.write(undefined, values);
        await writer.commit();
        all.push({ name, wanted, values });
      }
      const differ: string[] = [];
      const answers = ask<Record<string, string | { error: string }>>(
        "read",
        all.map(({ name }) => join(written, name)),
      );
      answers.forEach((answer, i) => {
        const { name, values } = all[i]!;
        for (const [reader, found] of Object.entries(answer)) {
          // cloud-volume has no png of two channels.
          if (typeof found !== "string") {
            if (!(reader === "cloudvolume" && name.startsWith("png")))
              differ.push(`${name}, ${reader}: ${found.error}`);
            continue;
          }
          const { data, shape } = readNpy(readFileSync(found));
          const equal =
            `${shape}` === `${values.shape}` && Buffer.compare(data as Uint8Array, values.data as Uint8Array) === 0;
          if (!equal) differ.push(`${name}, ${reader}: ${shape} or values differ`);
        }
      });
      expect(differ).toEqual([]);

      const files = all.filter(({ name }) => name.endsWith("_files"));
      const unpacked = files.filter(({ name }) => !name.startsWith("png")); // deflate has many right answers
      const bytes = ask<{ chunks: number; differ: string[] }>(
        "same",
        unpacked.map(({ name }) => join(written, name)),
      );
      expect(bytes.every(({ chunks }) => chunks > 10)).toBe(true);
      expect(bytes.map((one, i) => [unpacked[i]!.name, one.differ]).filter(([, names]) => names!.length > 0)).toEqual(
        [],
      );

      const coarser = ask<{ scales: number; differ: string[] }>(
        "coarser",
        files.map(({ name }) => join(written, name)),
      );
      expect(coarser.every(({ scales }) => scales === 3)).toBe(true);
      expect(coarser.map((one, i) => [files[i]!.name, one.differ]).filter(([, names]) => names!.length > 0)).toEqual(
        [],
      );
    });
  },
);
