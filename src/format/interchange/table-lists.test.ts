/** Columns of lists of different lengths: relationships with 0, 1 or many ids, in every kind of table, 64 bits exact. What pyarrow has is in the interop tests. */
import { type DataType, int32, int64, largeList, list, tableFromArrays, tableToIPC, uint64 } from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, written } from "../../../test/interchange.js";
import { diffDatasets } from "../../diff/datasets.js";
import { InvalidInput, LimitExceeded, OctavoError } from "../../errors.js";
import type { VectorDataset } from "../../model/vectors.js";
import { file as arrow } from "./arrow.js";
import { file as csv, tsv } from "./csv.js";
import { file as parquet } from "./parquet.js";
import type { TableOptions } from "./types.js";

const KINDS = { "a.csv": csv, "a.tsv": tsv, "a.parquet": parquet, "a.arrow": arrow };
const post = { relationships: { post: "post" } };
const text = (rows: string): Uint8Array => new TextEncoder().encode(rows);

const open = (name: keyof typeof KINDS, bytes: Uint8Array, table: TableOptions = post, limits = {}) =>
  openBytes(KINDS[name], name, bytes, { table, limits });

/** The ids of each object by a relationship. */
async function listsOf(dataset: VectorDataset, name = "post"): Promise<bigint[][]> {
  const { objects, objectColumns } = await dataset.select().read();
  const { info, values } = objectColumns.get(name)!;
  const { channels, absent } = info;
  const all = values as BigInt64Array;
  return Array.from(objects, (row) =>
    [...all.subarray(row * channels, (row + 1) * channels)].filter((id) => id !== absent),
  );
}

describe("in text", () => {
  it("are lists in brackets, a number or nothing", async () => {
    const rows =
      'x,y,post\n1,1,"[1, 18446744073709551000,9007199254740993]"\n2,2,[]\n3,3,\n4,4,7\n5,5,[ 8 ]\n6,6,(9 10)\n7,7,"[11, null]"\n';
    const dataset = await open("a.csv", text(rows));
    expect(await listsOf(dataset)).toEqual([
      [1n, 18446744073709551000n, 9007199254740993n],
      [],
      [],
      [7n],
      [8n],
      [9n, 10n],
      [11n],
    ]);
    const { bytes, report } = await written(csv, await dataOf(dataset));
    expect(report.losses).toEqual([]);
    expect(new TextDecoder().decode(bytes)).toMatch(
      /^id,x,y,post\n0,1,1,"\[1, 18446744073709551000, 9007199254740993\]"\n1,2,2,\[\]\n2,3,3,\[\]\n3,4,4,\[7\]\n/,
    );
  });

  it("of one id at most stay plain cells", async () => {
    const dataset = await open("a.csv", text("x,y,post\n1,1,[5]\n2,2,\n"));
    expect((await dataset.schema()).object).toMatchObject([{ name: "post", channels: 1 }]);
    const { bytes } = await written(csv, await dataOf(dataset));
    expect(new TextDecoder().decode(bytes)).toBe("id,x,y,post\n0,1,1,5\n1,2,2,\n");
  });

  it.each(["1;2", "[1, 2", "[1, a]", "[1.5, 2]", "a"])("%s is no id", async (cell) => {
    const dataset = await open("a.csv", text(`x,y,post\n1,1,"[1, 2]"\n2,2,"${cell}"\n`));
    await expect(dataset.select().read()).rejects.toThrow(
      "the column post should have ids of other objects as whole numbers",
    );
  });

  it("the id that stands for none is an error with its line", async () => {
    const dataset = await open("a.csv", text('x,y,post\n1,1,"[18446744073709551615, 2]"\n2,2,\n'));
    await expect(dataset.select().read()).rejects.toThrow(
      "a.csv, line 2: the id 18446744073709551615 in post, which stands for none",
    );
  });

  it("are texts where nobody takes them for ids", async () => {
    const { vertexColumns } = await (await open("a.csv", text('x,y,t\n1,1,"[1, 2]"\n2,2,[3]\n'), {})).select().read();
    expect(vertexColumns.get("t")!.values).toEqual(["[1, 2]", "[3]"]);
  });
});

const tableWith = (column: readonly unknown[], type: DataType): Uint8Array => {
  const x = column.map((_, i) => i);
  return tableToIPC(tableFromArrays({ x, y: x, post: [...column] }, { types: { post: type } }), { format: "file" })!;
};

