/** What of geometry is in precomputed: objects, space, attributes, and the place that it goes to. */
import { describe, expect, it } from "vitest";
import { at, axes, published, stored } from "../../../test/precomputed-published.js";
import { columnsOf, info, scene } from "../../../test/zarr-vectors-scenes.js";
import { diffDatasets } from "../../diff/datasets.js";
import { Conflict, Unsupported } from "../../errors.js";
import { openAnnotations, openSegmentProperties, openSkeletons } from "../../format/precomputed/index.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { zipStore } from "../../store/zip.js";
import { zipWriteStore } from "../../store/zip-write.js";
import { failNth, faultyStore } from "../../testing/observe.js";
import { convertToPrecomputed } from "./index.js";
import type { PublishOptions } from "./publication.js";

describe("what the objects are", () => {
  it("attributes and groups are segment properties, which the info names", async () => {
    const u8 = { kind: "uint", size: 8, endian: "little" } as const;
    const f8 = { kind: "float", size: 8, endian: "little" } as const;
    const f2 = { kind: "float", size: 2, endian: "little" } as const; // as bits
    const batch = scene("skeletons", 5);
    const objectColumns = new Map([
      ...batch.objectColumns!,
      ...columnsOf(
        [info("big", u8), BigUint64Array.of(1n, 2n, 2n ** 60n + 1n, 4n, 5n, 6n)],
        [info("small", u8), BigUint64Array.of(1n, 2n, 3n, 4n, 5n, 6n)],
        [info("odd", f8), Float64Array.of(1, 2, Number.NaN, 4, 5, 6)],
        [info("half", f2), Uint16Array.of(0x3c00, 0x3800, 0x7e00, 0xc000, 0x3c00, 0x3c00)],
        [info("pair", f8, 2), Float64Array.from({ length: 12 }, (_, i) => i)],
      ),
    ]);
    const writer = await stored("skeletons", { ...batch, objectColumns });
    writer.groups([[0, 5], [1]], columnsOf([info("name", { kind: "string" }), ["left side", "#x"]]));
    const { store, dataset, report } = await published(await writer.commit());
    const { info: document } = await openSkeletons(store);
    expect(document.segmentProperties).toBe("segment_properties");
    const { ids, properties } = await openSegmentProperties(store, Prefix.of("segment_properties"));
    expect([...ids]).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    const of = Object.fromEntries(properties.map((own) => [own.id, own]));
    expect(of.name).toMatchObject({ type: "label" });
    expect(of.score).toMatchObject({ type: "number", dataType: "float32" });
    expect(of.big).toMatchObject({ type: "string", values: ["1", "2", `${2n ** 60n + 1n}`, "4", "5", "6"] });
    expect(of.small).toMatchObject({ type: "number", dataType: "uint32" });
    expect(of.odd).toMatchObject({ type: "string", values: ["1", "2", "", "4", "5", "6"] });
    expect(of.half).toMatchObject({ type: "string", values: ["1", "0.5", "", "-2", "1", "1"] });
    expect(of.pair_ch1!.values).toEqual(Float32Array.of(1, 3, 5, 7, 9, 11));
    expect(of.tags).toMatchObject({ tags: ["left_side", "x"], values: [[0], [1], [], [], [], [0]] });
    expect(report.losses.join("\n")).toMatch(
      /big of objects are numbers[\s\S]*odd of objects are numbers[\s\S]*2 numbers of pair/,
    );
    expect(report.notes!.join()).toMatch(/nothing of the object 0/);
    expect(await dataset.select({ where: "object.small = 3" }).count({ exact: true })).toMatchObject({ objects: 1 });
  });

  it("ids dense begin with 1", async () => {
    const source = await (await stored("skeletons", scene("skeletons", 3))).commit();
    const { dataset, report } = await published(source, { ids: "dense" });
    expect([...(await dataset.objectIds())]).toEqual([1n, 2n, 3n, 4n, 5n, 6n]);
    expect(report.losses.join()).toContain("which are 1 to 6 now: 0 is 1");
    expect(report.notes!.join()).not.toContain("object 0");
  });

  it("ids have 64 bits", async () => {
    const ids = BigInt64Array.of(-1n, 2n ** 62n, 5n, 7n, 8n, 9n);
    const source = await (await stored("skeletons", { ...scene("skeletons", 3), ids })).commit();
    const { dataset, report } = await published(source, { sharded: true });
    expect([...(await dataset.objectIds())].sort()).toEqual([...BigUint64Array.from(ids)].sort());
    expect(report.losses.join()).toContain("the sign of 1 ids");
  });

  it("texts of few words are labels of a property", async () => {
    const source = await (await stored("lines", scene("lines", 3))).commit();
    const { store } = await published(source);
    const { info: document } = await openAnnotations(store);
    const name = document.properties.find(({ id }) => id === "name")!;
    expect(name).toMatchObject({
      type: "uint8",
      enum: { values: [0, 1, 2], labels: ["n", "n\u00e9", "n\u00e9\u00e9"] },
    });
  });
});

