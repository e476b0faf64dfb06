/** Arrays of numpy as points: rows, columns first, either byte order, structs, several arrays in a zip file. */
import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, written } from "../../../test/interchange.js";
import { concat } from "../../bytes/concat.js";
import { OctavoError } from "../../errors.js";
import { file as csv } from "./csv.js";
import { file, npz } from "./npy-table.js";

/** A file by hand. */
function npy(descr: string, shape: string, data: ArrayBufferView, fortran = "False"): Uint8Array {
  const text = `{'descr': ${descr}, 'fortran_order': ${fortran}, 'shape': ${shape}, }`;
  const head = new Uint8Array(10 + Math.ceil((text.length + 11) / 64) * 64 - 10).fill(0x20);
  head.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, (head.length - 10) & 255, (head.length - 10) >> 8]);
  head.set(new TextEncoder().encode(text), 10);
  head[head.length - 1] = 10;
  return concat([head, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]);
}

const read = async (bytes: Uint8Array) => (await openBytes(file, "a.npy", bytes)).select().read();

describe("reading", () => {
  it("rows of numbers", async () => {
    const { positions } = await read(npy("'<f4'", "(2, 3)", Float32Array.of(1, 2, 3, 4, 5, 6)));
    expect(positions).toEqual(Float32Array.of(1, 2, 3, 4, 5, 6));
    const more = await read(npy("'<f8'", "(1, 5)", Float64Array.of(1, 2, 3, 4, 5)));
    expect([...more.vertexColumns.keys()]).toEqual(["column4", "column5"]);
    expect((await read(npy("'<i2'", "(1, 2)", Int16Array.of(-1, 2)))).positions).toEqual(Float64Array.of(-1, 2));
  });

  it("a coordinate that is no number is an error with its row, or left out", async () => {
    const bytes = npy("'<f4'", "(3, 3)", Float32Array.of(1, 2, 3, 4, Number.NaN, 6, 7, 8, 9));
    const message = "memory:/a.npy, row 1, counted from 0: a vertex has the coordinate NaN";
    await expect(read(bytes)).rejects.toThrow(message);
    const bad: string[] = [];
    const dataset = await openBytes(file, "a.npy", bytes, { onBad: (error) => bad.push(error.message) });
    expect([...(await dataset.select().read()).positions]).toEqual([1, 2, 3, 7, 8, 9]);
    expect(bad).toEqual([message]);
  });

  it("columns first, and big-endian", async () => {
    const { positions } = await read(npy("'<f8'", "(2, 3)", Float64Array.of(1, 4, 2, 5, 3, 6), "True"));
    expect([...positions]).toEqual([1, 2, 3, 4, 5, 6]);
    const swapped = new DataView(new ArrayBuffer(8));
    swapped.setFloat32(0, 1.5);
    swapped.setFloat32(4, -2);
    expect([...(await read(npy("'>f4'", "(1, 2)", swapped))).positions]).toEqual([1.5, -2]);
  });

  it("structs with named fields", async () => {
    const row = new DataView(new ArrayBuffer(2 * 29));
    for (const [i, at] of [0, 29].entries()) {
      for (let axis = 0; axis < 3; axis++) row.setFloat32(at + 4 * axis, i + axis, true);
      row.setBigUint64(at + 12, 2n ** 64n - 2n + BigInt(i), true);
      row.setUint8(at + 20, i);
      row.setUint32(at + 21, 0x61, true);
      row.setInt16(at + 25, -i);
      row.setInt16(at + 27, 7);
    }
    const descr =
      "[('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('id', '<u8'), ('flag', '|b1'), ('name', '<U1'), ('pair', '>i2', (2,))]";
    const { positions, ids, vertexColumns } = await read(npy(descr, "(2,)", row));
    expect([...positions]).toEqual([0, 1, 2, 1, 2, 3]);
    expect(ids).toEqual(BigUint64Array.of(2n ** 64n - 2n, 2n ** 64n - 1n));
    expect(vertexColumns.get("flag")).toMatchObject({ info: { dtype: { kind: "bool" } }, values: Uint8Array.of(0, 1) });
    expect(vertexColumns.get("name")!.values).toEqual(["a", "a"]);
    expect(vertexColumns.get("pair")!.values).toEqual(Int16Array.of(0, 7, -1, 7));
  });

  it.each([
    [npy("'<f4'", "(6,)", new Float32Array(6)), "should have rows of numbers, found the shape [6]"],
    [npy("'<f4'", "(2, 3)", new Float32Array(5)), "has 20 bytes of elements"],
    [npy("'<f4'", "(1, 1, 3)", new Float32Array(3)), "found the shape [1,1,3]"],
  ])("%#", async (bytes, message) => {
    await expect(read(bytes)).rejects.toThrow(message);
  });
});

