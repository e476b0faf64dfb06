/** TRK: by hand, both byte orders, every orientation, names of several channels, round trips, damage. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, paths, written } from "../../../test/interchange.js";
import { concat } from "../../bytes/concat.js";
import type { JsonObject } from "../../bytes/json.js";
import { swapBytes } from "../../bytes/swap.js";
import { OctavoError } from "../../errors.js";
import type { Column } from "../../model/attributes.js";
import { file } from "./trk.js";
import { encodeTrkHeader } from "./trk-header.js";

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const plain = { version: 2, dimensions: [10, 20, 30], voxel_size: [1, 1, 1], vox_to_ras: IDENTITY, voxel_order: "RAS" };

/** A file by hand: its header, then of each streamline the number of vertices and all other numbers. */
function trk(header: JsonObject, ...streamlines: readonly (readonly number[])[]): Uint8Array {
  const words = streamlines.map(([count, ...values]) =>
    concat([new Uint8Array(Int32Array.of(count!).buffer), new Uint8Array(Float32Array.from(values).buffer)]),
  );
  const big = header.endianness === "big";
  const data = concat(words);
  return concat([
    encodeTrkHeader({ n_count: streamlines.length, ...plain, ...header }, big ? "big" : "little"),
    big ? swapBytes(data, 4) : data,
  ]);
}

const two = [
  [2, 1, 2, 3, 4, 5, 6],
  [1, 7, 8, 9],
] as const;
const float = (name: string, channels: number, ...values: number[]): Column => ({
  info: { name, dtype: { kind: "float", size: 4, endian: "little" }, channels },
  values: Float32Array.from(values),
});

describe("reading", () => {
  it.each(["little", "big"])("%s-endian, half a voxel from the corner", async (endianness) => {
    const dataset = await openBytes(file, "a.trk", trk({ endianness }, ...two));
    const { positions, parts } = await dataset.select().read();
    expect([...positions]).toEqual([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5]);
    expect([...parts]).toEqual([0, 2, 3]);
    expect(dataset.levels[0]!.objects).toBe(2);
  });

  it("packed with gzip", async () => {
    const dataset = await openBytes(file, "a.trk.gz", new Uint8Array(gzipSync(trk({}, ...two))));
    expect([...(await dataset.select().read()).positions.subarray(0, 3)]).toEqual([0.5, 1.5, 2.5]);
  });

  it("axes in another order than those of the affine are turned", async () => {
    // L: counted from the other side, 10 voxels of 2 mm: voxel i is voxel 9 − i. The affine puts voxel 0 at (100, 0, 0).
    const affine = [2, 0, 0, 100, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1];
    const header = { voxel_order: "LAS", voxel_size: [2, 2, 2], vox_to_ras: affine };
    const { positions } = await (await openBytes(file, "a.trk", trk(header, [1, 3, 3, 5]))).select().read();
    expect([...positions]).toEqual([100 + 2 * (9 - 1), 2, 4]);
    // Of axes in a cycle nibabel takes the turn the other way round, and so does everybody who reads with it.
    const turned = { voxel_order: "SRA", vox_to_ras: IDENTITY };
    const swapped = await (await openBytes(file, "a.trk", trk(turned, [1, 1, 2, 3]))).select().read();
    expect([...swapped.positions]).toEqual([2.5, 0.5, 1.5]);
  });

  it("scalars and properties have their names, and several channels as nibabel has them", async () => {
    const header = {
      n_scalars: 5,
      scalar_names: ["fa", "rgb\u00003"],
      n_properties: 2,
      property_names: ["id", "", "w"],
    };
    const dataset = await openBytes(
      file,
      "a.trk",
      trk(
        header,
        [1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7],
        [2, 0, 0, 0, 11, 12, 13, 14, 15, 0, 0, 0, 21, 22, 23, 24, 25, 8, 9],
      ),
    );
    const { vertexColumns, objectColumns } = await dataset.select().read();
    const shown = (columns: ReadonlyMap<string, Column>) =>
      [...columns].map(([name, { info, values }]) => [name, info.channels, [...(values as Float32Array)]]);
    expect(shown(vertexColumns)).toEqual([
      ["fa", 1, [1, 11, 21]],
      ["rgb", 3, [2, 3, 4, 12, 13, 14, 22, 23, 24]],
      ["scalars", 1, [5, 15, 25]],
    ]);
    expect(shown(objectColumns)).toEqual([
      ["id", 1, [6, 8]],
      ["w", 1, [7, 9]],
    ]);
  });

  it("what the header leaves out is what nibabel takes for it, and is told", async () => {
    const none = trk({ version: 1, voxel_order: "", n_count: 0 }, ...two);
    const dataset = await openBytes(file, "a.trk", none);
    const { positions } = await dataset.select().read();
    expect([...positions.subarray(0, 3)]).toEqual([9 - 0.5, 19 - 1.5, 2.5]);
    expect(dataset.notes.length).toBe(2);
    expect(dataset.levels[0]!.objects).toBeUndefined();
    const wrong = await openBytes(file, "a.trk", trk({ n_count: 5 }, ...two));
    expect((await wrong.index()).notes).toEqual(["memory:/a.trk has 2 streamlines, and its header says 5"]);
    expect((await wrong.select().read()).ids.length).toBe(2);
  });

  it("streamlines longer than a block, and without vertices", async () => {
    const long = Array.from({ length: 3 * 500_000 }, (_, i) => i);
    for (const name of ["a.trk", "a.trk.gz"]) {
      const body = concat([
        trk({ n_count: 3 }, [0]),
        new Uint8Array(Int32Array.of(500_000).buffer),
        new Uint8Array(Float32Array.from(long).buffer),
        trk({}, [1, 1, 2, 3]).subarray(1000),
      ]);
      const packed = name.endsWith("gz") ? new Uint8Array(gzipSync(body, { level: 1 })) : body;
      const index = await (await openBytes(file, name, packed)).index();
      expect([[...index.vertices], [...index.objects!.starts]]).toEqual([
        [500_000, 1],
        [0, 2, 3],
      ]);
    }
  });
});

