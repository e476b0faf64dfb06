import { describe, expect, it } from "vitest";
import { dataOf, paths, written } from "../../../test/interchange.js";
import { asBytes, dataWith, opened, plain, readFrom } from "../../../test/surfaces.js";
import { concat } from "../../bytes/concat.js";
import { loadDracoEncoder } from "../../codec/draco-encode.js";
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../../errors.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { openFile } from "./file.js";
import { glb as binary, file } from "./gltf.js";
import { column, columns } from "./surface.js";

const points = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
const normals = Float32Array.of(0, 0, 1, 0, 0, 1, 0, 0, 1);
const colors = Uint8Array.of(255, 0, 0, 0, 0, 255, 0, 0, 0, 0, 255, 0);
const faces = Uint16Array.of(0, 1, 2, 0);
const BIN = concat([points, normals, colors, faces].map((list) => new Uint8Array(list.buffer)));

const DOCUMENT = {
  asset: { version: "2.0" },
  scene: 0,
  scenes: [{ nodes: [0] }],
  nodes: [
    { name: "top", translation: [10, 0, 0], children: [1, 2] },
    { name: "left", mesh: 0 },
    { mesh: 0, rotation: [0, 0, Math.SQRT1_2, Math.SQRT1_2], scale: [1, 2, 1] },
  ],
  meshes: [{ name: "tri", primitives: [{ attributes: { POSITION: 0, NORMAL: 1, COLOR_0: 2 }, indices: 3 }] }],
  accessors: [
    { bufferView: 0, componentType: 5126, count: 3, type: "VEC3" },
    { bufferView: 0, byteOffset: 36, componentType: 5126, count: 3, type: "VEC3" },
    { bufferView: 1, componentType: 5121, normalized: true, count: 3, type: "VEC3" },
    { bufferView: 2, componentType: 5123, count: 3, type: "SCALAR" },
  ],
  bufferViews: [
    { buffer: 0, byteLength: 72 },
    { buffer: 0, byteOffset: 72, byteLength: 12, byteStride: 4 },
    { buffer: 0, byteOffset: 84, byteLength: 8 },
  ],
  buffers: [{ byteLength: 92 }],
};

function glb(document: unknown, bin: Uint8Array = BIN): Uint8Array {
  const text = asBytes(JSON.stringify(document));
  const json = new Uint8Array(Math.ceil(text.length / 4) * 4).fill(32);
  json.set(text);
  const words = (...list: number[]) => new Uint8Array(Uint32Array.from(list).buffer);
  const total = 28 + json.length + bin.length;
  return concat([words(0x46546c67, 2, total, json.length, 0x4e4f534a), json, words(bin.length, 0x004e4942), bin]);
}

/** The document with something else in it. */
const changed = (change: (document: typeof DOCUMENT) => unknown): Uint8Array => {
  const own = structuredClone(DOCUMENT);
  return glb(change(own) ?? own);
};

