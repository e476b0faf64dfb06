/** Pyramids in zarr-vectors 0.9.2: every level opens, its level 5 finds no error, and it reads the links between levels as Octavo does. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { Delta, linksBetween } from "../../src/format/zarr-vectors/read/link-levels.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/write/write.js";
import { buildPyramid } from "../../src/pyramid/build.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { KINDS, random, scene } from "../zarr-vectors-scenes.js";
import { missingPeer, runPeer } from "./peers.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-zv-pyramid-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const files = fileStore(folder, { durability: "none" });
const all = [...KINDS, "cloud"];

/** A chunk, and the number of a vertex there. */
type Place = readonly [readonly number[], number];

interface Said {
  readonly validate_level5: object;
  readonly dump: {
    readonly levels: {
      readonly [level: string]: {
        readonly meta?: { readonly vertex_count: number };
        readonly links?: { readonly [delta: string]: { readonly records: readonly (readonly [Place, Place])[] } };
      };
    };
  };
}

const missing = missingPeer("zarr-vectors-0.9");
describe.skipIf(missing !== undefined)(
  `pyramids in zarr-vectors 0.9.2${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    const said = new Map<string, Said>();
    beforeAll(async () => {
      for (const geometry of KINDS) {
        const at = Prefix.of(geometry);
        const writer = await createZarrVectors(files, at, { geometry, dims: 3, chunkShape: 10 });
        await writer.add(scene(geometry, 5, 10, 3));
        writer.groups([[0, 5], { start: 1, stop: 3 }]);
        await writer.commit();
        await buildPyramid(files, at, { levels: 3, keep: 0.5, crossLinks: true });
      }
      const next = random(2);
      const writer = await createZarrVectors(files, Prefix.of("cloud"), {
        geometry: "points",
        dims: 3,
        chunkShape: 10,
      });
      await writer.add({ positions: Float32Array.from({ length: 3000 }, () => 20 * next()) });
      await writer.commit();
      await buildPyramid(files, Prefix.of("cloud"), { levels: 3, crossLinks: true });
      const lines = runPeer("zarr-vectors-0.9", "zv_dump.py", ...all.map((name) => join(folder, name))).trim();
      for (const [i, line] of lines.split("\n").entries()) said.set(all[i]!, JSON.parse(line));
    }, 600_000);

    it.each(all)("%s", async (name) => {
      const { validate_level5: verdict, dump } = said.get(name)!;
      expect(verdict).toMatchObject({ ok: true, errors: [] });
      const dataset = await openZarrVectors(files, Prefix.of(name));
      expect(Object.keys(dump.levels).sort()).toEqual(["0", "1", "2", "3"]);
      expect(dataset.levels.map(({ level }) => level)).toEqual([0, 1, 2, 3]);
      for (const [level, delta] of [0, 1, 2].flatMap(
        (level) =>
          [
            [level, 1],
            [level + 1, -1],
          ] as const,
      )) {
        const own: string[] = [];
        for await (const { chunks, vertices } of linksBetween(dataset.opened, level, delta))
          for (let end = 0; end < vertices.length; end++)
            own.push(`${chunks.subarray(3 * end, 3 * end + 3)}:${vertices[end]}`);
        const { records } = dump.levels[level]!.links![Delta.format(delta)]!;
        expect(records.flatMap((ends) => ends.map(([chunk, vertex]) => `${chunk}:${vertex}`))).toHaveLength(own.length);
        expect(records.map((ends) => ends.map(([chunk, vertex]) => `${chunk}:${vertex}`).join(" ")).sort()).toEqual(
          own.flatMap((end, i) => (i % 2 === 0 ? [`${end} ${own[i + 1]}`] : [])).sort(),
        );
      }
    });
  },
);