describe("damage", () => {
  it("every shorter file is an error or says so; what is whole can be read", async () => {
    const bytes = trk({ n_scalars: 1, n_properties: 1 }, [1, 1, 2, 3, 4, 5], [2, 1, 2, 3, 4, 1, 2, 3, 4, 5]);
    for (const name of ["a.trk", "a.trk.gz"])
      for (let length = 0; length < bytes.length; length += length < 990 ? 330 : name === "a.trk" ? 1 : 5) {
        const cut = bytes.slice(0, length);
        const packed = name === "a.trk" ? cut : new Uint8Array(gzipSync(cut));
        const bad: Error[] = [];
        const read = async (onBad?: (error: Error) => void) => (await openBytes(file, name, packed, { onBad })).index();
        if (length < 1000) await expect(read()).rejects.toThrow("within its header");
        else if (length === 1000 || length === 1024) expect((await read()).notes!.length).toBe(1);
        else {
          await expect(read(), `${length}`).rejects.toBeInstanceOf(OctavoError);
          const { objects } = await read((error) => bad.push(error));
          expect(objects!.ids.length).toBe(length < 1024 ? 0 : 1);
          expect(bad.length).toBe(1);
        }
      }
  });

  it("coordinates that are no numbers are an error with their byte, or left out", async () => {
    const header = { n_scalars: 1, n_properties: 1 };
    const bytes = trk(header, [1, 1, 2, 3, 4, 5], [2, 1, 2, 3, 4, 1, Number.NaN, 3, 4, 5], [1, 7, 8, 9, 4, 5]);
    const message = "memory:/a.trk, byte 1044: object 1 has the coordinate NaN";
    await expect((await openBytes(file, "a.trk", bytes)).select().read()).rejects.toThrow(message);
    const bad: string[] = [];
    const dataset = await openBytes(file, "a.trk", bytes, { onBad: (error) => bad.push(error.message) });
    expect([...(await dataset.select().read()).ids]).toEqual([0n, 2n]);
    expect(bad).toEqual([message]);
  });

  it.each([
    [{ voxel_order: "LXS" }, 'letters such as LPS as the order of axes, found "LXS"'],
    [{ voxel_order: "LRS" }, "letters such as LPS"],
    [{ voxel_size: [1, 0, 1] }, "three numbers above 0"],
    [{ voxel_size: [1, "NaN", 1] }, "three numbers above 0"],
    [{ vox_to_ras: [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1] }, "an affine whose axes span space"],
    [{ vox_to_ras: ["NaN", ...IDENTITY.slice(1)] }, "an affine whose axes span space"],
    [{ version: 4 }, "is TRK 4"],
    [{ n_scalars: -1 }, "0 or more"],
  ] as const)("%o", async (header, message) => {
    await expect(openBytes(file, "a.trk", trk(header))).rejects.toThrow(message);
  });

  it("counts that nothing can hold", async () => {
    for (const [count, message] of [
      [-1, "streamline 0 at byte 1000 claims -1 vertices"],
      [2 ** 31 - 1, "within streamline 0 of 2147483647 vertices"],
    ] as const) {
      const bytes = trk({}, [count, 1, 2, 3]);
      await expect((await openBytes(file, "a.trk", bytes)).index()).rejects.toThrow(message);
      const packed = new Uint8Array(gzipSync(bytes));
      await expect((await openBytes(file, "a.trk.gz", packed)).index()).rejects.toBeInstanceOf(OctavoError);
    }
    const other = trk({}, ...two);
    other[996] = 0;
    await expect(openBytes(file, "a.trk", other)).rejects.toThrow("expected 1000");
    other[0] = 0;
    await expect(openBytes(file, "a.trk", other)).rejects.toThrow('does not begin with "TRACK"');
  });
});

