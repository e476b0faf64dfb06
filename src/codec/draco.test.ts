import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fixtures } from "../../test/fixtures.js";
import { Corrupt, InvalidInput, LimitExceeded, OctavoError, Unsupported } from "../errors.js";
import { defaultLimits as limits } from "../limits.js";
import { loadDraco } from "./draco.js";
import { loadDracoEncoder } from "./draco-encode.js";
import { parseDracoHeader } from "./draco-header.js";
import { loadZstd } from "./zstd.js";

const draco = await loadDraco();
const { encode } = await loadDracoEncoder();

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ""), "hex"));
const MAGIC = "4452 4143 4f";
const float = (value: number): string => Buffer.from(Float32Array.of(value).buffer).toString("hex");

/** A mesh of version 2.2, sequential: one face, three points, plain indices; positions with id 5, stored as they are. */
const triangle = (corners = "00 01 02"): Uint8Array =>
  hex(`${MAGIC} 0202 01 00 0000  01 03 01 ${corners}  01 01 00 09 03 00 05 00
    ${[0, 0, 0, 1, 0, 0, 0, 2.5, -1].map(float).join("")}`);

/** Twenty by twenty points, 722 triangles. */
function sheet(): { positions: Float32Array; faces: Uint32Array } {
  const [positions, faces]: number[][] = [[], []];
  for (let i = 0; i < 400; i++) {
    const [x, y] = [i % 20, Math.floor(i / 20)];
    positions!.push(x * 1.5, y * 0.75, (x * x * 7 + y * 13) % 17);
    if (x < 19 && y < 19) faces!.push(i, i + 1, i + 20, i + 1, i + 21, i + 20);
  }
  return { positions: Float32Array.from(positions!), faces: Uint32Array.from(faces!) };
}

describe("the header", () => {
  test("says how much will come", () => {
    expect(parseDracoHeader(triangle(), "x")).toEqual({ kind: "mesh", method: "sequential", points: 3, faces: 1 });
    expect(parseDracoHeader(hex(`${MAGIC} 0202 01 01 0000 00 ac02 80808008`), "x")).toEqual({
      kind: "mesh",
      method: "edgebreaker",
      points: 300,
      faces: 2 ** 24,
    });
    expect(parseDracoHeader(hex(`${MAGIC} 0203 00 01 0000 07000000`), "x")).toEqual({
      kind: "points",
      method: "kd-tree",
      points: 7,
      faces: 0,
    });
  });

  test("comes before metadata, which may hold metadata", () => {
    // One attribute's block: id 9, entry "ab" of two bytes. The geometry's: none of its own, one within, named "c".
    const metadata = "01 09 01 02 6162 02 ffff 00   00 01 01 63 00 00";
    expect(parseDracoHeader(hex(`${MAGIC} 0203 00 00 0080 ${metadata} 07000000`), "x")).toMatchObject({ points: 7 });
  });

  test.each([
    ["other bytes", "4452 4143 4e 0202 01 00 0000 01 03", Corrupt],
    ["nothing", "", Corrupt],
    ["an unknown method", `${MAGIC} 0202 01 02 0000 01 03`, Corrupt],
    ["an older version", `${MAGIC} 0101 01 00 0000 01000000 03000000`, Unsupported],
    ["a newer version", `${MAGIC} 0203 01 00 0000 01 03`, Unsupported],
    ["a number that does not end", `${MAGIC} 0202 01 00 0000 ffffffffff 03`, Corrupt],
    ["metadata that do not end", `${MAGIC} 0203 00 00 0080 00 ffffffff0f`, Corrupt],
  ])("%s", (_name, text, error) => {
    expect(() => draco.decode(hex(text), limits, "x")).toThrow(error);
  });
});

test("a mesh packed by hand", () => {
  expect(draco.decode(triangle(), limits, "x")).toEqual({
    points: 3,
    components: 3,
    positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 2.5, -1),
    quantization: undefined,
    faces: Uint32Array.of(0, 1, 2),
    attributes: [],
  });
});

