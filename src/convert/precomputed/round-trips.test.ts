/** Geometry of every kind to precomputed and back. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { at, axes, published, stored, told } from "../../../test/precomputed-published.js";
import { KINDS, scene } from "../../../test/zarr-vectors-scenes.js";
import type { NumericArray } from "../../codec/types.js";
import { diffDatasets } from "../../diff/datasets.js";
import { ANNOTATION_TYPES } from "../../format/precomputed/annotation/info.js";
import { createAnnotations, openAnnotations, precomputed } from "../../format/precomputed/index.js";
import { openZarrVectors } from "../../format/zarr-vectors/index.js";
import type { Batch, VectorDataset } from "../../model/vectors.js";
import { memoryStore } from "../../store/memory.js";
import { convertVectors } from "../vectors.js";
import { convertToPrecomputed } from "./index.js";

describe("round trips", () => {
  const lined = KINDS.filter((kind) => kind !== "points" && kind !== "mesh" && kind !== "lines");
  it.each(lined)("%s are the same as skeletons, and back as Zarr Vectors", async (geometry) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.boolean(), fc.constantFrom(undefined, 2048), async (seed, sharded, maxMemory) => {
        const source = await (await stored(geometry, scene(geometry, seed))).commit();
        const { dataset, report } = await published(source, { sharded, maxMemory });
        const wanted = await told(source);
        expect(await told(dataset)).toEqual(wanted);
        expect(report.losses.map((loss) => loss.replace(/^.*: /, ""))).toEqual(
          geometry === "graph" ? ["the attribute w of links"] : [],
        );
        expect(report).toMatchObject({ objects: 6 });
        const back = memoryStore();
        await convertVectors(dataset, back, at);
        expect(await told(await openZarrVectors(back, at))).toEqual(wanted);
      }),
      { numRuns: 3 },
    );
  });

  it.each(["lines", "polylines", "streamlines"] as const)("%s are the same as annotations", async (geometry) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.boolean(), async (seed, sharded) => {
        const source = await (await stored(geometry, scene(geometry, seed))).commit();
        const { dataset, report } = await published(source, { sharded, kind: "annotations" });
        const leave = ["uid", "dir", "name"];
        expect(await told(dataset, leave)).toEqual(await told(source, leave));
        expect(report.losses).toEqual([
          expect.stringContaining("the vertex attribute dir"),
          expect.stringContaining("the vertex attribute uid"),
        ]);
      }),
      { numRuns: 3 },
    );
  });

  it("points are the same as annotations, and know the objects that they belong to", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.boolean(), async (seed, sharded) => {
        const source = await (await stored("points", scene("points", seed))).commit();
        const { dataset, store } = await published(source, { sharded });
        const [before, after] = [await source.select().read(), await dataset.select().read()];
        const rows = ({ positions, vertexColumns }: Batch): string[] =>
          Array.from(
            { length: positions.length / 3 },
            (_, v) => `${positions.subarray(3 * v, 3 * v + 3)} ${vertexColumns.get("uid")!.values[v]}`,
          ).sort();
        expect(rows(after)).toEqual(rows(before));
        const collection = await openAnnotations(store);
        for (const [row, id] of before.ids.entries()) {
          const own = (await collection.related("object", BigInt.asUintN(64, id)))!;
          const parts = [...before.objects].flatMap((object, p) => (object === row ? [p] : []));
          const size = parts.reduce((sum, p) => sum + before.parts[p + 1]! - before.parts[p]!, 0);
          expect(own.ids.length).toBe(size);
          const [score] = own.properties.get("score")!;
          expect(score).toBe(before.objectColumns.get("score")!.values[row]);
        }
      }),
      { numRuns: 3 },
    );
  });
});

describe("annotations of every type", () => {
  it.each(ANNOTATION_TYPES)("%s: to Zarr Vectors and back", async (type) => {
    const per = type === "point" ? 1 : type === "polyline" ? 3 : 2;
    const ids = BigUint64Array.of(3n, 2n ** 62n, 8n);
    const store = memoryStore();
    const writer = await createAnnotations(store, at, {
      type,
      dimensions: ["x", "y", "z"].map((name) => ({ name, scale: 4e-9, unit: "m" })),
      properties: [
        { id: "score", type: "int16" },
        { id: "tint", type: "rgb" },
      ],
    });
    const points = Float32Array.from({ length: 9 * per }, (_, i) => 1 + ((7 * i) % 25));
    const offsets = Uint32Array.of(0, per, 2 * per, 3 * per);
    const properties = new Map<string, NumericArray>([
      ["score", Int16Array.of(-5, 6, 7)],
      ["tint", Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 255)],
    ]);
    await writer.add({ ids, points, offsets, properties });
    await writer.commit();
    const between = memoryStore();
    await convertVectors((await precomputed.open(store, at)) as VectorDataset, between, at);
    const { store: after, report } = await published(await openZarrVectors(between, at));
    const collection = await openAnnotations(after);
    expect([collection.info.type, report.losses]).toEqual([type, []]);
    expect(collection.info.dimensions).toEqual((await openAnnotations(store)).info.dimensions);
    for (const [i, id] of ids.entries()) {
      const one = (await collection.get(id))!;
      expect([...one.points]).toEqual([...points.subarray(3 * per * i, 3 * per * (i + 1))]);
      expect([...one.properties.get("score")!]).toEqual([properties.get("score")![i]]);
      expect(one.properties.get("tint")).toEqual(properties.get("tint")!.slice(3 * i, 3 * i + 3));
    }
  });
});

describe("meshes", () => {
  it.each([true, false])("keep their faces and the properties of their objects, sharded %s", async (sharded) => {
    const batch = scene("mesh", 7);
    const source = await (await stored("mesh", batch)).commit();
    const { dataset, report } = await published(source, { sharded });
    const corners = ({ positions, links }: Batch): string[] => {
      const at = (v: number): string => Array.from(positions.subarray(3 * v, 3 * v + 3), (n) => n.toFixed(1)).join();
      const faces = Array.from({ length: links!.ends.length / 3 }, (_, f) =>
        [0, 1, 2].map((k) => at(links!.ends[3 * f + k]!)).sort(),
      );
      return faces.map((face) => face.join(" ")).sort();
    };
    for (const id of await source.objectIds()) {
      const [before, after] = [
        await source.select({ object: [id] }).read(),
        await dataset.select({ object: [id] }).read(),
      ];
      expect(corners(after).length).toBeGreaterThanOrEqual(new Set(corners(before)).size);
      expect(after.objectColumns.get("score")?.values).toEqual(before.objectColumns.get("score")!.values);
    }
    expect(report.losses.map((loss) => loss.replace(/^.*?: /, "")).slice(0, 3)).toEqual(
      [
        "the attribute w of links",
        "the vertex attribute dir: meshes have none",
        "the vertex attribute uid: meshes have none",
      ].map((text) => expect.stringContaining(text)),
    );
  });

  it("are rounded, cut and left out, all of which is told; strict refuses", async () => {
    const batch = scene("mesh", 7);
    const source = await (await stored("mesh", batch)).commit();
    const { dataset, report } = await published(source);
    const [, by] = /rounded to 16 bits of the size of a cell by at most (\S+);/.exec(report.losses.join())!;
    const same = { ignore: ["attributes", "levels"], places: 1 } as const;
    expect((await diffDatasets(source, dataset, same)).equal).toBe(false);
    expect(Number(by)).toBeGreaterThan(0);
    const wide = Float32Array.from({ length: 12 }, (_, i) => i ** 2 / 7);
    const faces = { width: 3, ends: Uint32Array.of(0, 1, 2), columns: new Map() };
    const one = { positions: wide, ids: BigInt64Array.of(1n), objects: Int32Array.of(0), parts: Uint32Array.of(0, 4) };
    const loose = await (await stored("mesh", { ...one, links: faces })).commit();
    expect((await published(loose)).report.losses.join()).toContain("1 vertices that no face has");
    await expect(convertToPrecomputed(loose, memoryStore(), at, { strict: true })).rejects.toThrow("16 bits");
  });

  it("of the older form are the same", async () => {
    const source = await (await stored("mesh", scene("mesh", 7))).commit();
    const { dataset, report } = await published(source, { kind: "legacy-meshes" });
    expect((await diffDatasets(source, dataset, { ignore: ["attributes", "levels"] })).differences).toEqual([]);
    expect(report.losses.join()).not.toContain("rounded");
    const micro = axes.map((axis) => ({ ...axis, unit: "um" }));
    const far = await (await stored("mesh", scene("mesh", 7), { axes: micro })).commit();
    expect((await published(far, { kind: "legacy-meshes" })).report.losses.join()).toMatch(
      /float32 nanometres by at most/,
    );
    await expect(published(source, { kind: "legacy-meshes", sharded: true })).rejects.toThrow("cannot be in shards");
  });
});
