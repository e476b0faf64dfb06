/** TRX: by hand, every type, groups, stored and deflated entries, what lies about itself. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, paths, written } from "../../../test/interchange.js";
import type { DataType } from "../../bytes/dtype.js";
import { stringifyJson } from "../../bytes/json.js";
import type { NumericArray } from "../../codec/types.js";
import { diffDatasets } from "../../diff/datasets.js";
import { OctavoError } from "../../errors.js";
import type { Column } from "../../model/attributes.js";
import type { VectorDataset } from "../../model/vectors.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { zipStore } from "../../store/zip.js";
import { zipWriteStore } from "../../store/zip-write.js";
import { file } from "./trx.js";
import { trxFolder } from "./trx-folder.js";

const HEADER = {
  DIMENSIONS: [4, 5, 6],
  VOXEL_TO_RASMM: [
    [2, 0, 0, 1],
    [0, 2, 0, 2],
    [0, 0, 2, 3],
    [0, 0, 0, 1],
  ],
  NB_VERTICES: 3,
  NB_STREAMLINES: 2,
};
const basic = {
  "header.json": HEADER,
  "positions.3.float32": Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9.5),
  "offsets.uint32": Uint32Array.of(0, 2, 3),
};
type Entries = { readonly [name: string]: NumericArray | object };

/** Entries as they lie in a store. */
async function put(entries: Entries, store: Store, at = ""): Promise<void> {
  for (const [name, value] of Object.entries(entries)) {
    const bytes = ArrayBuffer.isView(value)
      ? new Uint8Array(value.buffer)
      : new TextEncoder().encode(stringifyJson(value as never));
    await store.set(Key.of(at + name), bytes);
  }
}

/** A zip file by hand. */
async function trx(entries: Entries, method: "store" | "deflate" = "store"): Promise<Uint8Array> {
  const store = memoryStore();
  const zip = await zipWriteStore(store, Key.of("a.trx"), { method });
  await put(entries, zip);
  await zip.close();
  return (await store.get(Key.of("a.trx")))!;
}

const open = async (entries: Entries, method?: "store" | "deflate") =>
  openBytes(file, "a.trx", await trx(entries, method));
const float = (size: 2 | 4 | 8): DataType => ({ kind: "float", size, endian: "little" });

describe("reading", () => {
  it.each([
    ["float16", Uint16Array.of(0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800, 0x48c0)],
    ["float32", basic["positions.3.float32"]],
    ["float64", Float64Array.from(basic["positions.3.float32"])],
  ])("%s, stored and deflated", async (type, positions) => {
    for (const method of ["store", "deflate"] as const)
      for (const offsets of [
        { "offsets.uint32": Uint32Array.of(0, 2, 3) },
        { "offsets.uint64": BigUint64Array.of(0n, 2n) },
      ]) {
        const dataset = await open({ "header.json": HEADER, [`positions.3.${type}`]: positions, ...offsets }, method);
        const batch = await dataset.select().read();
        expect([...batch.positions]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9.5]);
        expect(batch.positions).toBeInstanceOf(type === "float64" ? Float64Array : Float32Array);
        expect([...batch.parts]).toEqual([0, 2, 3]);
      }
  });

  it("values of every type, for vertices and streamlines", async () => {
    const dataset = await open({
      ...basic,
      "dpv/fa.float32": Float32Array.of(0.5, 1, 2),
      "dpv/rgb.3.uint8": Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9),
      "dps/id.uint64": BigUint64Array.of(2n ** 63n, 5n),
      "dps/ok.bit": Uint8Array.of(1, 0),
      "dps/half.float16": Uint16Array.of(0x3c00, 0x4000),
    });
    const { vertexColumns, objectColumns } = await dataset.select().read();
    expect([...vertexColumns.get("rgb")!.values]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect([...vertexColumns.get("fa")!.values]).toEqual([0.5, 1, 2]);
    expect([...objectColumns.get("id")!.values]).toEqual([2n ** 63n, 5n]);
    expect(objectColumns.get("ok")!.info.dtype).toEqual({ kind: "bool", size: 1 });
    expect(objectColumns.get("half")!.info.dtype).toEqual(float(2));
  });

  it("groups have their names, and what is known of them", async () => {
    const dataset = await open({
      ...basic,
      "groups/left.uint32": Uint32Array.of(1),
      "groups/both.uint32": Uint32Array.of(0, 1),
      "dpg/both/mean.float32": Float32Array.of(7),
      "dpg/none/mean.float32": Float32Array.of(7),
    });
    expect(await dataset.groups()).toEqual([
      { group: 0, size: 1 },
      { group: 1, size: 2 },
    ]);
    expect([...(await dataset.groupMembers(1))]).toEqual([0n, 1n]);
    const columns = await dataset.groupColumns();
    expect(columns.get("name")!.values).toEqual(["left", "both"]);
    expect([...(columns.get("mean")!.values as Float32Array)]).toEqual([Number.NaN, 7]);
    expect((await dataset.index()).notes).toEqual(["memory:/a.trx has dpg/none/mean.float32, and no such group"]);
  });

  it("nothing at all", async () => {
    const dataset = await open({ "header.json": { ...HEADER, NB_VERTICES: 0, NB_STREAMLINES: 0 } });
    expect((await dataset.index()).vertices.length).toBe(0);
  });
});

