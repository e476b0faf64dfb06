/** Tables in text: cells by hand, types, what columns mean, round trips, bad input. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, written } from "../../../test/interchange.js";
import { OctavoError } from "../../errors.js";
import type { Batch } from "../../model/vectors.js";
import { file, tsv, xyz } from "./csv.js";
import type { OpenFileOptions } from "./types.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const opened = (text: string, options: OpenFileOptions = {}, name = "a.csv") =>
  openBytes(file, name, bytes(text), options);
const read = async (text: string, options: OpenFileOptions = {}, name?: string): Promise<Batch> =>
  (await opened(text, options, name)).select().read();
const column = ({ vertexColumns }: Batch, name: string): unknown[] => [
  ...(vertexColumns.get(name)!.values as unknown[]),
];

describe("cells", () => {
  it.each([
    ["commas", "x,y,z,n\n1,2,3,a\n4,5.5,6,b\n"],
    ["semicolons", "x;y;z;n\n1;2;3;a\n4;5.5;6;b"],
    ["tabs", "x\ty\tz\tn\r\n1\t2\t3\ta\r\n4\t5.5\t6\tb\r\n"],
    ["bars", "x|y|z|n\n1|2|3|a\n4|5.5|6|b\n"],
    ["blanks", "x y  z n\n  1 2\t3 a\n\n4  5.5 6 b  \r\n"],
    ["quotes", '"x","y","z","n"\n1,"2",3,"a"\n4,5.5,"6",b\n'],
    ["a byte order mark", "\ufeffx,y,z,n\n1,2,3,a\n4,5.5,6,b\n"],
    ["a comment", "# made by hand\n# more\nx,y,z,n\n1,2,3,a\n4,5.5,6,b\n"],
    ["names in a comment", "//X Y Z n\n1 2 3 a\n4 5.5 6 b\n"],
  ])("%s", async (_, text) => {
    const batch = await read(text);
    expect([...batch.positions]).toEqual([1, 2, 3, 4, 5.5, 6]);
    expect(batch.positions).toBeInstanceOf(Float64Array);
    expect(column(batch, "n")).toEqual(["a", "b"]);
    expect([...(await read(text, {}, "a.txt")).positions]).toEqual([...batch.positions]);
  });

  it("quotes hold separators, line ends and quotes", async () => {
    const batch = await read('x,y,t\n1,2,"a ""b"",\nc"\n3,4,""\n5,6,é\n');
    expect(column(batch, "t")).toEqual(['a "b",\nc', "", "é"]);
    expect(batch.dims).toBe(2);
  });

  it("without a header the first columns are coordinates", async () => {
    const batch = await read("1 2 3 7\n4 5 6 8", {}, "a.xyz");
    expect([...batch.positions]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(column(batch, "column4")).toEqual([7n, 8n]);
  });

  it("packed with gzip, and cells across pieces", async () => {
    const rows = Array.from({ length: 30_000 }, (_, i) => `${i},${i % 7},0.5,"${"t,".repeat(80)}${i}"`);
    const dataset = await openBytes(file, "a.csv.gz", new Uint8Array(gzipSync(`x,y,z,t\n${rows.join("\n")}`)));
    const index = await dataset.index();
    expect(index.vertices.length).toBeGreaterThan(1);
    const batch = await dataset.select().read();
    expect(batch.positions.length).toBe(90_000);
    expect(batch.positions[3 * 29_999]).toBe(29_999);
    expect(column(batch, "t").at(-1)).toMatch(/t,29999$/);
  });
});

describe("types", () => {
  const typed = async (...cells: string[]) => {
    const batch = await read(`x,y,c\n${cells.map((cell) => `1,2,${cell}\n`).join("")}`);
    const { info, values } = batch.vertexColumns.get("c")!;
    const { kind, size = "" } = info.dtype as { kind: string; size?: number };
    return [`${kind}${size}`, [...(values as unknown[])], info.absent];
  };

  it.each([
    [["1", "-2", "+3", " 4 "], "int8", [1n, -2n, 3n, 4n]],
    [
      ["864691135000000001", "9007199254740993", "-9223372036854775808"],
      "int8",
      [864691135000000001n, 9007199254740993n, -(2n ** 63n)],
    ],
    [["18446744073709551615", "0", "4000000000000000"], "uint8", [2n ** 64n - 1n, 0n, 4000000000000000n]],
    [["1", ""], "int8", [1n, -(2n ** 63n)]],
    [
      ["1", "", "2.5", "NA", "nan", "-inf"],
      "float8",
      [1, Number.NaN, 2.5, Number.NaN, Number.NaN, Number.NEGATIVE_INFINITY],
    ],
    [["-0", "1"], "float8", [-0, 1]],
    [["1e3", "2"], "float8", [1000, 2]],
    [["true", "False", " TRUE"], "bool1", [1, 0, 1]],
    [["true", ""], "string", ["true", ""]],
    [["007", "8"], "string", ["007", "8"]],
    [["18446744073709551616", "1"], "string", ["18446744073709551616", "1"]],
    [["18446744073709551615", "-1"], "string", ["18446744073709551615", "-1"]],
    [["1", "two"], "string", ["1", "two"]],
    [["1.2.3", "1"], "string", ["1.2.3", "1"]],
    [["NA", "null"], "string", ["NA", "null"]],
    [["", ""], "float8", [Number.NaN, Number.NaN]],
  ])("%j", async (cells, type, values) => {
    expect((await typed(...cells)).slice(0, 2)).toEqual([type, values]);
  });

  it("lists of numbers", async () => {
    const batch = await read('position,w\n"[1, 2, 3]",5\n"(4 5.5 6)",6\n');
    expect([...batch.positions]).toEqual([1, 2, 3, 4, 5.5, 6]);
    const text = await read('x,y,c\n1,2,"[1,2]"\n3,4,"[1,2,3]"\n');
    expect(column(text, "c")).toEqual(["[1,2]", "[1,2,3]"]);
    for (const no of ["[1,,2]", "[1,2", "[1 2)", "[true,false]", "[007,8]"])
      expect(column(await read(`x,y,c\n1,2,"${no}"\n`), "c")).toEqual([no]);
  });

  it("ids in lists have all of their digits, and none where there is none", async () => {
    const batch = await read('x,y,c\n1,2,"[9007199254740993, 18446744073709551614]"\n3,4,"( 1  null )"\n');
    const { info, values } = batch.vertexColumns.get("c")!;
    expect(info).toMatchObject({ channels: 2, dtype: { kind: "uint", size: 8 }, absent: 2n ** 64n - 1n });
    expect(values).toEqual(BigUint64Array.of(9007199254740993n, 18446744073709551614n, 1n, 2n ** 64n - 1n));
  });
});

const SYNAPSES = `id,pre_root_id,post_root_id,size,kind,pre_x,pre_y,pre_z,post_x,post_y,post_z
9007199254740993,864691135000000001,864691135000000002,10,a,1,2,3,4,5,6
18446744073709551615,864691135000000003,864691135000000004,200,b,7,8,9,10,11,12
`;

describe("what columns mean", () => {
  const lines = {
    start: ["pre_x", "pre_y", "pre_z"],
    end: ["post_x", "post_y", "post_z"],
    relationships: { pre: "pre_root_id", post: "post_root_id" },
    properties: [{ name: "size", dtype: "uint8" }],
    units: "voxel",
    resolution: [4, 4, 40],
  } as const;

  it("a column that only looks like ids is an attribute", async () => {
    const text = "id,pre_x,pre_y,post_x,post_y,n\n7,1,2,3,4,5\n7,5,6,7,8,6\n";
    for (const properties of [undefined, [{ name: "n" }]]) {
      const { ids, objectColumns } = await (await opened(text, { table: { properties } })).select().read();
      expect([...ids]).toEqual([0n, 1n]);
      expect(objectColumns.get("id")!.values).toEqual(BigInt64Array.of(7n, 7n));
    }
  });

  it("cells without a value are none in the type that is asked for, or an error", async () => {
    const as = async (dtype: string) =>
      (
        await (await opened("x,y,c\n1,2,3\n1,2,\n", { table: { properties: [{ name: "c", dtype }] } })).select().read()
      ).vertexColumns.get("c")!.values;
    expect(await as("float32")).toEqual(Float32Array.of(3, Number.NaN));
    expect(await as("string")).toEqual(["3", ""]);
    await expect(as("uint8")).rejects.toThrow(/row 1 has nothing as c, which uint8 cannot hold/);
  });

  it("synapses are lines with ids, relationships and properties; what is left is told", async () => {
    const dataset = await opened(SYNAPSES, { table: lines });
    expect(dataset.geometries).toEqual(["lines"]);
    expect(dataset.axes.map(({ name, unit }) => `${name} ${unit}`)).toEqual(["x nm", "y nm", "z nm"]);
    expect(dataset.notes).toEqual(["the column kind: others are named to be read"]);
    expect(dataset.attributes).toEqual({ relationships: ["pre", "post"] });
    const { positions, parts, ids, objectColumns } = await dataset.select().read();
    expect([...positions]).toEqual([4, 8, 120, 16, 20, 240, 28, 32, 360, 40, 44, 480]);
    expect([...parts]).toEqual([0, 2, 4]);
    expect(ids).toEqual(BigUint64Array.of(9007199254740993n, 18446744073709551615n));
    expect(objectColumns.get("pre")!.values).toEqual(BigInt64Array.of(864691135000000001n, 864691135000000003n));
    expect(objectColumns.get("size")!.values).toEqual(Uint8Array.of(10, 200));
    const one = await dataset.select({ object: [18446744073709551615n] }).read();
    expect([...one.positions]).toEqual([28, 32, 360, 40, 44, 480]);
  });

  it("usual names are found", async () => {
    expect((await opened(SYNAPSES)).geometries).toEqual(["lines"]);
    expect((await opened("X,Y,v\n1,2,3\n")).axes.map(({ name }) => name)).toEqual(["x", "y"]);
    expect((await opened("start_x,start_y,end_x,end_y\n1,2,3,4\n")).geometries).toEqual(["lines"]);
    expect((await opened("x1,y1,z1,x2,y2,z2\n1,2,3,4,5,6\n")).geometries).toEqual(["lines"]);
  });

  it("points with ids are objects; ids that repeat are an attribute, or an error where they were asked for", async () => {
    const batch = await read("id,x,y,v\n5,1,2,7\n3,3,4,8\n");
    expect([...batch.ids]).toEqual([5n, 3n]);
    expect([...batch.parts]).toEqual([0, 1, 2]);
    expect(column(batch, "v")).toEqual([7n, 8n]);
    const twice = "id,x,y\n5,1,2\n5,3,4\n";
    expect(column(await read(twice), "id")).toEqual([5n, 5n]);
    await expect(read(twice, { table: { id: "id" } })).rejects.toThrow("should be there once, found 5 again");
    await expect(read("id,x,y\n5.5,1,2\n", { table: { id: "id" } })).rejects.toThrow(
      "should have whole numbers as ids",
    );
    await expect(read("id,x,y\n5,1,2\n,1,2\n", { table: { id: "id" } })).rejects.toThrow("row 1 has no id");
  });

  it.each([
    [{ position: ["x", "q"] }, 'has no column "q"; it has x, y, z, t'],
    [{ position: ["x", "t"] }, "the column t should have numbers as coordinates, found string"],
    [{ start: ["x"] }, "lines have a start and an end"],
    [{ kind: "line" }, "has no columns that look like coordinates"],
    [{ units: "voxel" }, "need a resolution of 3 numbers, found none"],
    [{ properties: [{ name: "y", dtype: "float8" }] }, '"float8" is no type of columns'],
    [{ properties: [{ name: "y", dtype: "uint8" }] }, 'row 1 has "-5" as y, which uint8 cannot hold'],
    [{ properties: [{ name: "t", dtype: "int32" }] }, 'row 0 has "a" as t, which int32 cannot hold'],
    [{ relationships: { r: "t" } }, "the column t should have ids of other objects as whole numbers"],
  ] as const)("%j", async (table, message) => {
    await expect(read("x,y,z,t\n1,2,3,a\n4,-5,6,b\n", { table })).rejects.toThrow(message);
  });

  it("types are what the caller says", async () => {
    const table = {
      properties: [
        { name: "a", dtype: "float32" },
        { name: "b", dtype: "string" },
        { name: "c", dtype: "bool" },
        { name: "d", dtype: "float16" },
      ],
    };
    const { vertexColumns } = await read("x,y,a,b,c,d\n1,2,0.1,5,1,0.5\n", { table });
    expect(vertexColumns.get("a")!.values).toEqual(Float32Array.of(0.1));
    expect(vertexColumns.get("b")!.values).toEqual(["5"]);
    expect(vertexColumns.get("c")!.values).toEqual(Uint8Array.of(1));
    expect(vertexColumns.get("d")!.values).toEqual(Uint16Array.of(0x3800));
  });
});

describe("bad input", () => {
  it.each([
    ["x,y,z\n1,2,3\n4,5\n", "memory:/a.csv, line 3: 2 columns where 3 were expected"],
    ["x,y,z\n1,2,3\n\n4,5,6,7\n", "memory:/a.csv, line 4: 4 columns where 3 were expected"],
    ['x,y,z\n1,2,"3\n4,5,6\n', "memory:/a.csv, line 2: a quote that does not end its cell"],
    ['x,y,z\n1,2,"3"4\n', "memory:/a.csv, line 2: a quote that does not end its cell"],
    ["x,y,y\n1,2,3\n", 'has two columns "y"'],
    ["a,b\n1,2\n", "has no columns that look like coordinates; it has a, b"],
    ["", "memory:/a.csv is empty, and no table"],
    ["\r\n \n", "memory:/a.csv is empty, and no table"],
  ])("%j", async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it("rows that are ragged are left out where that is wanted", async () => {
    const bad: string[] = [];
    const batch = await read('x,y\n1,2\n3\n"4"x,5\n6,7\n', { onBad: (error) => bad.push(error.message) });
    expect([...batch.positions]).toEqual([1, 2, 6, 7]);
    expect(bad.length).toBe(2);
  });

  it.each([
    ["x,y,n\n1,2,3\nnan,2,3\n", 'line 3: a vertex has the coordinate "nan" as x'],
    ["x,y,n\n1,2,3\n\n1,,3\n", 'line 4: a vertex has the coordinate "" as y'],
    ["x,y,n\n1,-inf,3\n", 'line 2: a vertex has the coordinate "-inf" as y'],
    ['x,y,n\n"a ""b""",2,3\n1,2,3\n', 'line 2: a vertex has the coordinate "a \\"\\"b\\"\\"" as x'],
    ["id,x0,y0,x1,y1\n7,1,2,3,4\n8,1,2,foo,4\n", 'line 3: object 8 has the coordinate "foo" as x1'],
    ["p,position\n1,[1 2]\n1,[1 NaN]\n", 'line 3: a vertex has the coordinate "[1 NaN]" as position'],
  ])("%j says where a coordinate is none", async (text, message) => {
    await expect(read(text)).rejects.toThrow(`memory:/a.csv, ${message}`);
  });

  it("rows whose coordinates are none are left out where that is wanted", async () => {
    const bad: string[] = [];
    const onBad = ({ message }: Error) => bad.push(message.replace(/^.*line /, ""));
    const points = await read("x,y,n\nfoo,1,1\n1,2,2\n3,,3\n5,6,4\n", { onBad });
    expect([...points.positions]).toEqual([1, 2, 5, 6]);
    expect(column(points, "n")).toEqual([2n, 4n]);
    const lines = await opened("id,x0,y0,x1,y1,n\n7,1,2,3,inf,1\n9,1,2,3,4,2\n", { onBad });
    const { ids, positions, objectColumns } = await lines.select().read();
    expect([[...ids], [...positions], objectColumns.get("n")!.values]).toEqual([
      [9n],
      [1, 2, 3, 4],
      BigInt64Array.of(2n),
    ]);
    expect(await lines.select().count()).toMatchObject({ vertices: 2, objects: 1 });
    expect(bad.map((message) => message.slice(0, 1))).toEqual(["2", "4", "2"]);
  });

  it("tables that are read at the same time do not mix", async () => {
    const texts = ["x,y,t\n1,2,a\n3,4,b\n", "t;u;x;y\nlonger;than;5;6\n", "x y\n7 8\n"];
    const batches = await Promise.all(texts.map((text) => read(text)));
    expect(batches.map(({ positions }) => [...positions])).toEqual([
      [1, 2, 3, 4],
      [5, 6],
      [7, 8],
    ]);
  });

  it("text that is not UTF-8 says where", async () => {
    const raw = Uint8Array.from([...bytes("x,y,t\n1,2,ok\n1,2,"), 0xff, 10]);
    await expect((await openBytes(file, "a.csv", raw)).select().read()).rejects.toThrow(
      "line 3: text that is not UTF-8",
    );
  });

  it("a line without end is not held", async () => {
    const endless = `x,y\n"${"1".repeat(9 << 20)}`;
    await expect(read(endless, { limits: { chunkBytes: 1 << 20 } })).rejects.toThrow(
      "line 2 has more than the 1048576 bytes",
    );
  });

  it("every shorter file and any bytes are rows or one of our errors", async () => {
    const whole = bytes(`id,x,y,t\n5,1.5,-2e3,"a ""b"""\n6,1,2,true\n`);
    const attempt = async (some: Uint8Array): Promise<void> => {
      try {
        await (await openBytes(file, "a.csv", some)).select().read();
      } catch (error) {
        expect(error).toBeInstanceOf(OctavoError);
      }
    };
    for (let length = 0; length < whole.length; length++) await attempt(whole.slice(0, length));
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), attempt), { numRuns: 200 });
  });
});

describe("writing", () => {
  it("lines have both ends: objects without vertices have no row, other parts are refused", async () => {
    const data = await dataOf(await opened("id,start_x,start_y,end_x,end_y\n7,1,2,3,4\n8,5,6,7,8\n"));
    const withParts = (parts: number[]) => ({
      ...data,
      async *batches(): AsyncGenerator<Batch> {
        for await (const batch of data.batches())
          yield {
            ...batch,
            parts: Uint32Array.from(parts),
            objects: Int32Array.of(0, 1, 2),
            ids: BigInt64Array.of(7n, 9n, 8n),
          };
      },
    });
    const { bytes: found } = await written(file, withParts([0, 2, 2, 4]));
    expect(new TextDecoder().decode(found)).toBe("id,start_x,start_y,end_x,end_y\n7,1,2,3,4\n8,5,6,7,8\n");
    await expect(written(file, withParts([0, 1, 2, 4]))).rejects.toThrow(/the object 7 has other parts/);
  });

  it("a table comes back, bit by bit", async () => {
    const text = 'id,x,y,z,n,t,b\n5,0.1,2,3,-7,"a,""b""",true\n18446744073709551615,4,5.25,1e+300,8,é,false\n';
    const dataset = await opened(text);
    const { bytes: again, report } = await written(file, await dataOf(dataset));
    expect(new TextDecoder().decode(again)).toBe(text);
    expect(report).toEqual({ vertices: 2, objects: 2, losses: [] });
    const tabs = await written(tsv, await dataOf(dataset));
    expect(new TextDecoder().decode(tabs.bytes).split("\n")[2]).toBe(
      "18446744073709551615\t4\t5.25\t1e+300\t8\té\tfalse",
    );
    const blanks = await written(xyz, await dataOf(dataset));
    expect(new TextDecoder().decode(blanks.bytes).split("\n")[0]).toBe('0.1 2 3 5 -7 "a,""b""" true');
    expect(blanks.report.losses).toEqual(["the names of columns: id, n, t, b"]);
  });

  it("lines come back, with values of both ends", async () => {
    const text = "id,start_x,start_y,end_x,end_y,start.age,end.age,size\n7,1,2,3,4,10,20,5\n8,5,6,7,8,30,40,6\n";
    const dataset = await opened(text);
    const { vertexColumns, objectColumns } = await dataset.select().read();
    expect(vertexColumns.get("age")!.values).toEqual(BigInt64Array.of(10n, 20n, 30n, 40n));
    expect(objectColumns.get("size")!.values).toEqual(BigInt64Array.of(5n, 6n));
    expect(new TextDecoder().decode((await written(file, await dataOf(dataset))).bytes)).toBe(text);
  });

  it("any numbers are the same when they are read again", async () => {
    const coordinate = fc.double({ noNaN: true, noDefaultInfinity: true });
    const row = fc.tuple(
      coordinate,
      coordinate,
      fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }),
      fc.string({ unit: "grapheme" }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
        const cell = (value: string): string => `"${value.replaceAll('"', '""')}"`;
        const spelt = (value: number): string => (Object.is(value, -0) ? "-0" : `${value}`);
        const text = rows.map(([x, y, n, t]) => `${spelt(x)},${spelt(y)},${n},${cell(`t${t}`)}\n`).join("");
        const batch = await read(`x,y,n,t\n${text}`);
        expect([...batch.positions]).toEqual(rows.flatMap(([x, y]) => [x, y]));
        expect(column(batch, "n")).toEqual(rows.map(([, , n]) => n));
        expect(column(batch, "t")).toEqual(rows.map(([, , , t]) => `t${t}`));
      }),
      { numRuns: 100 },
    );
  });
});
