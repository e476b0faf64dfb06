/** Parquet: round trips through our writer, every type, groups of rows, damage. What pyarrow writes and reads is in the interop tests. */
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, written } from "../../../test/interchange.js";
import * as PARQUET from "../../../test/parquet.js";
import { COLUMNS, everything } from "../../../test/tables.js";
import { Reader } from "../../bytes/reader.js";
import { OctavoError } from "../../errors.js";
import { file as csv } from "./csv.js";
import { file } from "./parquet.js";
import { readThrift } from "./thrift.js";
import type { OpenFileOptions } from "./types.js";

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const open = (bytes: Uint8Array, options: OpenFileOptions = {}) => openBytes(file, "a.parquet", bytes, options);

describe("round trips", () => {
  it("every type is what it was", async () => {
    const { bytes, report } = await written(file, everything());
    expect(report).toEqual({ vertices: 3, objects: 0, losses: [] });
    const { positions, vertexColumns } = await (await open(bytes)).select().read();
    expect(positions).toEqual(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9.5));
    for (const { info, values } of COLUMNS) {
      expect(vertexColumns.get(info.name)!.info, info.name).toEqual(info);
      expect(vertexColumns.get(info.name)!.values, info.name).toEqual(values);
    }
  });

  it("ids, lines, empty cells", async () => {
    const table =
      "id,start_x,start_y,end_x,end_y,size,note\n9007199254740993,1,2,3,4,,a\n18446744073709551615,5,6,7,8,10,b\n";
    const dataset = await openBytes(csv, "a.csv", text(table));
    const again = await open((await written(file, await dataOf(dataset))).bytes);
    expect(again.levels[0]).toMatchObject({ vertices: 4 });
    expect(again.geometries).toEqual(["lines"]);
    const [was, is] = [await dataset.select().read(), await again.select().read()];
    expect(is.ids).toEqual(was.ids);
    expect(is.positions).toEqual(was.positions);
    expect(is.objectColumns).toEqual(was.objectColumns);
    expect((await written(csv, await dataOf(again))).bytes).toEqual(text(table));
  });

  it("groups of rows are pieces", async () => {
    const rows = Array.from({ length: 300_000 }, (_, i) => `${i},1\n`).join("");
    const dataset = await openBytes(csv, "a.csv", text(`x,y\n${rows}`));
    const again = await open((await written(file, await dataOf(dataset))).bytes);
    expect((await again.index()).vertices.length).toBeGreaterThan(1);
    const { positions } = await again.select({ box: [299_990, 0, 300_000, 2] }).read();
    expect(positions.length).toBe(20);
    expect((await again.select().count()).vertices).toBe(300_000);
  });

  it("only the columns that are named are read", async () => {
    const { bytes } = await written(file, everything());
    const dataset = await open(bytes, { table: { properties: [{ name: "i8" }] } });
    expect((await dataset.schema()).vertex.map(({ name }) => name)).toEqual(["i8"]);
    expect(dataset.notes[0]).toMatch(/^the columns u16, u32, .*: others are named to be read/);
  });
});

it("pages of both versions, in every encoding that pyarrow has, hold the same", async () => {
  const tables = Object.entries(PARQUET);
  expect(tables.length).toBe(4);
  for (const [name, bytes] of tables) {
    const { positions, vertexColumns } = await (await open(bytes)).select().read();
    expect([name, ...positions]).toEqual([name, 0, 0, 0.5, 1, 1, 2, 1.5, 3, 2, 4, 2.5, 5]);
    expect([...vertexColumns.get("d")!.values]).toEqual([0n, 10n, 20n, 30n, 40n, 50n]);
    expect(vertexColumns.get("s")!.values).toEqual(["ab", "abc", "abd", "", "", "x"]);
    expect([...vertexColumns.get("l")!.values]).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
    await expect(open(bytes.subarray(0, bytes.length - 9))).rejects.toThrow(OctavoError);
  }
});

describe("damage", () => {
  const attempt = async (bytes: Uint8Array): Promise<unknown> => {
    try {
      const dataset = await open(bytes, { limits: { chunkBytes: 1 << 20, metadataBytes: 1 << 20 } });
      return await dataset.select().read();
    } catch (error) {
      expect(error).toBeInstanceOf(OctavoError);
      return error;
    }
  };

  it("every shorter file is an error", async () => {
    const { bytes } = await written(file, everything());
    for (let length = 0; length < bytes.length; length += 7)
      expect(await attempt(bytes.slice(0, length))).toBeInstanceOf(OctavoError);
  });

  it("any byte that is another is read, or one of our errors", { timeout: 20_000 }, async () => {
    const { bytes } = await written(file, everything());
    for (let at = 0; at < bytes.length; at += 3) {
      const other = bytes.slice();
      other[at] = other[at]! ^ (at % 2 ? 0xff : 0x55);
      await attempt(other);
    }
  });

  it("counts that no file can hold are not believed", () => {
    const read = (...bytes: number[]) => readThrift(new Reader(Uint8Array.from(bytes), "it"));
    expect(read(0x15, 4, 0)).toEqual({ 1: 2 });
    expect(() => read(0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0)).toThrow("claims 2147483647 items");
    expect(() => read(0x18, 0xff, 0xff, 0x7f)).toThrow(OctavoError);
    expect(() => read(...Array<number>(100).fill(0x1c))).toThrow("nested deeper");
    expect(() => read(0x1b, 0)).toThrow("type 11");
  });

  it("what is packed as a whole, and what is none", async () => {
    await expect(open(text("PAR1....PAR2"))).rejects.toThrow("should end in PAR1");
    await expect(open(text("PAR1\u0001\u0000\u0000\u0000PAR1"))).rejects.toThrow("its description would have 1");
  });
});
