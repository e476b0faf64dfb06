/** glTF that is too large to be held becomes the same stores as one that is not. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { folder, SIDE, same, sameProblem, square } from "../../test/passing.js";
import { loadDracoEncoder } from "../codec/draco-encode.js";

type Numbers = Float32Array | Uint32Array | Uint16Array | Uint8Array | Int16Array | Int8Array;
type Kept = { [name: string]: unknown };

const TYPES = new Map<unknown, number>([
  [Int8Array, 5120],
  [Uint8Array, 5121],
  [Int16Array, 5122],
  [Uint16Array, 5123],
  [Uint32Array, 5125],
  [Float32Array, 5126],
]);
const bytesOf = (values: Numbers): Buffer => Buffer.from(values.buffer, values.byteOffset, values.byteLength);

/** A document with its numbers, while it grows. */
class Scene {
  readonly #pieces: Buffer[] = [];
  #length = 0;
  readonly bufferViews: Kept[] = [];
  readonly accessors: Kept[] = [];
  readonly meshes: Kept[] = [];
  readonly nodes: Kept[] = [];
  more: Kept = {};

  view(bytes: Buffer, more: Kept = {}): number {
    const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
    this.#pieces.push(padded);
    this.#length += padded.length;
    const byteOffset = this.#length - padded.length;
    return this.bufferViews.push({ buffer: 0, byteOffset, byteLength: bytes.length, ...more }) - 1;
  }

  accessor(values: Numbers, channels = 1, more: Kept = {}, bufferView = this.view(bytesOf(values))): number {
    const type = channels === 1 ? "SCALAR" : `VEC${channels}`;
    const componentType = TYPES.get(values.constructor);
    return this.accessors.push({ bufferView, componentType, count: values.length / channels, type, ...more }) - 1;
  }

  /** Rows of several accessors, one after the other in each row. */
  interleaved(...columns: readonly (readonly [Numbers, number, Kept?])[]): number[] {
    const width = ([values, channels]: readonly [Numbers, number, Kept?]) =>
      Math.ceil((channels * values.BYTES_PER_ELEMENT) / 4) * 4;
    const byteStride = columns.reduce((sum, own) => sum + width(own), 0);
    const rows = columns[0]![0].length / columns[0]![1];
    const bytes = Buffer.alloc(rows * byteStride);
    let byteOffset = 0;
    const view = this.bufferViews.length;
    const made = columns.map((own) => {
      const [values, channels, more] = own;
      const size = channels * values.BYTES_PER_ELEMENT;
      for (let i = 0; i < rows; i++) bytesOf(values).copy(bytes, i * byteStride + byteOffset, i * size, (i + 1) * size);
      byteOffset += width(own);
      return this.accessor(values, channels, { byteOffset: byteOffset - width(own), ...more }, view);
    });
    this.view(bytes, { byteStride });
    return made;
  }

  node(primitives: readonly Kept[], more: Kept = {}): void {
    this.nodes.push({ mesh: this.meshes.push({ primitives }) - 1, ...more });
  }