describe("space", () => {
  it("units become a transform to nanometres; positions stay what they are", async () => {
    const micro = [...axes].reverse().map((axis) => ({ ...axis, unit: "um" }));
    const source = await (await stored("skeletons", scene("skeletons", 1), { axes: micro })).commit();
    const { store, report } = await published(source);
    const { info: document } = await openSkeletons(store);
    expect(document.transform!.rows).toEqual([0, 0, 1000, 0, 0, 1000, 0, 0, 1000, 0, 0, 0]);
    expect(report.notes!.join()).not.toContain("taken for");
    const { store: other } = await published(source, { resolution: [40, 4, 4] });
    expect((await openSkeletons(other)).info.transform!.rows).toEqual([0, 0, 4, 0, 0, 4, 0, 0, 40, 0, 0, 0]);
  });

  it("a radius is in nanometres, whatever it was in", async () => {
    const batch = scene("skeletons", 1);
    const count = batch.positions.length / 3;
    const values = Float64Array.from({ length: count }, (_, v) => (v + 1) / 10);
    const radiusOf = async (unit: string | undefined, of: string | undefined, options: PublishOptions = {}) => {
      const own = { ...info("radius", { kind: "float", size: 8, endian: "little" }), unit };
      const vertexColumns = columnsOf([own, values], [{ ...own, name: "reach" }, values]);
      const source = await (
        await stored("skeletons", { ...batch, vertexColumns }, { axes: axes.map((axis) => ({ ...axis, unit: of })) })
      ).commit();
      const { dataset, report } = await published(source, options);
      const { vertexColumns: read } = await dataset.select().read();
      const radius = read.get("radius")!;
      expect(radius.info.unit).toBe("nanometer");
      return { source, dataset, report, radius: Array.from(radius.values as Float32Array).sort((a, b) => a - b) };
    };
    const nm = Array.from(values, (_, v) => 100 * (v + 1));
    for (const of of ["um", "nanometer", "mm"]) {
      const { source, dataset, report, radius } = await radiusOf("micrometer", of);
      expect(radius).toEqual(nm);
      expect(report.losses).toEqual([expect.stringContaining("the unit micrometer of reach")]);
      const reach = await diffDatasets(source, dataset, { ignore: ["levels"] });
      expect(new Set(reach.differences.map(({ message }) => message.split(" ")[0]))).toEqual(new Set(["reach"]));
      expect(reach.notes.join()).toContain("radius is float64 in micrometer in the first, float32 in nanometer");
      expect(reach.notes.join()).not.toContain("rounding");
    }
    expect((await radiusOf(undefined, "um")).radius).toEqual(nm);
    expect((await radiusOf(undefined, undefined, { resolution: [1000, 1000, 1000] })).radius).toEqual(nm);
    const uneven = await radiusOf(undefined, undefined, { resolution: [4, 4, 40] });
    expect(uneven.radius).toEqual(Array.from(values, Math.fround));
    expect(uneven.report.notes!.join()).toContain("the radius has no unit, and is kept as it is");
    const single = await radiusOf("um", "um");
    expect(single.report.losses.join()).not.toContain("rounded");
  });

  it("units of other measures are told, and refused where nothing may be lost", async () => {
    const f4 = { kind: "float", size: 4, endian: "little" } as const;
    const timed = (name: string) => ({ ...info(name, f4), unit: "ms" });
    const lossesOf = async (geometry: "skeletons" | "points" | "lines") => {
      const batch = scene(geometry, 1);
      const vertices = batch.positions.length / 3;
      const source = await (
        await stored(geometry, {
          ...batch,
          vertexColumns: columnsOf([timed("delay"), new Float32Array(vertices)]),
          objectColumns: columnsOf([timed("onset"), new Float32Array(batch.ids?.length ?? 0)]),
        })
      ).commit();
      const { report } = await published(source);
      await expect(convertToPrecomputed(source, memoryStore(), at, { strict: true })).rejects.toThrow("nothing may be");
      return report.losses.filter((loss) => loss.includes("the unit")).map((loss) => loss.replace(/^.*?: /, ""));
    };
    const told = (name: string): string => `the unit ms of ${name}, of which only the numbers are kept`;
    expect(await lossesOf("skeletons")).toEqual([told("delay"), told("onset")]);
    expect(await lossesOf("points")).toEqual([told("delay"), told("onset")]);
    expect(await lossesOf("lines")).toEqual([told("onset")]); // those of vertices are lost themselves
  });

  it("two axes, without units", async () => {
    const flat = scene("graph", 1, 6, 2);
    const source = await (await stored("graph", flat, { axes: undefined, dims: 2 })).commit();
    const { dataset, report } = await published(source);
    expect(report.notes!.join()).toContain("x has no unit, y has no unit: taken for nanometres");
    const { positions } = await dataset.select().read();
    const before = await source.select().read();
    expect(positions.length / 3).toBe(before.positions.length / 2);
    expect([...positions].filter((_, i) => i % 3 === 2).every((z) => z === 0)).toBe(true);
  });

  it("annotations have dimensions of their own", async () => {
    const named = [
      ...axes.slice(0, 2).map((axis) => ({ ...axis, unit: "4 nm" })),
      { name: "t", type: "time", unit: "ms" },
    ];
    const { store } = await published(await (await stored("points", scene("points", 1), { axes: named })).commit());
    expect((await openAnnotations(store)).info.dimensions).toEqual([
      { name: "x", scale: 4e-9, unit: "m" },
      { name: "y", scale: 4e-9, unit: "m" },
      { name: "t", scale: 1e-3, unit: "s" },
    ]);
    await expect(
      convertToPrecomputed(
        await (await stored("graph", scene("graph", 1), { axes: named })).commit(),
        memoryStore(),
        at,
      ),
    ).rejects.toThrow(Unsupported);
  });

  it("ellipsoids have the numbers of their radii, also from float16", async () => {
    const radii = info("radii", { kind: "float", size: 2, endian: "little" }, 3);
    const batch = {
      positions: Float32Array.of(1, 2, 3),
      parts: Uint32Array.of(0, 1),
      objects: Int32Array.of(0),
      ids: BigInt64Array.of(7n),
      objectColumns: columnsOf([radii, Uint16Array.of(0x3c00, 0x3800, 0x4000)]),
    };
    const userMetadata = { annotation_type: "ellipsoid" };
    const { store } = await published(await (await stored("points", batch, { userMetadata, objects: true })).commit());
    expect([...(await (await openAnnotations(store)).get(7n))!.points]).toEqual([1, 2, 3, 1, 0.5, 2]);
  });

  it("float64 is rounded, and said so", async () => {
    const batch = scene("streamlines", 1);
    const positions = Float64Array.from(batch.positions, (value) => value + 1e-9);
    const source = await (await stored("streamlines", { ...batch, positions })).commit();
    expect((await published(source)).report.losses.join()).toMatch(
      /coordinates, rounded to float32 by at most 1\.0e-9/,
    );
  });
});