describe("damage", () => {
  it.each<[Entries, string]>([
    [{ "positions.3.float32": Float32Array.of(1) }, "which are no rows of 3"],
    [{ "positions.3.float32": Float32Array.of(1, 2, 3) }, "has 1 rows of 3, expected 3"],
    [{ "offsets.uint32": Uint32Array.of(0, 2, 4) }, "which is no place after the one before"],
    [{ "offsets.uint32": Uint32Array.of(0, 3, 2) }, "which is no place after the one before"],
    [{ "offsets.uint32": Uint32Array.of(1, 2, 3) }, "goes from 1 to 3"],
    [{ "offsets.uint32": Uint32Array.of(0) }, "has 1 rows, expected 3"],
    [{ "dpv/a.float32": Float32Array.of(1) }, "dpv/a.float32 has 1 rows of 1, expected 3"],
    [{ "dps/a.2.float32": Float32Array.of(1, 2) }, "dps/a.2.float32 has 1 rows of 2, expected 2"],
    [{ "dpv/a.0.float32": Float32Array.of() }, "which are no rows"],
    [{ "dpv/a.complex64": Float32Array.of() }, "with a type of numpy's"],
    [{ "groups/a.uint32": Uint32Array.of(2) }, "names streamline 2 of 2"],
    [{ "header.json": { ...HEADER, NB_VERTICES: -1 } }, "should have a count as NB_VERTICES"],
    [{ "header.json": { ...HEADER, NB_STREAMLINES: 2 ** 53 } }, "should have a count as NB_STREAMLINES"],
    [{ "header.json": [] }, "is no object"],
  ])("%o", async (wrong, message) => {
    const read = async () => (await open({ ...basic, ...wrong })).index();
    await expect(read()).rejects.toThrow(message);
  });

  it("no header, no positions, no offsets, no zip file", async () => {
    const { "header.json": header, "offsets.uint32": offsets, "positions.3.float32": positions } = basic;
    const read = async (entries: Entries) => (await open(entries)).index();
    await expect(read({ "offsets.uint32": offsets })).rejects.toThrow("has no header.json");
    await expect(read({ "header.json": header, "offsets.uint32": offsets })).rejects.toThrow("has no positions");
    await expect(read({ "header.json": header, "positions.3.float32": positions })).rejects.toThrow("has no offsets");
    await expect(openBytes(file, "a.trx", new Uint8Array(100))).rejects.toBeInstanceOf(OctavoError);
  });

  it("names that leave the file, and bombs", async () => {
    const bytes = await trx({ ...basic, "dpv/xx.float32": Float32Array.of(1, 2, 3) });
    const text = String.fromCharCode(...bytes).replaceAll("dpv/xx.float32", "../../x.uint32");
    const slip = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    await expect(openBytes(file, "a.trx", slip)).rejects.toThrow("could leave the root");
    const zeros = {
      ...basic,
      "header.json": { ...HEADER, NB_VERTICES: 2 ** 20 },
      "positions.3.float64": new Float64Array(3 << 20),
      "offsets.uint32": Uint32Array.of(0, 2, 2 ** 20),
    };
    const { "positions.3.float32": _, ...bomb } = zeros as Entries;
    const limits = { resultBytes: 1 << 20, chunkBytes: 1 << 20 };
    const path = await openBytes(file, "a.trx", await trx(bomb, "deflate"), { limits });
    await expect(path.select().read({ limits })).rejects.toThrow("streamline 1 has 25165776 bytes, at most 1048576");
    const many = {
      ...basic,
      "header.json": { ...HEADER, NB_STREAMLINES: 1 << 20 },
      "offsets.uint32": new Uint32Array((1 << 20) + 1),
    };
    const list = await openBytes(file, "a.trx", await trx(many, "deflate"), { limits });
    await expect(list.select().read({ limits })).rejects.toThrow("offsets.uint32 has 4194308 bytes to be read at once");
  });

  it("packed entries that are too large to be held, as they are asked for", async () => {
    const [vertices, paths] = [300_000, 3000];
    const entries = {
      "header.json": { ...HEADER, NB_VERTICES: vertices, NB_STREAMLINES: paths },
      "positions.3.float32": Float32Array.from({ length: 3 * vertices }, (_, i) => Math.fround(Math.sin(i / 99))),
      "offsets.uint32": Uint32Array.from({ length: paths + 1 }, (_, i) => 100 * i),
      "dpv/fa.float64": Float64Array.from({ length: vertices }, (_, i) => i % 1000),
      "dps/n.uint32": Uint32Array.from({ length: paths }, (_, i) => i),
      "groups/even.uint32": Uint32Array.from({ length: paths / 2 }, (_, i) => 2 * i),
    };
    const bytes = await trx(entries, "deflate");
    const held = await openBytes(file, "a.trx", bytes);
    const read = await openBytes(file, "a.trx", bytes, { maxMemory: 1 << 20 });
    expect((await diffDatasets(held, read)).differences).toEqual([]);
    const some = { object: [2999n, 5n, 1700n] };
    expect([...(await read.select(some).read()).positions]).toEqual([...(await held.select(some).read()).positions]);
    const wrong = bytes.slice();
    wrong[200_000]! ^= 16; // within the positions
    const damaged = await openBytes(file, "a.trx", wrong, { maxMemory: 1 << 20 });
    await expect(damaged.select().read()).rejects.toThrow(
      /positions\.3\.float32 (is damaged|should have the crc|should inflate)/,
    );
  });

  it("every shorter file is an error", async () => {
    const bytes = await trx(basic);
    for (let length = 0; length < bytes.length; length += 7)
      await expect(openBytes(file, "a.trx", bytes.slice(0, length))).rejects.toBeInstanceOf(OctavoError);
  });
});

