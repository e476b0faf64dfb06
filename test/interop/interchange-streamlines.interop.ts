/**
 * Streamlines both ways: what nibabel and trx-python write, Octavo reads to the same bits; what Octavo writes of it, also after a store of Zarr
 * Vectors with many chunks, they read as they read the original.
 */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytesOf } from "../../src/codec/numeric.js";
import type { NumericArray } from "../../src/codec/types.js";
import type { Columns, VectorDataset } from "../../src/model/vectors.js";
import { convert as convertTo, open } from "../../src/node.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("interchange");
const folder = mkdtempSync(join(tmpdir(), "octavo-streamlines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const convert: typeof convertTo = (from, to, options) => convertTo(from, to, { durability: "none", ...options });

/** Type, number of values, and a hash of their bytes. */
type Values = readonly [string, number, string];
interface Said {
  readonly positions: Values;
  readonly lengths: readonly number[];
  readonly vertex: { readonly [name: string]: Values };
  readonly object: { readonly [name: string]: Values };
  readonly groups: { readonly [name: string]: readonly number[] };
  readonly dpg: { readonly [group: string]: { readonly [name: string]: Values } };
}

const TRK = ["ras", "las", "pir", "oblique"].flatMap((name) => [`${name}.trk`, `${name}-lps.trk`]);
const NAMES = [
  ...TRK,
  "uncounted.trk",
  "old.trk",
  "unnamed.trk",
  "big.trk",
  "a.tck",
  "half.trx",
  "single.trx",
  "double.trx",
];

const ask = (names: readonly string[]): { readonly [name: string]: Said } =>
  JSON.parse(runPeer("interchange", "ic_streamlines.py", "read", ...names.map((name) => join(folder, name))));
const hash = (values: NumericArray): string => createHash("sha1").update(bytesOf(values)).digest("hex");
const shown = (columns: Columns) =>
  Object.fromEntries([...columns].map(([name, { values }]) => [name, hash(values as NumericArray)]));
const data = (values: { readonly [name: string]: Values }) =>
  Object.fromEntries(Object.entries(values).map(([name, own]) => [name, own[2]]));

describe.skipIf(reason !== undefined)(
  `streamlines, nibabel and trx-python${reason === undefined ? "" : `: ${reason}`}`,
  () => {
    let said: { readonly [name: string]: Said } = {};
    beforeAll(() => {
      runPeer("interchange", "ic_streamlines.py", "write", folder);
      said = ask(NAMES);
    });

    it.each(NAMES)("%s is read as they read it", async (name) => {
      const peer = said[name]!;
      const dataset = (await open(join(folder, name))) as VectorDataset;
      const { positions, parts, vertexColumns, objectColumns } = await dataset.select().read();
      expect(Array.from(peer.lengths, (_, i) => parts[i + 1]! - parts[i]!)).toEqual(peer.lengths);
      if (peer.positions[0] !== "float16") expect(hash(positions)).toBe(peer.positions[2]);
      expect(shown(vertexColumns)).toEqual(data(peer.vertex));
      expect(shown(objectColumns)).toEqual(data(peer.object));
      const groups = await dataset.groups();
      const names = (await dataset.groupColumns()).get("name")?.values ?? [];
      const members = await Promise.all(
        groups.map(async ({ group }) => [names[group], Array.from(await dataset.groupMembers(group), Number)]),
      );
      expect(Object.fromEntries(members)).toEqual(peer.groups);
    });

    it.each(["las.trk", "a.tck"])("%s packed with gzip is the same", async (name) => {
      const [plain, packed] = (await Promise.all(
        [name, `packed-${name}.gz`].map((own) => open(join(folder, own))),
      )) as VectorDataset[];
      expect((await packed!.select().read()).positions).toEqual((await plain!.select().read()).positions);
      await convert(join(folder, name), join(folder, `again-${name}.gz`));
      const again = gunzipSync(readFileSync(join(folder, `again-${name}.gz`)));
      expect(again.length).toBe(readFileSync(join(folder, name)).length);
    });

    it("what Octavo writes of it, at once and after a store, they read as before", async () => {
      mkdirSync(join(folder, "again"));
      const again: string[] = [];
      for (const name of NAMES) {
        const stored = join(folder, `${name}.zv`);
        await convert(join(folder, name), stored, { chunkShape: [40, 40, 40] });
        const direct = await convert(join(folder, name), join(folder, "again", `direct-${name}`));
        const report = await convert(stored, join(folder, "again", name));
        expect([name, direct.losses, report.losses]).toEqual([name, [], []]);
        again.push(`again/direct-${name}`, `again/${name}`);
      }
      const back = ask(again);
      for (const name of NAMES)
        for (const own of [name, `direct-${name}`]) {
          const { dpg, ...found } = back[own]!;
          const { dpg: before, ...expected } = said[name]!;
          expect([own, found]).toEqual([own, expected]);
          expect(dpg).toEqual(before);
        }
      for (const name of NAMES.filter((own) => own.endsWith("trk"))) {
        const [before, after] = [join(folder, name), join(folder, "again", name)].map((path) =>
          readFileSync(path).subarray(0, 1000),
        );
        if (name !== "uncounted.trk")
          expect([name, after!.toString("latin1")]).toEqual([name, before!.toString("latin1")]);
      }
      expect(readFileSync(join(folder, "again", "a.tck")).equals(readFileSync(join(folder, "a.tck")))).toBe(true);
    });
  },
);