describe("attributes", () => {
  it("are float32, unless they are to keep their types", async () => {
    const source = await (await stored("skeletons", scene("skeletons", 1))).commit();
    const { dataset, report } = await published(source);
    expect((await dataset.schema()).vertex.map(({ dtype }) => dtype.kind)).toEqual(["float", "float"]);
    expect(report.notes!.join()).toContain("uid of vertices is float32 now");
    const store = memoryStore();
    await convertToPrecomputed(source, store, at, { keepTypes: true });
    const { info: document } = await openSkeletons(store);
    expect(document.attributes[1]).toMatchObject({ id: "uid", type: "int16" });
    expect(document.undrawn).toHaveLength(1);
  });

  it("have names that a shader can have, and at most four numbers", async () => {
    const batch = scene("skeletons", 1);
    const vertices = batch.positions.length / 3;
    const f4 = { kind: "float", size: 4, endian: "little" } as const;
    const vertexColumns = columnsOf(
      [info("a b", f4), new Float32Array(vertices)],
      [info("five", f4, 5), new Float32Array(5 * vertices)],
      [info("text", { kind: "string" }), Array.from({ length: vertices }, () => "x")],
    );
    const source = await (await stored("skeletons", { ...batch, vertexColumns })).commit();
    const { store, report } = await published(source);
    expect((await openSkeletons(store)).info.attributes.map(({ id }) => id)).toEqual([
      "a_b",
      ...[0, 1, 2, 3, 4].map((channel) => `five_ch${channel}`),
      "text",
    ]);
    expect(report.losses.join("\n")).toMatch(
      /the name a b: it is a_b now\n.*5 numbers of five.*\n.*text are names: 0 is x/,
    );
  });
});