describe("in Arrow", () => {
  it.each([
    ["int32", list(int32()), [[1, 2, 3], [], null, [4, null]], [[1n, 2n, 3n], [], [], [4n]]],
    ["int64", list(int64()), [[2n ** 53n + 1n], [-1n, 5n]], [[2n ** 53n + 1n], [-1n, 5n]]],
    ["uint64, large", largeList(uint64()), [[], [2n ** 64n - 2n], []], [[], [2n ** 64n - 2n], []]],
  ])("%s", async (_, type, column, expected) => {
    expect(await listsOf(await open("a.arrow", tableWith(column, type)))).toEqual(expected);
  });

  it("are left out and told where they are no relationship, and nothing else can be made of them", async () => {
    const bytes = tableWith([[1], [2, 3]], list(int32()));
    const sentence =
      "the column post is left out: it has lists of different lengths, which only a relationship can hold";
    const dataset = await open("a.arrow", bytes, {});
    expect(dataset.losses).toEqual([sentence]);
    expect((await open("a.arrow", bytes)).losses).toEqual([]);
    for (const table of [{ properties: [{ name: "post" }] }, { id: "post" }, { position: ["x", "post"] }]) {
      const refused = open("a.arrow", bytes, table);
      await expect(refused).rejects.toThrow(InvalidInput);
      await expect(refused).rejects.toThrow(
        "the column post has lists of different lengths, which only a relationship can hold",
      );
    }
  });

  it("offsets that go back, or beyond the values, are damage", async () => {
    const bytes = tableWith([[1, 2], [3], [4, 5, 6]], list(int32()));
    const offsets = Int32Array.of(0, 2, 3, 6);
    const at = Buffer.from(bytes).indexOf(Buffer.from(offsets.buffer));
    expect(at).toBeGreaterThan(0);
    for (const wrong of [
      [0, 3, 2, 6],
      [-1, 2, 3, 6],
      [0, 2, 3, 7],
      [0, 2, 2 ** 30, 6],
    ]) {
      const other = bytes.slice();
      other.set(new Uint8Array(Int32Array.from(wrong).buffer), at);
      await expect((async () => (await open("a.arrow", other)).select().read())()).rejects.toThrow(OctavoError);
    }
  });
});

describe("in Parquet", () => {
  const made = async (rows: readonly string[]): Promise<Uint8Array> => {
    const lines = rows.map((cell, i) => `${i},${i},${cell && `"${cell}"`}\n`).join("");
    return (await written(parquet, await dataOf(await open("a.csv", text(`x,y,post\n${lines}`))))).bytes;
  };

  it("that come out even are seen by looking: 4 values in 2 rows", async () => {
    const bytes = await made(["[1]", "[2, 3, 4]"]);
    expect((await open("a.parquet", bytes, {})).losses).toEqual([
      expect.stringMatching(/^the column post is left out: it has lists of different lengths/),
    ]);
    expect(await listsOf(await open("a.parquet", bytes))).toEqual([[1n], [2n, 3n, 4n]]);
  });

  it("of more ids than there is room for are refused before they are read", async () => {
    const bytes = await made(
      Array.from({ length: 200 }, (_, i) => (i === 7 ? `[${Array.from({ length: 300 }, (_, k) => k)}]` : "1")),
    );
    const dataset = await open("a.parquet", bytes, post, { chunkBytes: 1 << 17 });
    await expect(dataset.select().read()).rejects.toThrow(LimitExceeded);
    await expect(dataset.select().read()).rejects.toThrow("lists of up to 300 ids in 200 rows");
  });
});

describe("round trips", () => {
  const ids = fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 2n }), { maxLength: 4 });
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
  it.each(kinds)("%s: equal lists, whatever comes between", { timeout: 30_000 }, async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(ids, { minLength: 1, maxLength: 12 }), fc.boolean(), async (rows, lines) => {
        const head = lines ? "id,x0,y0,x1,y1,size,post" : "id,x,y,size,post";
        const body = rows.map((own, i) => `${i + 5},${lines ? `${i},1,` : ""}${i},2,${7 * i},"[${own}]"\n`).join("");
        const table = { id: "id", ...post };
        const source = await open("a.csv", text(`${head}\n${body}`), table);
        expect(await listsOf(source)).toEqual(rows);
        const { bytes, report } = await written(KINDS[name], await dataOf(source));
        expect(report.losses).toEqual([]);
        const again = await open(name, bytes, table);
        expect(await listsOf(again)).toEqual(rows);
        expect(await diffDatasets(source, again)).toMatchObject({ equal: true });
      }),
      { numRuns: 15 },
    );
  });
});

it("damaged lists are read, or one of our errors", { timeout: 60_000 }, async () => {
  const source = await open("a.csv", text('x,y,post\n1,1,"[1, 2, 3]"\n2,2,[]\n3,3,[7]\n4,4,"[8, 9]"\n'));
  for (const name of ["a.parquet", "a.arrow"] as const) {
    const { bytes } = await written(KINDS[name], await dataOf(source));
    const attempt = async (some: Uint8Array): Promise<void> => {
      try {
        await (await open(name, some, post, { chunkBytes: 1 << 20 })).select().read();
      } catch (error) {
        expect(error).toBeInstanceOf(OctavoError);
      }
    };
    for (let length = 0; length < bytes.length; length += 37) await attempt(bytes.slice(0, length));
    for (let at = 0; at < bytes.length; at += 3) {
      const other = bytes.slice();
      other[at]! ^= at % 2 === 0 ? 0xff : 0x01;
      await attempt(other);
    }
  }
});