describe("writing", () => {
  it("gives back everything", async () => {
    const entries = {
      "header.json": { ...HEADER, OTHER: { a: 1 } },
      "positions.3.float16": Uint16Array.of(0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800, 0x48c0),
      "offsets.uint32": Uint32Array.of(0, 2, 3),
      "dpv/rgb.3.uint8": Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9),
      "dps/id.uint64": BigUint64Array.of(2n ** 63n, 5n),
      "dps/ok.bit": Uint8Array.of(1, 0),
      "groups/both.uint32": Uint32Array.of(0, 1),
      "groups/left.uint32": Uint32Array.of(1),
      "dpg/left/mean.2.float32": Float32Array.of(7, 8),
    };
    const dataset = await open(entries);
    const { bytes, report } = await written(file, await dataOf(dataset));
    expect(report).toEqual({ vertices: 3, objects: 2, losses: [] });
    const again = await openBytes(file, "a.trx", bytes);
    expect((await again.headers()).get("trx")).toEqual((await dataset.headers()).get("trx"));
    const [one, other] = [await dataset.select().read(), await again.select().read()];
    expect(other).toEqual(one);
    expect(await again.groupColumns()).toEqual(await dataset.groupColumns());
    expect(await again.groupMembers(0)).toEqual(await dataset.groupMembers(0));
    const store = memoryStore();
    await store.set(Key.of("a"), bytes);
    const names: string[] = [];
    for await (const { key } of (await zipStore(store, Key.of("a"))).list(Prefix.root)) names.push(key);
    expect(names.sort()).toEqual(Object.keys(entries).sort());
  });

  it("what it cannot hold is told, and names that are none are others", async () => {
    const text: Column = { info: { name: "t", dtype: { kind: "string" }, channels: 1 }, values: ["x"] };
    const dotted: Column = { info: { name: "a.b", dtype: float(4), channels: 1 }, values: Float32Array.of(1) };
    const data = paths([[1, 2, 3]], { vertex: [text], object: [dotted], wide: true, groups: [BigInt64Array.of(0n)] });
    const { bytes, report } = await written(file, data);
    expect(report.losses).toEqual([
      "the attribute t, which is no number",
      "the name a.b, which cannot be that of an entry: it is a_b",
      "the image that it is about, which nothing names: voxels of 1 mm are taken",
    ]);
    const dataset = await openBytes(file, "a.trx", bytes);
    const { positions, objectColumns } = await dataset.select().read();
    expect(positions).toBeInstanceOf(Float64Array);
    expect([...objectColumns.keys()]).toEqual(["a_b"]);
    expect((await dataset.groupColumns()).get("name")!.values).toEqual(["group_0"]);
  });

  it("what is written is read", async () => {
    const coordinate = fc.double({ noDefaultInfinity: true });
    const part = fc.array(fc.tuple(coordinate, coordinate, coordinate), { maxLength: 5 }).map((rows) => rows.flat());
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const count = parts.flat().length / 3;
        const values = Float64Array.from({ length: 2 * count }, (_, i) => i / 3);
        const vertex: Column = { info: { name: "v", dtype: float(8), channels: 2 }, values };
        const { bytes } = await written(file, paths(parts, { vertex: [vertex], wide: true }));
        const index = await (await openBytes(file, "a.trx", bytes)).index();
        expect(index.objects!.ids.length).toBe(parts.length);
        if (parts.length === 0) return;
        const piece = await index.load(0, {});
        expect([...piece.positions]).toEqual(parts.flat());
        expect(piece.vertexColumns.get("v")!.values).toEqual(values);
        expect([...piece.parts].slice(1).map((end, i) => end - piece.parts[i]!)).toEqual(
          parts.map((own) => own.length / 3),
        );
      }),
      { numRuns: 50 },
    );
  });
});

it("a folder is read as the zip file is", async () => {
  const entries = {
    ...basic,
    "dpv/fa.float32": Float32Array.of(0.25, 0.5, 0.75),
    "dps/w.2.uint8": Uint8Array.of(1, 2, 3, 4),
    "groups/left.uint32": Uint32Array.of(1),
  };
  const store = memoryStore();
  await put(entries, store, "tracts/");
  const at = Prefix.of("tracts");
  expect(await trxFolder.detect(store, at)).toMatchObject({ summary: "TRX, unpacked" });
  expect(await trxFolder.detect(store, Prefix.root)).toBeUndefined();
  const dataset = (await trxFolder.open(store, at)) as VectorDataset;
  expect((await diffDatasets(await open(entries), dataset)).differences).toEqual([]);
  expect(await dataset.headers()).toEqual(await (await open(entries)).headers());
  const findings = [];
  for await (const found of trxFolder.validate(store, at)) findings.push(found);
  expect(findings).toEqual([]);
  await store.delete(Key.of("tracts/offsets.uint32"));
  await expect(((await trxFolder.open(store, at)) as VectorDataset).select().read()).rejects.toThrow("has no offsets");
});