describe("the place", () => {
  const source = async () => (await stored("skeletons", scene("skeletons", 1))).commit();

  it("what is there stays, unless it is of the same kind and may go", async () => {
    const store = memoryStore();
    await published(await source(), {}, store);
    await expect(convertToPrecomputed(await source(), store, at)).rejects.toThrow(Conflict);
    await published(await source(), { overwrite: true, sharded: true }, store);
    expect(await store.get(Key.of("1"))).toBeUndefined();
    const points = await (await stored("points", scene("points", 1))).commit();
    await expect(convertToPrecomputed(points, store, at, { overwrite: true })).rejects.toThrow(Conflict);
    await store.set(Key.of("notes.txt"), new Uint8Array(1));
    const other = memoryStore();
    await other.set(Key.of("notes.txt"), new Uint8Array(1));
    await expect(convertToPrecomputed(points, other, at, { overwrite: true })).rejects.toThrow(/not empty/);
  });

  it.each(["skeletons", "points"] as const)("a conversion of %s that fails leaves nothing behind", async (geometry) => {
    const dataset = await (await stored(geometry, scene(geometry, 1))).commit();
    for (const sharded of [true, false])
      for (let nth = 1; nth < 200; nth += nth < 12 ? 1 : 5) {
        const inner = memoryStore();
        try {
          await convertToPrecomputed(dataset, faultyStore(inner, failNth(nth)), at, { sharded });
          break;
        } catch {
          expect(await inner.get(Key.of("info"))).toBeUndefined();
          const left = [];
          for await (const { key } of inner.list(at)) left.push(key);
          expect(left).toEqual([]);
        }
      }
  });

  it("a zip file, with little memory", async () => {
    const inner = memoryStore();
    const zip = await zipWriteStore(inner, Key.of("a.zip"), {});
    const points = await (await stored("points", scene("points", 1))).commit();
    await convertToPrecomputed(points, zip, at, { maxMemory: 1, sharded: true });
    await zip.close!();
    expect((await openAnnotations(await zipStore(inner, Key.of("a.zip")))).info.type).toBe("point");
  });

  it("what cannot be is refused", async () => {
    await expect(convertToPrecomputed(await source(), memoryStore(), at, { kind: "annotations" })).rejects.toThrow(
      /skeletons, which cannot become annotations, only skeletons/,
    );
  });
});