describe("what DracoPy wrote into Zarr Vectors", async () => {
  const zstd = await loadZstd();
  const folder = fixtures("zarr-vectors");
  interface Cell {
    readonly bytes: number;
    readonly points: { readonly data: number[][] };
    readonly faces: { readonly data: number[][] } | null;
  }

  /** The bytes from "DRACO" on: in older versions the file is the stream, or zstd of it; later one element of vlen-bytes. */
  function stream(file: string): Uint8Array {
    const stored = new Uint8Array(readFileSync(file));
    const plain = stored[0] === 0x28 ? zstd.decompress(stored, undefined, limits) : stored;
    return plain.subarray(Buffer.from(plain).indexOf("DRACO"));
  }

  const versions = readdirSync(folder).filter((version) => readdirSync(join(folder, version)).includes("mesh_draco"));
  test.each(versions)("%s", (version) => {
    const at = join(folder, version, "mesh_draco");
    const cells = JSON.parse(readFileSync(join(at, "expected_draco_cells.json"), "utf8")) as Record<string, Cell>;
    const files = readdirSync(at, { recursive: true, encoding: "utf8" });
    for (const [key, cell] of Object.entries(cells)) {
      const names = [`vertices/c/${key.replaceAll(".", "/")}`, `vertices/${key}/c/0`, `vertices/${key}`];
      const path = names
        .map((name) => files.find((file) => file.endsWith(`/${name}`)))
        .find((file) => file !== undefined);
      const bytes = stream(join(at, path!));
      const { positions, faces } = draco.decode(bytes, limits, key);
      expect(bytes.length).toBe(cell.bytes);
      expect(positions).toEqual(Float32Array.from(cell.points.data.flat()));
      expect(faces).toEqual(cell.faces === null ? undefined : Uint32Array.from(cell.faces.data.flat()));
    }
    expect(Object.keys(cells).length).toBe(8);
  });
  test("there are some", () => expect(versions.length).toBeGreaterThan(5));
});

test("fragments of a Neuroglancer mesh: integers, and as many faces as it sees itself", () => {
  const at = join(fixtures("precomputed"), "meshes");
  const expected = JSON.parse(readFileSync(join(at, "expected.json"), "utf8")).multires_unsharded_q10.cloudvolume;
  for (const [id, { lods, manifest }] of Object.entries(expected) as [string, { lods: []; manifest: Manifest }][]) {
    const file = new Uint8Array(readFileSync(join(at, "multires_unsharded_q10/mesh", id)));
    let offset = 0;
    for (const [lod, { faces }] of lods.entries() as IterableIterator<[number, { faces: number }]>) {
      let found = 0;
      for (const size of manifest.fragment_sizes[lod]!) {
        const fragment = draco.decodeQuantized(file.subarray(offset, offset + size), limits, id);
        expect(fragment.quantization).toBeUndefined();
        expect(Math.min(...fragment.positions)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...fragment.positions)).toBeLessThan(1024);
        found += fragment.faces!.length / 3;
        offset += size;
      }
      expect(found).toBe(faces);
    }
    expect(offset).toBe(file.length);
  }
});
interface Manifest {
  readonly fragment_sizes: number[][];
}

