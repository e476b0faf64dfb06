/** TCK: by hand, both byte orders and widths, round trips, files that were cut off. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, paths, written } from "../../../test/interchange.js";
import { concat } from "../../bytes/concat.js";
import { swapBytes } from "../../bytes/swap.js";
import { OctavoError } from "../../errors.js";
import { file } from "./tck.js";

const NONE = [Number.NaN, Number.NaN, Number.NaN];
const END = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];

/** A file by hand; its data begin at byte 200. */
function tck(lines: readonly string[], ...lists: readonly (number | readonly number[])[]): Uint8Array {
  const values = lists.flat();
  const wide = lines.some((line) => line.includes("Float64"));
  const numbers = wide ? Float64Array.from(values) : Float32Array.from(values);
  const plain = new Uint8Array(numbers.buffer);
  const data = lines.some((line) => line.endsWith("BE")) ? swapBytes(plain, wide ? 8 : 4) : plain;
  const head = new Uint8Array(200);
  head.set(new TextEncoder().encode(`mrtrix tracks\n${lines.join("\n")}\nfile: . 200\nEND\n`));
  return concat([head, data]);
}

const two = [1, 2, 3, 4, 5, 6, ...NONE, 7, 8, 9.5, ...NONE];

describe("reading", () => {
  it.each(["Float32LE", "Float32BE", "Float64LE", "Float64BE"])("%s", async (datatype) => {
    const dataset = await openBytes(file, "a.tck", tck([`datatype: ${datatype}`, "count: 2"], ...two, ...END));
    const { positions, parts, ids } = await dataset.select().read();
    expect([...positions]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9.5]);
    expect(positions).toBeInstanceOf(datatype.includes("64") ? Float64Array : Float32Array);
    expect([...parts]).toEqual([0, 2, 3]);
    expect([...ids]).toEqual([0n, 1n]);
    expect(dataset.levels[0]!.objects).toBe(2);
    expect((await dataset.index()).notes).toEqual([]);
  });

  it("packed with gzip", async () => {
    const packed = new Uint8Array(gzipSync(tck([], ...two, ...END)));
    const { positions } = await (await openBytes(file, "a.tck.gz", packed)).select().read();
    expect([...positions]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9.5]);
  });

  it("counts that are wrong, and bytes after the end, are told", async () => {
    const dataset = await openBytes(file, "a.tck", tck(["count: 7"], ...two, ...END, 1, 2, 3));
    expect((await dataset.index()).notes).toEqual([
      "memory:/a.tck has bytes after its end mark, which nobody reads",
      "memory:/a.tck has 2 streamlines, and its header says 7",
    ]);
    expect(dataset.notes).toEqual(["its header does not say which type it has; Float32LE is taken for granted"]);
  });

  it("streamlines without vertices are there", async () => {
    const index = await (await openBytes(file, "a.tck", tck([], ...NONE, ...two, ...NONE, ...END))).index();
    expect(index.objects!.ids.length).toBe(4);
    expect([...(await index.load(0, {})).parts]).toEqual([0, 0, 2, 3, 3]);
  });

  it("nothing but the end mark is no streamline", async () => {
    const index = await (await openBytes(file, "a.tck", tck([], ...END))).index();
    expect([index.vertices.length, index.objects!.ids.length]).toEqual([0, 0]);
  });

  it("many streamlines are several pieces, which together are all of them", async () => {
    const values: number[] = [];
    for (let i = 0; i < 3000; i++) {
      for (let k = 0; k < 100; k++) values.push(i, k, 0);
      values.push(...NONE);
    }
    const dataset = await openBytes(file, "a.tck", tck([], values.concat(END)));
    const { vertices, objects } = await dataset.index();
    expect(vertices.length).toBe(2);
    expect(vertices.reduce((sum, count) => sum + count)).toBe(300_000);
    expect(objects!.starts.at(-1)).toBe(3000);
    const { positions } = await dataset.select({ object: [2999] }).read();
    expect([...positions.subarray(-3)]).toEqual([2999, 99, 0]);
  });
});

