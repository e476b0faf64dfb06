import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../bytes/json.js";
import { OctavoError } from "../../errors.js";
import type { Batch, VectorDataset } from "../../model/vectors.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { scratchIn } from "../../store/scratch.js";
import { kinds } from "./kinds.js";
import { openInterchange } from "./open.js";
import { file, parseSwc } from "./swc.js";
import type { FileData, OpenFileOptions } from "./types.js";

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const swc = kinds.find(({ id }) => id === "swc")!;

async function opened(bytes: Uint8Array | string, options: OpenFileOptions = {}): Promise<VectorDataset> {
  const store = memoryStore();
  await store.set(Key.of("a.swc"), typeof bytes === "string" ? ascii(bytes) : bytes);
  return openInterchange(swc, store, Key.of("a.swc"), options);
}

/** As FileData has it, without a store between. */
async function dataOf(dataset: VectorDataset, more: Partial<FileData> = {}): Promise<FileData> {
  return {
    ...dataset,
    geometry: dataset.geometries[0]!,
    schema: await dataset.schema(),
    headers: await dataset.headers(),
    groups: async () => ({ members: [], columns: new Map() }),
    batches: (options) => dataset.select().batches(options),
    ...more,
  };
}

async function written(data: FileData): Promise<{ text: string; bytes: Uint8Array; losses: readonly string[] }> {
  const pieces: Uint8Array[] = [];
  const sink = {
    write: async (bytes: Uint8Array) => void pieces.push(bytes.slice()),
    commit: async () => {},
    abort: async () => {},
  };
  const { losses } = await file.write!(sink, data, { scratch: scratchIn({ store: memoryStore() }, 1 << 20) });
  const bytes = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
  return { text: new TextDecoder().decode(bytes), bytes, losses };
}

const EXAMPLE = `# made by hand\r
 1 1 10.50 -2.00 3.25 4.5 -1 \r
 2 3 11.00 -2.00 3.25 0.5 1 \r
# between
 4 3 12.75 0.00 3.25 0.5 2 \r
 5 2 1.00 0.00 3.25 1.5 1 \r
`;