describe("glTF", () => {
  it("puts nodes where their transforms say, each an object", async () => {
    const found = plain(await readFrom(file, glb(DOCUMENT)));
    expect(found).toMatchObject({
      geometry: "mesh",
      parts: [0, 3, 6],
      links: [0, 1, 2, 3, 4, 5],
      objectColumns: { name: { values: ["left", "tri"] } },
      vertexColumns: {
        color: { type: "uint1×3", values: [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255] },
      },
    });
    const place = [10, 0, 0, 11, 0, 0, 10, 1, 0, 10, 0, 0, 10, 1, 0, 8, 0, 0];
    for (const [i, value] of place.entries()) expect(found.positions[i]).toBeCloseTo(value, 6);
    expect(found.vertexColumns.normal?.values.filter((_: number, i: number) => i % 3 === 2)).toEqual([
      1, 1, 1, 1, 1, 1,
    ]);
  });

  it("reads buffers in the document, strips, fans, lines and points", async () => {
    const uri = `data:application/octet-stream;base64,${Buffer.from(BIN).toString("base64")}`;
    const text = JSON.stringify({ ...DOCUMENT, buffers: [{ byteLength: 92, uri }] });
    expect(plain(await readFrom(file, text)).links).toEqual([0, 1, 2, 3, 4, 5]);
    const mode = (mode: number, indices = true) =>
      changed((own) => {
        const [primitive] = own.meshes[0]!.primitives as { mode?: number; indices?: number }[];
        primitive!.mode = mode;
        if (!indices) delete primitive!.indices;
      });
    for (const [number, geometry, links] of [
      [5, "mesh", [0, 1, 2, 3, 4, 5]],
      [6, "mesh", [0, 1, 2, 3, 4, 5]],
      [1, "graph", [0, 1, 3, 4]],
      [2, "graph", [0, 1, 1, 2, 2, 0, 3, 4, 4, 5, 5, 3]],
      [0, "points", []],
    ] as const)
      expect(plain(await readFrom(file, mode(number))), `${number}`).toMatchObject({ geometry, links });
    expect(plain(await readFrom(file, mode(3, false)))).toMatchObject({ geometry: "polylines", parts: [0, 3, 6] });
  });

  it("puts the values of sparse accessors over the others", async () => {
    const sparse = {
      count: 1,
      indices: { bufferView: 2, byteOffset: 2, componentType: 5123 },
      values: { bufferView: 0, byteOffset: 36 },
    };
    const read = async (own: object) =>
      plain(
        await readFrom(
          file,
          changed((document) => Object.assign(document.accessors[0]!, { sparse: { ...sparse, ...own } }) && undefined),
        ),
      ).positions.slice(0, 9);
    expect(await read({})).toEqual([10, 0, 0, 10, 0, 1, 10, 1, 0]);
    await expect(read({ count: 3 })).rejects.toThrow("has the place 0 after 2, of 3 rows");
    await expect(read({ count: 9 })).rejects.toThrow("the places of accessor 0 ends at byte 20 of a view of 8");
    await expect(read({ values: null })).rejects.toThrow("is sparse, and does not say where");
  });

  it("reads whole numbers as places, normalized or as they are", async () => {
    const small = (own: object) =>
      changed((document) => {
        Object.assign(document.accessors[0]!, { componentType: 5122, bufferView: 3 }, own);
        document.bufferViews.push({ buffer: 0, byteOffset: 92, byteLength: 18 });
        document.buffers[0]!.byteLength = 112;
        document.nodes = [{ name: "only", mesh: 0 }];
        document.scenes[0]!.nodes = [0];
      });
    const words = Int16Array.of(-300, 0, 32767, 1, -32768, 2, 3, 4, 5, 0);
    const bin = concat([BIN, new Uint8Array(words.buffer)]);
    const read = async (own: object) => {
      const bytes = small(own);
      const start = bytes.length - BIN.length;
      const all = concat([bytes.subarray(0, start), bin]);
      const view = new DataView(all.buffer);
      view.setUint32(8, all.length, true);
      view.setUint32(start - 8, bin.length, true);
      return plain(await readFrom(file, all)).positions;
    };
    expect(await read({})).toEqual([...words.subarray(0, 9)]);
    expect(await read({ normalized: true })).toEqual(
      [...words.subarray(0, 9)].map((value) => Math.fround(Math.max(-1, value / 32767))),
    );
  });

  it("reads normalized attributes as the numbers that they stand for, and colours as bytes", async () => {
    const bytes = changed((own) => {
      const attributes = { POSITION: 0, NORMAL: 2, COLOR_0: 2, TEXCOORD_0: 4, _RAW: 5 };
      own.meshes[0]!.primitives[0]!.attributes = attributes;
      own.accessors.push({ bufferView: 1, componentType: 5121, normalized: true, count: 3, type: "VEC2" });
      own.accessors.push({ bufferView: 1, componentType: 5121, count: 3, type: "VEC2" });
    });
    const { vertexColumns } = plain(await readFrom(file, bytes));
    const twice = (...values: number[]) => [...values, ...values];
    expect(vertexColumns).toMatchObject({
      color: { type: "uint1×3", values: twice(255, 0, 0, 0, 255, 0, 0, 0, 255) },
      uv: { type: "float4×2", values: twice(1, 0, 0, 1, 0, 0) },
      RAW: { type: "uint1×2", values: twice(255, 0, 0, 255, 0, 0) },
      normal: { type: "float4×3" },
    });
    const turned = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, -1, 0, 0, 0, 0, 1]; // by the transform of the second node
    for (const [i, value] of turned.entries()) expect(vertexColumns.normal!.values[i]).toBeCloseTo(value, 6);
  });

  it("keeps attributes of two types under one name apart", async () => {
    const found = plain(
      await readFrom(
        file,
        changed((own) => {
          own.meshes.push({
            name: "b",
            primitives: [{ attributes: { POSITION: 0, COLOR_0: 1 } as never, indices: 3 }],
          });
          own.nodes[2]!.mesh = 1;
        }),
      ),
    );
    const none = Number.NaN;
    expect(found.vertexColumns).toMatchObject({
      color: {
        type: "uint1×3",
        values: [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
      },
      color_2: { type: "float4×3", values: [...new Array(9).fill(none), 0, 0, 1, 0, 0, 1, 0, 0, 1] },
    });
  });

  it("reads a large file beside a small document", async () => {
    const store = memoryStore();
    const count = 1_500_000; // 18 MB
    const { scenes, nodes, meshes, ...rest } = structuredClone(DOCUMENT);
    const document = {
      ...rest,
      meshes: [{ primitives: [{ attributes: { POSITION: 0 }, mode: 0 }] }],
      accessors: [{ bufferView: 0, componentType: 5126, count, type: "VEC3" }],
      bufferViews: [{ buffer: 0, byteLength: 12 * count }],
      buffers: [{ byteLength: 12 * count, uri: "b%20c.bin" }],
    };
    await store.set(Key.of("a/a.gltf"), asBytes(JSON.stringify(document)));
    await expect(openFile(store, Key.of("a/a.gltf")).then((input) => file.open(input, {}))).rejects.toThrow(
      "a/b c.bin, a buffer of",
    );
    await store.set(Key.of("a/b c.bin"), new Uint8Array(12 * count));
    const input = await openFile(store, Key.of("a/a.gltf"));
    expect((await file.open(input, {})).vertices).toBe(count);
    const { passing, index } = await file.open(input, { maxMemory: 1 << 20 });
    expect(passing).toBeDefined();
    await expect(index({})).rejects.toThrow("which takes about 18000");
  });

  it("unpacks Draco", async () => {
    const stream = (await loadDracoEncoder()).encode({ positions: points, faces: Uint32Array.of(0, 1, 2) });
    const padded = new Uint8Array(Math.ceil(stream.length / 4) * 4);
    padded.set(stream);
    const document = {
      asset: { version: "2.0" },
      extensionsUsed: ["KHR_draco_mesh_compression"],
      extensionsRequired: ["KHR_draco_mesh_compression"],
      nodes: [{ mesh: 0 }],
      meshes: [
        {
          primitives: [
            {
              attributes: { POSITION: 0 },
              indices: 1,
              extensions: { KHR_draco_mesh_compression: { bufferView: 0, attributes: { POSITION: 0 } } },
            },
          ],
        },
      ],
      accessors: [
        { componentType: 5126, count: 3, type: "VEC3" },
        { componentType: 5125, count: 3, type: "SCALAR" },
      ],
      bufferViews: [{ buffer: 0, byteLength: stream.length }],
      buffers: [{ byteLength: stream.length }],
    };
    expect(plain(await readFrom(file, glb(document, padded)))).toMatchObject({
      links: [0, 1, 2],
      positions: [...points],
    });
    padded[30]! ^= 255;
    await expect(opened(file, glb(document, padded.subarray(0, 20)))).rejects.toThrow(OctavoError);
  });

  it.each([
    ["gltf", file],
    ["glb", binary],
  ])("writes what it reads, as %s", async (_, file) => {
    const dataset = await opened(file, glb(DOCUMENT));
    const { bytes, report } = await written(file, await dataOf(dataset));
    expect(report).toEqual({ vertices: 6, objects: 2, losses: [] });
    expect(plain(await readFrom(file, bytes))).toEqual(plain(await dataset.select().read()));
    const ids = BigInt64Array.of(72057594062128001n, 4n);
    const drawn = paths(
      [
        [0, 0, 0, 1, 1, 1],
        [2, 2, 2, 3, 3, 3, 4, 4, 4],
      ],
      { ids, vertex: [column("fa", Float32Array.of(1, 2, 3, 4, 5))] },
    );
    expect(plain(await readFrom(file, (await written(file, drawn)).bytes))).toMatchObject({
      geometry: "polylines",
      ids: ["72057594062128001", "4"],
      parts: [0, 2, 5],
      vertexColumns: { fa: { type: "float4×1", values: [1, 2, 3, 4, 5] } },
    });
    const batch = {
      ...(await dataset.select().read()),
      vertexColumns: columns(column("n", Int32Array.of(1, 2, 3, 4, 5, 2 ** 24 + 1))),
    };
    expect((await written(file, dataWith([batch]))).report.losses).toEqual([
      '"n" is float32 in glTF',
      'values of "n" are rounded in glTF',
    ]);
    const empty = await written(file, dataWith([]));
    expect((await opened(file, empty.bytes)).content.vertices).toBe(0);
  });

  it("writes .gltf as a document that holds its numbers, of any length", async () => {
    const many = { ...(await readFrom(file, glb(DOCUMENT))) };
    const rows = 20_000; // more than what goes through the parser of documents
    const positions = Float32Array.from({ length: 3 * rows }, (_, i) => i / 7);
    const cloud = { ...many, geometry: "points" as const, positions, links: undefined, parts: Uint32Array.of(0, rows) };
    const { bytes } = await written(file, dataWith([{ ...cloud, vertexColumns: columns() }]));
    const { buffers } = JSON.parse(new TextDecoder().decode(bytes));
    expect(buffers).toEqual([
      { byteLength: 12 * rows, uri: expect.stringMatching(/^data:application\/octet-stream;base64,/) },
    ]);
    expect(Buffer.from(buffers[0].uri.split(",")[1], "base64")).toEqual(Buffer.from(positions.buffer));
    expect((await readFrom(file, bytes)).positions).toEqual(positions);
    const few = { metadataBytes: 4096 };
    expect((await readFrom(file, bytes, { limits: few })).positions.length).toBe(3 * rows);
    const damaged = bytes.slice();
    damaged[bytes.length - 100] = 0x21;
    await expect(opened(file, damaged)).rejects.toThrow('has the character "!" in base64');
  });

  it("says what is wrong with a file", async () => {
    for (const [path, value, message, kind] of [
      ["accessors.0.count", 7, "accessor 0 ends at byte 84 of a view of 72", Corrupt],
      ["accessors.0.count", 1e12, "accessor 0 has 1000000000000 rows", LimitExceeded],
      ["accessors.0.count", -1, "has the count -1", Corrupt],
      ["bufferViews.0.byteLength", 93, "bufferView 0 ends at byte 93 of a buffer of 92", Corrupt],
      ["buffers.0.byteLength", 100, "buffer 0 should have 100 bytes, found 92", Corrupt],
      ["nodes.1.children", [0], "node 0 is in two places, or below itself", Corrupt],
      ["nodes.1.mesh", 5, "has no meshes 5, of 1", Corrupt],
      ["nodes.2.scale", [1, 2], "whose scale is not 3 numbers", Corrupt],
      ["extensionsRequired", ["EXT_other"], "needs EXT_other", Unsupported],
      ["buffers.0.uri", "../secret.bin", "only files beside it are read", Unsupported],
      ["buffers.0.uri", "http://a/b", "only files beside it are read", Unsupported],
    ] as const) {
      const bytes = changed((own) => {
        const steps = path.split(".");
        let at = own as unknown as { [key: string]: never };
        for (const step of steps.slice(0, -1)) at = at[step]!;
        Object.assign(at, { [steps.at(-1)!]: value });
      });
      await expect(opened(file, bytes), message).rejects.toThrow(message);
      await expect(opened(file, bytes)).rejects.toThrow(kind);
    }
    const far = BIN.slice();
    far[84] = 9;
    await expect(opened(file, glb(DOCUMENT, far))).rejects.toThrow(
      "a face that points to vertex 9, counted from 0, of 3",
    );
    const bytes = glb(DOCUMENT);
    for (let length = 0; length < bytes.length; length += 3)
      await expect(opened(file, bytes.subarray(0, length))).rejects.toThrow(OctavoError);
    for (let at = 0; at < bytes.length; at += 2) {
      const other = bytes.slice();
      other[at]! ^= 1 << (at % 8);
      await opened(file, other).catch((error) => expect(error).toBeInstanceOf(OctavoError));
    }
  });
});
