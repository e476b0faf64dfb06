/** GraphML and lists of edges. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat } from "../../bytes/concat.js";
import { feedOf } from "../../convert/feed.js";
import { writeFeed } from "../../convert/feed-store.js";
import { convertToFile } from "../../convert/files.js";
import { OctavoError } from "../../errors.js";
import type { Batch, VectorDataset } from "../../model/vectors.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { openZarrVectors } from "../zarr-vectors/index.js";
import { kinds } from "./kinds.js";
import { openInterchange } from "./open.js";
import type { OpenFileOptions } from "./types.js";

const kindOf = (id: string) => kinds.find((kind) => kind.id === id)!;

async function opened(id: string, text: string, options: OpenFileOptions = {}, nodes?: string): Promise<VectorDataset> {
  const store = memoryStore();
  await store.set(Key.of(`a.${id}`), new TextEncoder().encode(text));
  if (nodes !== undefined) await store.set(Key.of("a.nodes"), new TextEncoder().encode(nodes));
  return openInterchange(kindOf(id), store, Key.of(`a.${id}`), options);
}

async function written(id: string, dataset: VectorDataset): Promise<{ text: string; losses: readonly string[] }> {
  const pieces: Uint8Array[] = [];
  const sink = {
    write: async (bytes: Uint8Array) => void pieces.push(bytes.slice()),
    commit: async () => {},
    abort: async () => {},
  };
  const { losses } = await convertToFile(await feedOf(dataset, {}), kindOf(id), sink);
  return { text: new TextDecoder().decode(concat(pieces)), losses };
}

const HEAD = '<?xml version="1.0"?><graphml><key id="a" for="node" attr.name="X" attr.type="float"/>';
const GRAPH = `${HEAD}<key id="b" for="node" attr.name="y" attr.type="double"><default>7.5</default></key>
<key id="c" for="node" attr.name="kind" attr.type="string"/><key id="d" for="edge" attr.name="w" attr.type="long"/>
<graph edgedefault="directed"><node id="p &amp; q"><data key="a">1</data><data key="b">2</data><data key="c">soma</data></node>
<node id="r"><data key="a">-1.25</data></node><edge source="r" target="p &amp; q"><data key="d">9007199254740993</data></edge></graph></graphml>`;

const valuesIn = (columns: Batch["vertexColumns"], name: string): unknown[] => [
  ...(columns.get(name)!.values as string[]),
];

describe("GraphML", () => {
  it("is a graph with typed data, defaults and names", async () => {
    const batch = await (await opened("graphml", GRAPH)).select().read();
    expect([...batch.positions]).toEqual([1, 2, 0, -1.25, 7.5, 0]);
    expect([...batch.links!.ends]).toEqual([1, 0]);
    expect(valuesIn(batch.vertexColumns, "node")).toEqual(["p & q", "r"]);
    expect(valuesIn(batch.vertexColumns, "kind")).toEqual(["soma", ""]);
    expect(valuesIn(batch.links!.columns, "w")).toEqual([9007199254740993n]);
  });

  it("tells of data that are called as the names of nodes are", async () => {
    const { losses = [] } = await opened("graphml", GRAPH.replace('attr.name="kind"', 'attr.name="node"'));
    expect(losses).toEqual(["the data node of nodes: that is what their names are here"]);
    expect((await opened("graphml", GRAPH)).losses ?? []).toEqual([]);
  });

  it("keeps all of it through a store and back", async () => {
    const store = memoryStore();
    const first = await opened("graphml", GRAPH);
    await writeFeed(await feedOf(first, {}), store, Prefix.root);
    const { text, losses } = await written("graphml", await openZarrVectors(store, Prefix.root));
    expect(losses).toEqual([]);
    const [before, after] = [await first.select().read(), await (await opened("graphml", text)).select().read()];
    const rows = (batch: Batch) =>
      valuesIn(batch.vertexColumns, "node")
        .map((name, i) => [
          name,
          ...batch.positions.subarray(3 * i, 3 * i + 3),
          valuesIn(batch.vertexColumns, "kind")[i],
        ])
        .sort();
    expect(rows(after)).toEqual(rows(before));
    expect(valuesIn(after.links!.columns, "w")).toEqual([9007199254740993n]);
    expect(text).toContain('edgedefault="directed"');
  });

  it.each([
    [GRAPH.replace('target="p &amp; q"', 'target="s"'), 'an edge leads to "s", which is no node'],
    [GRAPH.replace('id="r"', 'id="p &amp; q"'), "is there twice"],
    [GRAPH.replace("-1.25", "far"), 'is "far", expected double'],
    [GRAPH.replace("9007199254740993", "92233720368547758080"), "expected long"],
    [GRAPH.replace('key="c"', 'key="z"'), "which is not declared"],
    [GRAPH.replace("<edge ", "<hyperedge/><edge "), "has a <hyperedge>"],
    [GRAPH.replaceAll('"y"', '"why"'), "has no data y of nodes"],
    [GRAPH.replace("-1.25", "NaN"), "has the coordinate NaN"],
    [GRAPH.replace('key="d"', 'key="c"'), 'data of the key "c" in a <edge>, and they are declared for node'],
    [GRAPH.replace('id="d"', 'id="c"'), 'the key "c" is declared twice'],
    [GRAPH.replace("7.5", "high"), 'the default of y is "high", expected double'],
    [GRAPH.replace("<data", '<edge source="r" target="r"/><data'), "a <edge> in a <node>"],
  ])("refuses what is wrong: %#", async (text, message) => {
    await expect(opened("graphml", text)).rejects.toThrow(message);
  });

  it("keeps data apart that nodes and edges have of one key", async () => {
    const batch = await (
      await opened(
        "graphml",
        GRAPH.replace('for="edge"', 'for="all"').replace('<node id="r">', '<node id="r"><data key="d">5</data>'),
      )
    )
      .select()
      .read();
    expect(valuesIn(batch.vertexColumns, "w")).toEqual([-(2n ** 63n), 5n]);
    expect(valuesIn(batch.links!.columns, "w")).toEqual([9007199254740993n]);
  });

  it("takes the data that are named for coordinates", async () => {
    const text = GRAPH.replace('"X"', '"lon"').replace('"y"', '"lat"');
    const dataset = await opened("graphml", text, { table: { position: ["lat", "lon", "alt"] } });
    expect([...(await dataset.select().read()).positions]).toEqual([2, 1, 0, 7.5, -1.25, 0]);
  });

  it("fails with Octavo's errors wherever it ends", async () => {
    for (let length = 0; length < GRAPH.length; length += 3)
      await expect(opened("graphml", GRAPH.slice(0, length))).rejects.toBeInstanceOf(OctavoError);
  });
});

describe("a list of edges", () => {
  it("has its nodes in comments or in a table beside, and weights", async () => {
    const batch = await (await opened("edges", "# hello\n# node a 1 2 3\n# node b 4 5 6\na b 0.5\nb a\n"))
      .select()
      .read();
    expect([...batch.positions]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...batch.links!.ends]).toEqual([0, 1, 1, 0]);
    expect(valuesIn(batch.links!.columns, "weight")).toEqual([0.5, Number.NaN]);
    const beside = await (await opened("edges", "7 9\n", {}, "9 1 2\n7 3 4 5\n")).select().read();
    expect([...beside.positions, ...beside.links!.ends]).toEqual([1, 2, 0, 3, 4, 5, 1, 0]);
    expect(valuesIn(beside.vertexColumns, "node_id")).toEqual([9, 7]);
  });

  it("has nodes wherever their lines are, and names in UTF-8 or of 64 bits", async () => {
    const batch = await (await opened("edges", "é 7\n# node 7 1 2 3\n7 é\n# node é 4 5 6\n")).select().read();
    expect([...batch.links!.ends]).toEqual([1, 0, 0, 1]);
    expect(valuesIn(batch.vertexColumns, "node")).toEqual(["7", "é"]);
    const long = await opened("edges", "# node 720575940626838908 1 2 3\n# node -9223372036854775808 4 5 6\n");
    expect(valuesIn((await long.select().read()).vertexColumns, "node_id")).toEqual([
      720575940626838908n,
      -(2n ** 63n),
    ]);
    const longer = await opened("edges", "# node 9223372036854775808 1 2 3\n# node 007 1 2 3\n");
    expect(valuesIn((await longer.select().read()).vertexColumns, "node")).toEqual(["9223372036854775808", "007"]);
  });

  it.each([
    ["a b\n", 'line 1: nothing says where node "a" lies'],
    ["# node a 1 2 3\n# node a 1 2 3\n", 'line 2: node "a" is there twice'],
    ["# node a 1 2 3\na\n", "line 2: an edge has one end only"],
    ["# node a 1 2 3\na a 1 2\n", 'line 2: "2" after the weight'],
    ["# node a 1 x 3\n", '"x" where y was expected'],
    ["# node a 1 nan 3\n", "has the coordinate NaN"],
    [`# node ${"a".repeat(1_048_577)} 1 2 3\n`, "the name of a node has 1048577 bytes, at most 1048576 are read"],
  ])("refuses what is wrong: %#", async (text, message) => {
    await expect(opened("edges", text)).rejects.toThrow(message);
  });

  it("comes back as it was written, as does GraphML", async () => {
    const graph = fc.record({
      places: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 12 }),
      ends: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer()), { maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(graph, fc.constantFrom("edges", "graphml"), async ({ places, ends }, id) => {
        const nodes = places.map((place, i) => `# node ${i + 3} ${place} ${i} -1\n`);
        const edges = ends.map(([a, b, w]) => `${(a % places.length) + 3} ${(b % places.length) + 3} ${w}\n`);
        const first = await opened("edges", [...nodes, ...edges].join(""));
        const { text, losses } = await written(id, first);
        expect(losses).toEqual([]);
        const [before, after] = [await first.select().read(), await (await opened(id, text)).select().read()];
        expect([...after.positions]).toEqual([...before.positions]);
        expect([...after.links!.ends]).toEqual([...before.links!.ends]);
        if (ends.length > 0)
          expect(valuesIn(after.links!.columns, "weight")).toEqual(valuesIn(before.links!.columns, "weight"));
      }),
      { numRuns: 40 },
    );
  });
});