  get numbers(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  document(buffer: Kept = {}): Buffer {
    const { bufferViews, accessors, meshes, nodes } = this;
    const own = nodes.length > 0 ? { nodes } : {};
    const buffers = [{ byteLength: this.#length, ...buffer }];
    const all = { asset: { version: "2.0" }, ...own, meshes, accessors, bufferViews, buffers, ...this.more };
    return Buffer.from(JSON.stringify(all));
  }

  glb(): Buffer {
    const text = this.document();
    const json = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, " ")]);
    const words = (...list: number[]) => bytesOf(Uint32Array.from(list));
    const total = 28 + json.length + this.#length;
    return Buffer.concat([
      words(0x46546c67, 2, total, json.length, 0x4e4f534a),
      json,
      words(this.#length, 0x004e4942),
      this.numbers,
    ]);
  }

  /** With its numbers in the document. */
  whole(): Buffer {
    return this.document({ uri: `data:application/octet-stream;base64,${this.numbers.toString("base64")}` });
  }

  /** With its numbers in a file beside it. */
  beside(): Buffer {
    writeFileSync(join(folder, "the numbers.bin"), this.numbers);
    return this.document({ uri: "the%20numbers.bin" });
  }
}

const places = (seed: number, side: number, z?: (v: number, z: number) => number): Float32Array => {
  const { at } = square(seed, side);
  return Float32Array.from(
    Array.from({ length: side * side }, (_, v) =>
      at(v).map((value, k) => (k === 2 ? (z?.(v, value) ?? value) : value)),
    ).flat(),
  );
};
const MATRIX = [0, 2, 0, 0, -1, 0, 0, 0, 0, 0, 1.5, 0, 7, 8, 9, 1];

interface Parts {
  readonly side?: number;
  readonly z?: (vertex: number, z: number) => number;
  readonly end?: (corner: number, vertex: number) => number;
}

/** Two objects, of which one is there twice; attributes that not all have, and of two types under one name. */
function scene({ side = SIDE, z, end = (_, v) => v }: Parts = {}): Scene {
  const made = new Scene();
  const count = side * side;
  const ends = square(1, side)
    .faces.flat()
    .map((v, i) => end(i, v));
  const each = (of: (v: number) => number) => Array.from({ length: count }, (_, v) => of(v));
  const colors = Uint8Array.from({ length: 3 * count }, (_, i) => i % 251);
  const normals = Float32Array.from(each((v) => v).flatMap((v) => [0, (v % 3) / 3, 1]));
  const [POSITION, NORMAL, COLOR_0] = made.interleaved(
    [places(1, side, z), 3],
    [normals, 3],
    [colors, 3, { normalized: true }],
  );
  const indices = made.accessor(Uint32Array.from(ends));
  const primitive = {
    attributes: { POSITION, NORMAL, COLOR_0, _heat: made.accessor(Float32Array.from(each((v) => v / 8))) },
    indices,
  };
  made.node([primitive], { name: "first", extras: { id: "72057594062128001" } });
  const small = made.accessor(places(2, 6), 3);
  const strip = made.accessor(Uint16Array.from({ length: 36 }, (_, i) => i));
  const other = made.accessor(
    Float32Array.from({ length: 144 }, (_, i) => i / 144),
    4,
  );
  made.node(
    [
      { attributes: { POSITION: small }, indices: strip, mode: 5 },
      { attributes: { POSITION: small, COLOR_0: other }, mode: 6 },
    ],
    { name: "second", matrix: MATRIX, extras: { id: "4" } },
  );
  made.nodes.push({
    mesh: 0,
    translation: [0, 0, 3],
    rotation: [0, 0, Math.SQRT1_2, Math.SQRT1_2],
    extras: { id: "5" },
  });
  made.more = { materials: [{}] };
  return made;
}

const MEMORY = 60_000;

describe("glTF", () => {
  it("nodes with transforms, attributes, strips and fans", async () => {
    const { losses, objects, vertices } = await same("a.glb", scene().glb(), {}, MEMORY);
    expect([objects, vertices]).toEqual([3, 2 * SIDE * SIDE + 72]);
    expect(losses.join()).toMatch(/materials, animations and skins are left out/);
    await same("a.glb", scene().glb(), { formatVersion: "0.7.0", ids: "dense" }, MEMORY);
    await same("a.glb", scene().glb(), { chunkShape: [9, 9, 9], pyramid: { levels: 1 } }, MEMORY);
  });
  it("numbers in the document, in a file beside it, and packed", async () => {
    await same("a.gltf", scene().whole(), {}, MEMORY);
    await same("a.gltf", scene().beside(), {}, MEMORY);
    await same("a.glb.gz", gzipSync(scene().glb(), { level: 0 }), {}, MEMORY);
    await same("a.gltf.gz", gzipSync(scene().whole(), { level: 0 }), {}, MEMORY);
  });
  it("more than is read at once", async () => {
    await same("a.glb", scene({ side: 270 }).glb(), {}, 1 << 20);
    await same("a.gltf", scene({ side: 290 }).whole(), {}, 1 << 20);
  });
  it("small numbers that stand for others, and sparse ones", async () => {
    const made = new Scene();
    const quantized = Int16Array.from(places(3, SIDE), (value) => -100 * value);
    const POSITION = made.accessor(quantized, 3);
    const indices = { bufferView: made.view(bytesOf(Uint16Array.of(3, 77, 500, 899))), componentType: 5123 };
    const values = { bufferView: made.view(bytesOf(Float32Array.of(1, 2, 3, 4))) };
    const heat = made.accessor(new Float32Array(900), 1, { sparse: { count: 4, indices, values } });
    const none = { count: 900, componentType: 5126, type: "SCALAR", sparse: { count: 4, indices, values } };
    const _cold = made.accessors.push(none) - 1;
    const faces = made.accessor(Uint16Array.from(square(3).faces.flat()));
    made.node([{ attributes: { POSITION, _heat: heat, _cold }, indices: faces }]);
    const normalized = made.accessor(
      Int8Array.from({ length: 2700 }, (_, i) => (i % 256) - 128),
      3,
      { normalized: true },
    );
    made.node([{ attributes: { POSITION: normalized }, indices: faces }]);
    await same("a.glb", made.glb(), {}, 30_000);
    made.accessors[heat]!.sparse = { count: 4, indices: { ...indices, byteOffset: 2 }, values };
    expect(await sameProblem("a.glb", made.glb())).toMatch(/the places of accessor 1 ends at byte 10 of a view of 8/);
    made.accessors[heat]!.sparse = { count: 4, indices: values, values };
    expect(await sameProblem("a.glb", made.glb())).toMatch(/accessor 1 is sparse, and does not say where/);
  });
  it.each([
    ["lines", 1],
    ["loops", 2],
    ["strips of lines", 3],
  ])("%s", async (_, mode) => {
    const made = new Scene();
    for (const [i, name] of ["a", "b"].entries()) {
      const POSITION = made.accessor(places(4 + i, SIDE), 3);
      made.node(
        [{ attributes: { POSITION }, indices: made.accessor(Uint32Array.from(square(5).faces.flat())), mode }],
        { name },
      );
    }
    expect((await same("a.glb", made.glb())).objects).toBe(2);
  });
  it("paths and points", async () => {
    for (const mode of [3, 0]) {
      const made = new Scene();
      for (let i = 0; i < 4; i++) {
        const attributes = {
          POSITION: made.accessor(places(i, 8 + 2 * i), 3),
          _own: made.accessor(places(i, 8 + 2 * i), 3),
        };
        made.node([{ attributes, mode }], { scale: [1, 2, 3] });
      }
      await same("a.glb", made.glb(), {}, 50_000);
    }
  });
  it("Draco, one stream at a time", async () => {
    const { encode } = await loadDracoEncoder();
    const made = new Scene();
    for (const seed of [1, 2, 3]) {
      const faces = Uint32Array.from(square(seed).faces.flat());
      const stream = encode({ positions: places(seed, SIDE), faces });
      const bufferView = made.view(Buffer.from(stream));
      const empty = made.accessors.push({ componentType: 5126, count: 900, type: "VEC3" }) - 1;
      const extensions = { KHR_draco_mesh_compression: { bufferView, attributes: { POSITION: 0 } } };
      made.node([{ attributes: { POSITION: empty }, indices: empty, extensions }]);
    }
    made.more = { extensionsUsed: ["KHR_draco_mesh_compression"] };
    const bytes = made.glb();
    const report = await same("a.glb", Buffer.concat([bytes]), {}, 10 * (bytes.length - 1));
    expect(report.vertices).toBe(2700);
    await expect(same("a.glb", bytes, {}, 20_000)).rejects.toThrow("is of a kind that is read whole");
  });
  it("damage", async () => {
    const nowhere = (v: number, z: number) => (v === 17 || v === 400 ? Number.NaN : z);
    const beyond = (i: number, v: number) => (i === 400 ? 900 : v);
    const problem = async (parts: Parts) => sameProblem("a.glb", scene(parts).glb(), MEMORY);
    expect(await problem({ z: nowhere })).toMatch(/vertex 17 of all primitives: a vertex has the coordinate NaN/);
    expect(await problem({ end: beyond })).toMatch(/a face that points to vertex 900, counted from 0, of 900/);
    expect(await problem({ end: beyond, z: nowhere })).toMatch(/vertex 900/);
    const bytes = scene().glb();
    for (const left of [1, 5000, bytes.length - 2000, bytes.length - 30, bytes.length - 10])
      expect(await sameProblem("a.glb", bytes.subarray(0, -left), 30)).toMatch(/Corrupt/);
    const text = scene().whole().toString();
    for (const [from, to, message] of [
      ["AAAA", "AAA A", /has blanks in base64/],
      ["AAAA", "AA!A", /the character "!" in base64/],
      ["AAAA", "AAA", /base64 that ends within a byte|should have/],
      ['"accessors":[{', '"accessors":[{"count":1e12,', /Corrupt/],
    ] as const)
      expect(await sameProblem("a.gltf", text.replace(from, to), MEMORY)).toMatch(message);
    expect(await sameProblem("a.gltf", text.slice(0, -10), MEMORY)).toMatch(/Corrupt/);
    const lost = new Scene();
    for (let i = 0; i < 4; i++) {
      const z = (v: number, z: number) => (i === 1 && v === 9 ? Number.NaN : z);
      lost.node([{ attributes: { POSITION: lost.accessor(places(i, 12 + i, z), 3) }, mode: 3 }]);
    }
    expect(await sameProblem("a.glb", lost.glb(), 50_000)).toMatch(/vertex 153 of all primitives/);
  });
  it("is refused where its document, or one path, is too large to be held", async () => {
    const refused = "is of a kind that is read whole";
    await expect(same("a.glb", scene().glb(), {}, 10_000)).rejects.toThrow(refused);
    const made = new Scene();
    made.node([{ attributes: { POSITION: made.accessor(places(1, SIDE), 3) }, mode: 3 }]);
    await expect(same("a.glb", made.glb(), {}, 30_000)).rejects.toThrow(refused);
  });
});
