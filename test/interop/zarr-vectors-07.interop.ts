/**
 * Format 0.7.0 in zarr-vectors 0.2.0: what Octavo writes is read equal in every kind. And what Octavo upgrades to 0.9.2 is read
 * equal by zarr-vectors 0.9.2, and without an error at level 5 of its own validator.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { convertVectors } from "../../src/convert/vectors.js";
import { openZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { type BatchParts, createZarrVectors } from "../../src/format/zarr-vectors/write/write.js";
import type { Geometry } from "../../src/model/vectors.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { fixtures } from "../fixtures.js";
import { columnsOf, info, KINDS, scene } from "../zarr-vectors-scenes.js";
import { missingPeer, type Peer, runPeer } from "./peers.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-zv-07-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const files = fileStore(folder, { durability: "none" });

type Plain = number | string | null | boolean | readonly Plain[] | { readonly [key: string]: Plain };
interface Said {
  readonly dump: { readonly levels: { readonly [level: string]: Level } };
  readonly typed: { readonly [key: string]: Plain };
  readonly validate_level5: { readonly ok: boolean; readonly errors: readonly string[] };
}
interface Level {
  readonly chunks: { readonly [chunk: string]: { readonly [key: string]: Plain } };
  readonly object_manifests: Plain;
  readonly object_attributes?: { readonly [name: string]: { readonly data: Plain; readonly present_mask: Plain } };
  readonly groups?: Plain;
  readonly group_attributes?: Plain;
  readonly links?: { readonly "0"?: { readonly [chunk: string]: Plain } };
  readonly cross_chunk_links?: { readonly "0"?: Plain };
  readonly cross_chunk_link_attributes?: { readonly [name: string]: { readonly "0": Plain } };
}

/** Arrays as lists, whatever lies around them. */
const bare = (value: Plain | undefined): Plain =>
  value !== null && value !== undefined && typeof value === "object" && "data" in value
    ? bare((value as { data: Plain }).data)
    : (value ?? []);
const list = (value: Plain | undefined): readonly Plain[] => bare(value) as readonly Plain[];
const nameOf = (position: Plain): string => (position as readonly number[]).join(" ");
const ask = (peer: Peer, paths: readonly string[]): Said[] =>
  runPeer(peer, "zv_dump.py", ...paths)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Said);

/** What was given, in the words of the reference: vertices go by where they are. */
function given({ positions, parts, links, objectColumns }: BatchParts) {
  const names = Array.from({ length: positions.length / 3 }, (_, v) => positions.subarray(3 * v, 3 * v + 3).join(" "));
  const { width = 1, ends = new Uint32Array() } = links ?? {};
  return {
    names,
    objects: Array.from({ length: parts!.length - 1 }, (_, o) => names.slice(parts![o], parts![o + 1])),
    links: Array.from({ length: ends.length / width }, (_, l) =>
      [...ends.subarray(l * width, (l + 1) * width)].map((end) => names[end]!),
    ),
    scores: [...(objectColumns!.get("score")!.values as Float32Array)],
  };
}