describe("damage", () => {
  it("without the end mark it was cut off; whole streamlines are read where that is wanted", async () => {
    for (const rest of [[], [1, 2, 3], [1]]) {
      const bytes = tck([], ...two, ...rest);
      await expect((await openBytes(file, "a.tck", bytes)).index()).rejects.toThrow(
        `memory:/a.tck ends at byte ${bytes.length} without its end mark, after 2 whole streamlines`,
      );
      const bad: string[] = [];
      const dataset = await openBytes(file, "a.tck", bytes, { onBad: (error) => bad.push(error.message) });
      expect((await dataset.select().read()).ids.length).toBe(2);
      expect(bad.length).toBe(1);
    }
    const within = await openBytes(file, "a.tck", tck([], ...two, 1, 2, 3, ...END));
    await expect(within.index()).rejects.toThrow("within a streamline, after 2 whole streamlines");
  });

  it("coordinates that are no numbers are left out where that is wanted", async () => {
    const bytes = tck([], ...two, 1, Number.NaN, 3, ...NONE, 5, 6, 7, ...NONE, ...END);
    await expect((await openBytes(file, "a.tck", bytes)).select().read()).rejects.toThrow("byte 264: object 2 has");
    const bad: string[] = [];
    const dataset = await openBytes(file, "a.tck", bytes, { onBad: (error) => bad.push(error.message) });
    const { ids, positions, parts } = await dataset.select().read();
    expect([...ids]).toEqual([0n, 1n, 3n]);
    expect([...positions.subarray(-3)]).toEqual([5, 6, 7]);
    expect([...parts]).toEqual([0, 2, 3, 4]);
    expect(bad).toEqual(["memory:/a.tck, byte 264: object 2 has the coordinate NaN"]);
  });

  it.each([
    [["datatype: Int32LE"], "has the datatype Int32LE"],
    [["file: other.dat 100"], 'has its data at "other.dat 100"'],
    [["file: . 3"], 'has its data at ". 3"'],
    [["file: . 99999999999999999999"], "has its data at"],
  ])("%s", async (lines, message) => {
    await expect(openBytes(file, "a.tck", tck(lines, ...END))).rejects.toThrow(message);
  });

  it("every shorter file is an error or says so", async () => {
    const bytes = tck(["count: 2"], ...two, ...END);
    for (let length = 0; length < bytes.length; length++) {
      const read = async () => (await openBytes(file, "a.tck", bytes.slice(0, length))).select().read();
      await expect(read(), `${length}`).rejects.toBeInstanceOf(OctavoError);
    }
  });
});

describe("writing", () => {
  it("gives back the file, with every line of its header", async () => {
    const lines = ["command_history: a", "command_history: b", "count: 0000000002", "datatype: Float32BE", "x: é"];
    const bytes = tck(lines, ...two, ...END);
    const dataset = await openBytes(file, "a.tck", bytes);
    const { bytes: again, report } = await written(file, await dataOf(dataset));
    expect(again).toEqual(bytes);
    expect(report).toEqual({ vertices: 3, objects: 2, losses: [] });
  });

  it("a new file has a header that says where its data are", async () => {
    const { bytes } = await written(file, paths([[1, 2, 3], [], [4, 5, 6, 7, 8, 9]]));
    const text = new TextDecoder().decode(bytes.subarray(0, 80));
    const [, offset] = /^mrtrix tracks\ncount: 0000000003\ndatatype: Float32LE\nfile: \. (\d+)\nEND\n/.exec(text)!;
    expect(bytes.length).toBe(Number(offset) + 4 * 3 * (3 + 3 + 1));
    const index = await (await openBytes(file, "a.tck", bytes)).index();
    expect([...(await index.load(0, {})).parts]).toEqual([0, 1, 1, 3]);
  });

  it("what it cannot hold is told", async () => {
    const info = { name: "w", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;
    const w = { info, values: Float32Array.of(1) };
    const data = paths([[0.1, 2, 3]], {
      vertex: [w],
      object: [w],
      wide: true,
      ids: BigInt64Array.of(5n),
      groups: [BigInt64Array.of(5n)],
    });
    const { report } = await written(file, data);
    expect(report.losses).toEqual([
      "the vertex attribute w, which has no place there",
      "the object attribute w, which has no place there",
      "the ids of objects: streamlines are numbered from 0 on",
      "digits of the coordinates, which are float32 there",
    ]);
  });

  it("other units become millimetres, and what is no path is refused", async () => {
    const { bytes } = await written(file, paths([[1000, 2000, 3000]], { unit: "micrometer" }));
    expect([...(await (await openBytes(file, "a.tck", bytes)).select().read()).positions]).toEqual([1, 2, 3]);
    await expect(written(file, paths([[1, 2, 3]], { geometry: "points" }))).rejects.toThrow("has points");
    await expect(written(file, paths([[1, Number.NaN, 3]]))).rejects.toThrow("has the coordinate NaN");
  });

  it("what is written is read", async () => {
    const coordinate = fc.float({ noNaN: true, noDefaultInfinity: true });
    const part = fc.array(fc.tuple(coordinate, coordinate, coordinate), { maxLength: 5 }).map((rows) => rows.flat());
    const lists = fc.array(part, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(lists, fc.constantFrom("Float32LE", "Float64BE"), async (parts, datatype) => {
        const data = paths(parts, { headers: { tck: { lines: [`datatype: ${datatype}`] } } });
        const { bytes } = await written(file, data);
        const index = await (await openBytes(file, "a.tck", bytes)).index();
        const found: number[][] = [];
        for (let piece = 0; piece < index.vertices.length; piece++) {
          const { positions, parts: own } = await index.load(piece, {});
          for (let i = 0; i + 1 < own.length; i++)
            found.push([...positions.subarray(3 * own[i]!, 3 * own[i + 1]!)].map((x) => x + 0));
        }
        expect(found).toEqual(parts.map((own) => own.map((x) => x + 0)));
      }),
      { numRuns: 100 },
    );
  });
});