describe("zip files that are too large to be held", () => {
  const rows = 200_000;
  const places = Float64Array.from({ length: 3 * rows }, (_, i) => (i * 7919) % 1000);
  const values = Int32Array.from({ length: rows }, (_, i) => i % 77);
  const zipped = (level: 0 | 6, fortran = "False") =>
    zipSync(
      {
        "positions.npy": npy("'<f8'", `(${rows}, 3)`, places, fortran),
        "n.npy": npy("'<i4'", `(${rows},)`, values),
      },
      { level },
    );

  it.each([
    [0, "False"],
    [6, "False"],
    [0, "True"],
  ] as const)("are read as they are asked for: packed %i, columns first %s", async (level, fortran) => {
    const bytes = zipped(level, fortran);
    const [held, read] = [
      await openBytes(npz, "a.npz", bytes),
      await openBytes(npz, "a.npz", bytes, { maxMemory: 1e6 }),
    ];
    const [was, is] = [await held.select().read(), await read.select().read()];
    expect(is.positions).toEqual(was.positions);
    expect(is.vertexColumns.get("n")).toEqual(was.vertexColumns.get("n"));
    const box = { box: [1, 1, 1, 30, 30, 30] };
    expect((await read.select(box).read()).positions).toEqual((await held.select(box).read()).positions);
  });

  it("are refused where columns are packed one after the other", async () => {
    const bytes = zipped(6, "True");
    await expect(openBytes(npz, "a.npz", bytes, { maxMemory: 1e6 })).rejects.toThrow(
      /positions\.npy is packed and has its columns one after the other, .* 9600256 bytes of memory, and 1000000 may be used/,
    );
    expect((await (await openBytes(npz, "a.npz", bytes)).select().read()).positions.length).toBe(3 * rows);
  });

  it("say so where they are damaged", async () => {
    const bytes = zipped(6);
    bytes[bytes.length >> 2]! ^= 255;
    const dataset = await openBytes(npz, "a.npz", bytes, { maxMemory: 1e6 });
    await expect(dataset.select().read()).rejects.toThrow(/positions\.npy (is damaged|should)/);
  });
});

describe("writing", () => {
  const table = "id,x,y,z,n,t,b\n5,0.5,2,3,-7,é,true\n18446744073709551615,4,5.25,-0,8,,false\n";

  it("coordinates, rows × axes", async () => {
    const dataset = await openBytes(csv, "a.csv", new TextEncoder().encode(table));
    const { bytes, report } = await written(file, await dataOf(dataset));
    expect(report.losses).toEqual([
      "the attributes n, t, b: an .npy file has coordinates; .npz has both",
      "which points belong to which object",
    ]);
    expect((await read(bytes)).positions).toEqual(Float64Array.of(0.5, 2, 3, 4, 5.25, -0));
  });

  it("an array for every attribute", async () => {
    const dataset = await openBytes(csv, "a.csv", new TextEncoder().encode(table));
    const { bytes, report } = await written(npz, await dataOf(dataset));
    expect(report.losses).toEqual([]);
    const again = await openBytes(npz, "a.npz", bytes);
    const [was, is] = [await dataset.select().read(), await again.select().read()];
    expect(is.positions).toEqual(was.positions);
    expect(is.ids).toEqual(was.ids);
    for (const [name, { values }] of was.vertexColumns) expect(is.vertexColumns.get(name)!.values).toEqual(values);
    for (let length = 0; length < bytes.length; length += 29)
      await expect(
        openBytes(npz, "a.npz", bytes.slice(0, length)).then((own) => own.select().read()),
      ).rejects.toBeInstanceOf(OctavoError);
  });
});