const old = missingPeer("zarr-vectors-0.2");
describe.skipIf(old !== undefined)(
  `Zarr Vectors 0.7.0 in zarr-vectors 0.2.0${old === undefined ? "" : ` (${old})`}`,
  () => {
    const batches = new Map<Geometry, BatchParts>(KINDS.map((kind, i) => [kind, scene(kind, 40 + i, 8)]));
    const said = new Map<Geometry, Said>();
    beforeAll(async () => {
      for (const [geometry, batch] of batches) {
        const at = Prefix.of(`${geometry}.zarrvectors`);
        const writer = await createZarrVectors(files, at, {
          geometry,
          dims: 3,
          chunkShape: 10,
          formatVersion: "0.7.0",
        });
        await writer.add(batch);
        writer.groups(
          [[1, 3], [], { start: 0, stop: 4 }],
          columnsOf([info("size", { kind: "int", size: 4, endian: "little" }), Int32Array.of(2, 0, 4)]),
        );
        await writer.commit();
      }
      const answers = ask(
        "zarr-vectors-0.2",
        KINDS.map((kind) => join(folder, `${kind}.zarrvectors`)),
      );
      for (const [i, answer] of answers.entries()) said.set(KINDS[i]!, answer);
    });

    it.each(KINDS)("reads %s equal", (geometry) => {
      const batch = batches.get(geometry)!;
      const { dump, typed, validate_level5 } = said.get(geometry)!;
      const level = dump.levels["0"]!;
      const { names, objects, links, scores } = given(batch);
      expect(validate_level5).toMatchObject({ ok: true, errors: [] });

      // Chunk by chunk: positions and attributes, in rows that belong together.
      const uid = batch.vertexColumns!.get("uid")!.values as Int16Array;
      const dir = batch.vertexColumns!.get("dir")!.values as Float32Array;
      const rows = new Map<string, string[]>();
      const fragments = new Map<string, string[][]>();
      let seen = 0;
      for (const [chunk, { vertices_by_fragment, vertex_attributes }] of Object.entries(level.chunks)) {
        const groups = list(vertices_by_fragment).map((fragment) => list(fragment).map(nameOf));
        fragments.set(chunk, groups);
        rows.set(chunk, groups.flat());
        const own = vertex_attributes as { uid: Plain; dir: Plain };
        const uids = list(own.uid)
          .flatMap((part) => list(part))
          .flat() as number[];
        const dirs = list(own.dir).flatMap((part) => list(part)) as number[][];
        for (const [row, name] of groups.flat().entries()) {
          const v = uids[row]!;
          expect([names[v], ...dirs[row]!]).toEqual([name, ...dir.subarray(3 * v, 3 * v + 3)]);
          seen++;
        }
      }
      expect(seen).toBe(uid.length);

      // Object by object: by its manifest.
      const path = links.length === 0 && geometry !== "points";
      const manifests = level.object_manifests as unknown as (readonly [readonly number[], number])[][];
      const found = manifests.map((manifest) =>
        manifest.flatMap(([chunk, fragment]) => fragments.get(chunk.join("."))![fragment]!),
      );
      expect(found.map((own) => (path ? own : own.sort()))).toEqual(
        objects.map((own) => (path ? own : [...own].sort())),
      );
      expect(list(level.object_attributes!.score!.data)).toEqual(scores);
      expect(level.groups).toEqual([[1, 3], [], [0, 1, 2, 3]]);
      expect(list((level.group_attributes as { size: Plain }).size)).toEqual([2, 0, 4]);

      // Link by link, with the order of their ends.
      if (links.length > 0) {
        const intra = Object.entries(level.links!["0"]!).flatMap(([chunk, groups]) =>
          list(groups).flatMap((group) =>
            list(group).map((ends) => (ends as number[]).map((row) => rows.get(chunk)![row]!)),
          ),
        );
        const across = (list(level.cross_chunk_links?.["0"]) as unknown as (readonly [number[], number])[][]).map(
          (ends) => ends.map(([chunk, row]) => rows.get(chunk.join("."))![row]!),
        );
        expect([...intra, ...across].map(String).sort()).toEqual(links.map(String).sort());
        const values = batch.links!.columns.get("w")?.values as Float32Array | undefined;
        // The same ends may be joined twice.
        const weights = (ends: readonly string[]) =>
          links.flatMap((own, l) => (`${own}` === `${ends}` ? [values?.[l]] : [])) as Plain[];
        const stored = list(level.cross_chunk_link_attributes?.w?.["0"]);
        expect(stored).toHaveLength(values === undefined ? 0 : across.length);
        for (const [l, w] of stored.entries()) expect(weights(across[l]!)).toContain(w);
      }

      // And as a whole.
      const all = typed.all as { readonly [key: string]: Plain };
      const places = list(all.positions ?? all.vertices).map(nameOf);
      const joined = (key: string) =>
        list(all[key]).map((ends) => (ends as number[]).map((end) => places[end]!).join());
      if (geometry === "graph" || geometry === "skeletons")
        expect(joined("edges").sort()).toEqual(links.map(String).sort());
      if (geometry === "mesh") expect(joined("faces").sort()).toEqual(links.map(String).sort());
      if (geometry === "points") expect([...places].sort()).toEqual([...names].sort());
      if (geometry === "polylines" || geometry === "streamlines")
        expect(
          list(all.polylines).map((parts) => (parts as Plain[]).flatMap((part) => list(part).map(nameOf))),
        ).toEqual(objects);
    });
  },
);

const current = missingPeer("zarr-vectors-0.9");
describe.skipIf(current !== undefined)(
  `upgraded stores in zarr-vectors 0.9.2${current === undefined ? "" : ` (${current})`}`,
  () => {
    const golden = fixtures("zarr-vectors");
    const paths = readdirSync(golden)
      .filter((version) => version !== "corrupt")
      .flatMap((version) => readdirSync(join(golden, version)).map((name) => `${version}/${name}`))
      .filter((path) => existsSync(join(golden, path, "store.zarrvectors")));
    const said = new Map<string, Said>();
    const placeOf = (path: string): string => `upgraded-${path.replaceAll("/", "-")}.zarrvectors`;
    beforeAll(async () => {
      for (const path of paths) {
        const source = await openZarrVectors(fileStore(join(golden, path, "store.zarrvectors")));
        await convertVectors(source, files, Prefix.of(placeOf(path)));
      }
      const answers = ask(
        "zarr-vectors-0.9",
        paths.map((path) => join(folder, placeOf(path))),
      );
      for (const [i, answer] of answers.entries()) said.set(paths[i]!, answer);
    }, 600_000);

    it.each(paths)("%s has no error, and as many vertices on every level", async (path) => {
      const { dump, validate_level5 } = said.get(path)!;
      expect(validate_level5).toMatchObject({ ok: true, errors: [] });
      const source = await openZarrVectors(fileStore(join(golden, path, "store.zarrvectors")));
      for (const { level } of source.levels) {
        const tiles = await source.source(level);
        const { count } = await tiles.chunks();
        const counts = await tiles.counts(Array.from({ length: count }, (_, chunk) => chunk));
        const found = Object.values(dump.levels[level]!.chunks).flatMap(({ vertices_by_fragment }) =>
          list(vertices_by_fragment).map((fragment) => list(fragment).length),
        );
        const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, n) => total + n, 0);
        expect(sum(found)).toBe(sum(counts));
      }
    });
  },
);