describe("writing", () => {
  it.each(["little", "big"])("gives back the file, %s-endian, with everything in its header", async (endianness) => {
    const header = {
      endianness,
      origin: [1, 2, 3],
      n_scalars: 4,
      scalar_names: ["z", "b\u00002"],
      n_properties: 1,
      property_names: ["p"],
      reserved: "something",
      voxel_order: "LPS",
      pad2: "LPS",
      image_orientation_patient: [1, 0, 0, 0, 1, "NaN"],
      pad1: "x",
      flips: "\u0001\u0000\u0001",
      version: 2,
    };
    const bytes = trk(header, [1, 0.5, 1, 1.5, 1, 2, 3, 4, 5], [0, 6]);
    const dataset = await openBytes(file, "a.trk", bytes);
    const index = await dataset.index();
    const batch = { ...(await dataset.select().read()), ...(await index.load(0, {})), ids: index.objects!.ids };
    const { bytes: again, report } = await written(file, {
      ...(await dataOf(dataset)),
      async *batches() {
        yield { ...batch, links: undefined, objects: Int32Array.of(0, 1) }; // also the one without vertices
      },
    });
    expect(again).toEqual(bytes);
    expect(report).toEqual({ vertices: 1, objects: 2, losses: [] });
  });

  it("a reference makes the header", async () => {
    const reference = { dimensions: [91, 109, 91], affine: [-2, 0, 0, 90, 0, 2, 0, -126, 0, 0, 2, -72, 0, 0, 0, 1] };
    const { bytes, report } = await written(file, paths([[0, 0, 0, 1, 2, 3]]), { reference });
    expect(report.losses).toEqual([]);
    const dataset = await openBytes(file, "a.trk", bytes);
    expect((await dataset.headers()).get("trk")).toMatchObject({
      dimensions: [91, 109, 91],
      voxel_size: [2, 2, 2],
      voxel_order: "LAS",
      n_count: 1,
      version: 2,
    });
    expect([...(await dataset.select().read()).positions]).toEqual([0, 0, 0, 1, 2, 3]);
  });

  it("headers that zarr-vectors-tools has kept will do, also where the coordinates are still those of the file", async () => {
    const kept = {
      format_name: "trk",
      voxel_size: [2, 2, 2],
      dimensions: [10, 10, 10],
      vox_to_ras: null,
      voxel_order: "RAS",
      n_scalars: 0,
      scalar_names: [],
      n_properties: 0,
      property_names: [],
      n_count: 1,
    };
    for (const [space, expected] of [
      ["rasmm", [1, 2, 3]],
      ["voxmm", [0, 0.5, 1]],
    ] as const) {
      const { bytes, report } = await written(file, paths([[1, 2, 3]], { headers: { trk: { ...kept, space } } }));
      expect(report.losses).toEqual([]);
      const dataset = await openBytes(file, "a.trk", bytes);
      expect([...(await dataset.select().read()).positions]).toEqual(expected);
      expect(dataset.notes).toEqual([]);
    }
  });

  it("what it cannot hold is told", async () => {
    const data = paths([[0.1, 2, 3]], {
      vertex: [
        float("a name of more than twenty letters", 2, 1, 2),
        { info: { name: "t", dtype: { kind: "string" }, channels: 1 }, values: ["x"] },
        ...Array.from({ length: 10 }, (_, i) => float(`s${i}`, 1, i)),
      ],
      object: [
        {
          info: { name: "n", dtype: { kind: "int", size: 8, endian: "little" }, channels: 1 },
          values: BigInt64Array.of(2n ** 53n + 1n),
        },
      ],
      groups: [BigInt64Array.of(0n)],
    });
    const { bytes, report } = await written(file, data);
    expect(report.losses).toEqual([
      "the image that it is about, which nothing names: voxels of 1 mm are taken",
      "the name a name of more than twenty letters, which is too long or has letters that a TRK has not: it is a name of more tha",
      "the attribute t, which is no number: its scalars are float32",
      "the attribute s9: there is room for ten scalars",
      "digits of the attribute n: its values are float32 there",
      expect.stringMatching(/^digits of 1 vertices, which are off by up to \de-8 mm/),
    ]);
    const { vertexColumns } = await (await openBytes(file, "a.trk", bytes)).select().read();
    expect([...vertexColumns.keys()][0]).toBe("a name of more tha");
  });

  it("coordinates that come from a TRK go back to the same bits", async () => {
    const size = fc.float({ min: Math.fround(0.3), max: 4, noNaN: true });
    const shift = fc.float({ min: -150, max: 150, noNaN: true });
    const coordinate = fc.float({ min: 0, max: 250, noNaN: true });
    const order = fc.constantFrom("RAS", "LPS", "PIL", "SAR");
    await fc.assert(
      fc.asyncProperty(
        size,
        shift,
        shift,
        order,
        fc.array(coordinate, { minLength: 6, maxLength: 60 }),
        async (s, tx, ty, voxel_order, values) => {
          const own = values.slice(0, values.length - (values.length % 3));
          const vox_to_ras = [s, 0, 0, tx, 0, -s, 0, ty, 0, 0, s, 7, 0, 0, 0, 1];
          const bytes = trk({ voxel_order, vox_to_ras, voxel_size: [s, s, s] }, [own.length / 3, ...own]);
          const dataset = await openBytes(file, "a.trk", bytes);
          const { bytes: again, report } = await written(file, await dataOf(dataset));
          expect(report.losses).toEqual([]);
          const { positions } = await (await openBytes(file, "a.trk", again)).select().read();
          expect(positions).toEqual((await dataset.select().read()).positions);
        },
      ),
      { numRuns: 60 },
    );
  });
});