describe("encoding", () => {
  const { positions, faces } = sheet();
  const integers = Int32Array.from(positions, (value) => Math.round(4 * value));
  const quarter = Float32Array.from(integers); // what float32 makes of them

  test.each([
    ["mesh", { positions, faces }, true, "a7467a80e83c9582"],
    ["mesh", { positions, faces }, false, "b0916ff3dfd85bdf"],
    ["points", { positions }, true, "5e93ed19f40e95fc"],
    ["points", { positions }, false, "a7f06636dfe724e6"],
    ["integers", { positions: integers, faces }, true, "55a80696e526e029"],
    ["integers", { positions: integers, faces }, false, "3465ae9672586265"],
  ])("%s, byte for byte as DracoPy 2.2.0 at level 5 (%#)", (_name, input, keepOrder, sha256) => {
    const bytes = encode(input, { keepOrder });
    expect(createHash("sha256").update(bytes).digest("hex").slice(0, 16)).toBe(sha256);
  });

  test("points and faces keep their order, and positions come within half a step", () => {
    const coordinate = fc.float({ min: -1000, max: 1000, noNaN: true });
    const points = fc.array(fc.tuple(coordinate, coordinate, coordinate), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(
        points,
        fc.array(fc.nat(), { maxLength: 60 }),
        fc.integer({ min: 4, max: 16 }),
        (rows, some, bits) => {
          const input = Float32Array.from(rows.flat());
          const corners = Uint32Array.from(some.slice(0, some.length - (some.length % 3)), (n) => n % rows.length);
          const meshed = corners.length > 0 ? { faces: corners } : {};
          const stored = encode({ positions: input, ...meshed }, { quantizationBits: bits });
          const decoded = draco.decode(stored, limits, "x");
          expect(decoded.faces).toEqual(meshed.faces);
          const ranges = [0, 1, 2].map((axis) => {
            const column = rows.map((row) => row[axis]!);
            return Math.max(...column) - Math.min(...column);
          });
          const step = Math.max(...ranges) / (2 ** bits - 1);
          const worst = input.reduce((most, value, i) => Math.max(most, Math.abs(value - decoded.positions[i]!)), 0);
          expect(worst).toBeLessThanOrEqual(step / 2 + 2e-4); // and what float32 rounds
          const { quantization, positions: grid } = draco.decodeQuantized(stored, limits, "x");
          const again = Float32Array.from(
            grid,
            (value, i) => quantization!.origin[i % 3]! + (value * quantization!.range) / (2 ** bits - 1),
          );
          expect(again.every((value, i) => Math.abs(value - decoded.positions[i]!) < 2e-4)).toBe(true);
        },
      ),
    );
  });

  test("without order it is small, and the same triangles", () => {
    const ordered = encode({ positions: integers, faces });
    const compact = encode({ positions: integers, faces }, { keepOrder: false });
    expect(compact.length).toBeLessThan(ordered.length / 5);
    const triangles = (bytes: Uint8Array): string[] => {
      const decoded = draco.decode(bytes, limits, "x");
      const corner = (point: number): string => decoded.positions.subarray(3 * point, 3 * point + 3).join();
      return Array.from({ length: decoded.faces!.length / 3 }, (_, i) => {
        const corners = [0, 1, 2].map((k) => corner(decoded.faces![3 * i + k]!));
        const first = corners.indexOf([...corners].sort()[0]!);
        return [0, 1, 2].map((k) => corners[(first + k) % 3]).join(" ");
      }).sort();
    };
    expect(triangles(compact)).toEqual(triangles(ordered));
  });

  test("integers are stored as they are", () => {
    const stored = encode({ positions: integers, faces });
    expect(draco.decodeQuantized(stored, limits, "x").positions).toEqual(integers);
    expect(draco.decode(stored, limits, "x").positions).toEqual(quarter);
    const large = encode({ positions: Int32Array.of(2 ** 24 + 1, -5, 7) });
    expect(draco.decodeQuantized(large, limits, "x").positions).toEqual(Int32Array.of(2 ** 24 + 1, -5, 7));
    expect(() => draco.decode(large, limits, "x")).toThrow(Unsupported);
    expect(() => draco.decodeQuantized(triangle(), limits, "x")).toThrow(Unsupported);
  });

  test.each([
    ["no point", { positions: new Float32Array(0) }, {}],
    ["half a point", { positions: new Float32Array(4) }, {}],
    ["NaN", { positions: Float32Array.of(0, Number.NaN, 0) }, {}],
    ["no face", { positions, faces: new Uint32Array(0) }, {}],
    ["a face without its point", { positions, faces: Uint32Array.of(0, 1, 400) }, {}],
    ["too many bits", { positions }, { quantizationBits: 31 }],
  ])("%s is refused", (_name, input, options) => {
    expect(() => encode(input, options)).toThrow(InvalidInput);
  });
});

describe("damage", () => {
  const small = { ...limits, chunkBytes: 1 << 20 };

  test("a stream that breaks off is refused, and the next one decodes", () => {
    const { positions, faces } = sheet();
    for (const keepOrder of [true, false]) {
      const whole = encode({ positions, faces }, { keepOrder });
      const expected = draco.decode(whole, limits, "x");
      for (let length = 0; length < whole.length; length += 41) {
        try {
          expect(draco.decode(whole.subarray(0, length), limits, "x")).toEqual(expected);
        } catch (error) {
          expect(error).toBeInstanceOf(OctavoError);
        }
      }
      expect(draco.decode(whole, limits, "x")).toEqual(expected);
    }
  });

  test("a face that refers to no point", () => {
    expect(() => draco.decode(triangle("00 01 03"), limits, "x")).toThrow(Corrupt);
  });

  test("counts are compared with the limits before anything runs", () => {
    expect(() => draco.decode(hex(`${MAGIC} 0203 00 00 0000 ffffff7f`), limits, "x")).toThrow(LimitExceeded);
    expect(() => draco.decode(triangle(), { ...limits, chunkBytes: 47 }, "x")).toThrow(LimitExceeded);
    expect(draco.decode(triangle(), { ...limits, chunkBytes: 48 }, "x").points).toBe(3);
  });

  test("memory is bounded while it runs", () => {
    // 60,000 points, within the limits; then 255 integers each, of which few bytes follow.
    const bomb = hex(`${MAGIC} 0203 00 00 0000 60ea0000  01 01 04 06 ff 00 00 01 fe 01 ${"00".repeat(100)}`);
    expect(() => draco.decode(bomb, small, "x")).toThrow(/should need at most \d+ bytes of memory/);
    expect(() => draco.decode(bomb, small, "x")).toThrow(LimitExceeded);
    expect(draco.decode(triangle(), small, "x").points).toBe(3);
  });
});