describe("an SWC file", () => {
  it("is one skeleton with numbers, types and radii", async () => {
    const dataset = await opened(EXAMPLE);
    const batch = await dataset.select().read();
    expect([...batch.positions]).toEqual([10.5, -2, 3.25, 11, -2, 3.25, 12.75, 0, 3.25, 1, 0, 3.25]);
    expect([...batch.links!.ends]).toEqual([1, 0, 2, 1, 3, 0]);
    const column = (name: string) => [...(batch.vertexColumns.get(name)!.values as Int32Array)];
    expect([column("node_id"), column("type"), column("radius")]).toEqual([
      [1, 2, 4, 5],
      [1, 3, 3, 2],
      [4.5, 0.5, 0.5, 1.5],
    ]);
    expect(dataset).toMatchObject({ bounds: { min: [1, -2, 3.25], max: [12.75, 0, 3.25] }, geometries: ["skeletons"] });
    expect(dataset.axes.map(({ unit }) => unit)).toEqual(["micrometer", "micrometer", "micrometer"]);
  });

  it("comes out as it was: comments, blanks, decimals, line ends, a last line without end", async () => {
    for (const text of [EXAMPLE, EXAMPLE.slice(0, -1), "1\t1\t-0.0\t1e-9\t3\t1\t-1\n\n# end\n\n"])
      expect((await written(await dataOf(await opened(text)))).text).toBe(text);
    const latin = Uint8Array.of(...ascii("# "), 0xb5, ...ascii("m\n1 1 0 0 0 1 -1\n"));
    expect([...(await written(await dataOf(await opened(latin)))).bytes]).toEqual([...latin]);
  });

  it.each([
    ["1 1 0 0 0 1 -1\n2 1 0 0 0 1 9\n", "line 2: node 2 has the parent 9, which is not there"],
    ["1 1 0 0 0 1 -1\n# x\n2 1 0 0 0 1 -1\n", "line 3: node 2 is a second root, beside node 1 of line 1"],
    ["1 1 0 0 0 1 -1\n2 1 0 0 0 1 3\n3 1 0 0 0 1 2\n", "is its own ancestor"],
    ["1 1 0 0 0 1 2\n2 1 0 0 0 1 1\n", "is its own ancestor"],
    ["3 1 0 0 0 1 3\n", "line 1: node 3 is its own ancestor"],
    ["1 1 0 0 0 1 -1\n1 1 0 0 0 1 1\n", "line 2: node 1 is there twice, for the first time on line 1"],
    ["1 1 0 nan 0 1 -1\n", "line 1: y is NaN"],
    ["1 1 0 0 0 inf -1\n", "line 1: radius is Infinity"],
    ["1 1 0 0 0 1\n", "nothing where the number of its parent was expected"],
    ["1 1 0 0 0 1 -1 7\n", '"7" after the 7 columns'],
    ["1 1 0 0 zero 1 -1\n", '"zero" where z was expected'],
    ["4294967296 1 0 0 0 1 -1\n", "4294967296 is beyond the 32 bits of the number of a node"],
    ["# nothing\n", "without a node"],
    ["", "without a node"],
  ])("refuses %j", async (text, message) => {
    await expect(opened(text)).rejects.toThrow(message);
    const told: Error[] = [];
    const rest = await opened(text, { onBad: (problem) => told.push(problem) });
    expect(told[0]?.message).toContain(message);
    expect((await rest.objectIds()).length).toBe(0);
  });

  it("fails with Octavo's errors wherever it ends", () => {
    const bytes = ascii(EXAMPLE);
    for (let length = 0; length <= bytes.length; length++)
      try {
        parseSwc(bytes.subarray(0, length), "a.swc");
      } catch (error) {
        expect(error).toBeInstanceOf(OctavoError);
      }
  });

  const tree = fc
    .array(fc.tuple(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: 0, max: 7 })), {
      minLength: 1,
      maxLength: 40,
    })
    .map((nodes) =>
      nodes.map(([from, at, type], i) => ({ parent: i === 0 ? -1 : from % i, at, type, radius: at / 2 })),
    );

  it("gives back whatever tree was written, also from links that go either way", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.boolean(), async (nodes, turned) => {
        const dataset = await opened("1 1 0 0 0 1 -1\n");
        const like = await dataset.select().read();
        const links = nodes
          .slice(1)
          .flatMap(({ parent }, i) => (turned && i % 2 === 0 ? [parent, i + 1] : [i + 1, parent]));
        const values = (of: (node: (typeof nodes)[number]) => number) => Float64Array.from(nodes, of);
        const [type, radius] = ["type", "radius"].map((name) => like.vertexColumns.get(name)!.info);
        const batch: Batch = {
          ...like,
          positions: Float64Array.from(nodes.flatMap(({ at }, i) => [at, -at, i])),
          parts: Uint32Array.of(0, nodes.length),
          links: { width: 2, ends: Uint32Array.from(links), columns: new Map() },
          vertexColumns: new Map([
            ["type", { info: type!, values: Int32Array.from(nodes, (node) => node.type) }],
            ["radius", { info: radius!, values: values((node) => node.radius) }],
          ]),
        };
        const data = await dataOf(dataset, {
          headers: new Map<string, JsonObject>(),
          batches: async function* () {
            yield batch;
          },
        });
        const again = await (await opened((await written(data)).text)).select().read();
        const row = (of: Batch, vertex: number) => [...of.positions.subarray(3 * vertex, 3 * vertex + 3)].join();
        const edges = (of: Batch) =>
          Array.from({ length: of.links!.ends.length / 2 }, (_, i) =>
            [row(of, of.links!.ends[2 * i]!), row(of, of.links!.ends[2 * i + 1]!)].sort().join(" – "),
          ).sort();
        expect(again.positions.length).toBe(batch.positions.length);
        expect(edges(again)).toEqual(edges(batch));
      }),
      { numRuns: 60 },
    );
  });

  it("says what it cannot hold, in nanometres too", async () => {
    const dataset = await opened(EXAMPLE);
    const batch = await dataset.select().read();
    const axes = dataset.axes.map((axis) => ({ ...axis, unit: "nm" }));
    const data = await dataOf(dataset, {
      axes,
      headers: new Map(),
      batches: async function* () {
        yield { ...batch, ids: BigInt64Array.of(7n) };
      },
    });
    const { text, losses } = await written(data);
    expect(text.split("\n")[0]).toBe("1 1 0.0105 -0.002 0.00325 4.5 -1"); // the radius has a unit of its own
    expect(losses).toEqual(["the id 7 of the object"]);
    const radius = batch.vertexColumns.get("radius")!;
    for (const [unit, line] of [
      ["nm", "1 1 0.0105 -0.002 0.00325 0.0045 -1"],
      ["mm", "1 1 0.0105 -0.002 0.00325 4500 -1"],
      [undefined, "1 1 0.0105 -0.002 0.00325 0.0045 -1"], // as coordinates
      ["pixel", "1 1 0.0105 -0.002 0.00325 4.5 -1"], // which is no length
    ] as const) {
      const column = { ...radius, info: { ...radius.info, unit } };
      const vertexColumns = new Map([...batch.vertexColumns, ["radius", column] as const]);
      const other = await written({
        ...data,
        batches: async function* () {
          yield { ...batch, vertexColumns };
        },
      });
      expect(other.text.split("\n")[0]).toBe(line);
    }
    const two = {
      ...data,
      batches: async function* () {
        yield { ...batch, ids: BigInt64Array.of(1n, 2n) };
      },
    };
    await expect(written(two)).rejects.toThrow("several objects, and SWC holds one tree");
    await expect(written({ ...data, async *batches() {} })).rejects.toThrow(/nothing of .* is selected/);
    await expect(written({ ...data, geometry: "mesh" })).rejects.toThrow("has mesh, and SWC holds a tree");
    const loop = { ...batch, links: { ...batch.links!, ends: Uint32Array.of(0, 1, 1, 2, 2, 0, 3, 0) } };
    await expect(
      written({
        ...data,
        batches: async function* () {
          yield loop;
        },
      }),
    ).rejects.toThrow("a graph with cycles");
  });
});
