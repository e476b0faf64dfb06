/** Graphs that are too large to be held become the same stores as those that are not. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { random } from "../../test/fuzz/mutate.js";
import { folder, same, sameProblem } from "../../test/passing.js";

interface EdgeParts {
  readonly nodes?: number;
  readonly edges?: number;
  readonly name?: (node: number) => string;
  readonly weight?: (edge: number) => string;
  readonly z?: (node: number) => string;
  /** Edges before nodes. */
  readonly backwards?: boolean;
  /** Nodes as lines of a table. */
  readonly table?: boolean;
}

/** Nodes in no order, and edges between them; the first is an end of every tenth. */
function edges({
  nodes = 300,
  edges: count = 900,
  name = (node) => `${node}`,
  weight = () => "",
  z = (node) => ` ${node / 7}`,
  backwards = false,
  table = false,
}: EdgeParts): { readonly nodes: string; readonly edges: string; readonly text: string } {
  const dice = random(5);
  const order = Array.from({ length: nodes }, (_, i) => (i * 7919) % nodes);
  const places = order.map(
    (node) => `${table ? "" : "# node "}${name(node)} ${node % 20} ${dice.below(40)}${z(node)}\n`,
  );
  const links = Array.from({ length: count }, (_, edge) => {
    const [a, b] = [edge % 10 === 0 ? 0 : dice.below(nodes), dice.below(nodes)];
    return `${name(a)}\t${name(b)}${weight(edge)}\n`;
  });
  const [first, second] = [places.join(""), links.join("")];
  return { nodes: first, edges: second, text: backwards ? second + first : `# made here\n${first}\n${second}` };
}

describe("lists of edges", () => {
  it("nodes in comments, before the edges or after them", async () => {
    const report = await same("a.edges", edges({}).text);
    expect(report).toMatchObject({ vertices: 300, objects: 1, losses: [] });
    expect(await same("a.edges", edges({ backwards: true }).text)).toEqual(report);
    await same("a.edges", edges({}).text, { formatVersion: "0.7.0", chunkShape: [7, 9, 9] });
    await same("a.edges", edges({}).text, { chunkShape: [9, 9, 9], pyramid: { levels: 1 } });
  });
  it("weights of all edges, and of some", async () => {
    await same("a.edges", edges({ weight: (edge) => ` ${edge / 3}` }).text);
    await same("a.edges", edges({ weight: (edge) => (edge === 800 ? " -1e300" : "") }).text, { dtype: "float32" });
  });
  it("names that are long numbers, and texts", async () => {
    await same("a.edges", edges({ name: (node) => `${720575940600000000n + 3n * BigInt(node)}` }).text);
    await same("a.edges", edges({ name: (node) => `-${node + 1}` }).text);
    const texts = { nodes: 100, edges: 700, name: (node: number) => `n${"é".repeat(node % 9)}${node}` };
    await same("a.edges", edges(texts).text, {}, 60_000);
  });
  it("packed, and with blanks and line ends of all kinds", async () => {
    const text = edges({ weight: (edge) => ` ${edge}  ` }).text.replaceAll("\n", " \r\n\r\n");
    await same("a.edges.gz", gzipSync(text), {}, 20_000);
    await same("a.edges", text.trimEnd());
  });
  it("nodes in a table beside, and in both", async () => {
    const beside = join(folder, "b.nodes");
    const own = edges({ table: true });
    writeFileSync(beside, `# a table\n${own.nodes}`);
    await same("b.edges", `${own.edges}# node more 1 2 3\n`.replace("more", "4000"));
    // A short list of edges, of nodes that are too many to be held.
    await same("b.edges", own.edges.slice(0, own.edges.indexOf("\n", 900) + 1), {}, 9_000);
    expect(await sameProblem("b.edges", `${own.edges}# node 17 1 2 3\n`)).toMatch(
      /b\.edges, line 901: node "17" is there twice/,
    );
    writeFileSync(beside, `${own.nodes}5 1 2 3\n`);
    expect(await sameProblem("b.edges", own.edges)).toMatch(/b\.nodes, line 301: node "5" is there twice/);
    rmSync(beside);
  });
  it("more than is read at once", async () => {
    const weight = (edge: number): string => `${" ".repeat(1000)} ${edge / 9}`;
    await same("a.edges", edges({ nodes: 2000, edges: 9000, weight }).text, {}, 1 << 20);
  });
  it("damage", async () => {
    const { text } = edges({});
    expect(await sameProblem("a.edges", edges({ z: (node) => (node % 99 === 3 ? " nan" : "") }).text)).toMatch(
      /node "\d+": a vertex has the coordinate NaN/,
    );
    expect(await sameProblem("a.edges", `${text}7 x\ny 7\n`)).toMatch(/line 1203: nothing says where node "x" lies/);
    expect(await sameProblem("a.edges", `${text}x 7\n8 y\n`)).toMatch(/line 1203: nothing says where node "x" lies/);
    const twice = `${text}# node 5 1 2 3\n# node 4 1 2\n9 x`;
    expect(await sameProblem("a.edges", twice)).toMatch(/line 1203: node "5" is there twice/);
    expect(await sameProblem("a.edges", `${twice}\n9`)).toMatch(/line 1206: an edge has one end only/);
    expect(await sameProblem("a.edges", `${text}9 9 9 9`)).toMatch(/line 1203: "9" after the weight/);
    expect(await sameProblem("a.edges", `${text}# node 1000 1`)).toMatch(/line 1203: nothing where y was expected/);
  });
  it("refuses more texts than may be held", async () => {
    await expect(same("c.edges", edges({ name: (node) => `n${node}` }).text)).rejects.toThrow(
      /300 or more texts for names of nodes, which a store holds in one list; that takes about \d+ bytes/,
    );
  });
});

interface GraphmlParts {
  readonly nodes?: number;
  readonly edges?: number;
  readonly name?: (node: number) => string;
  readonly backwards?: boolean;
  /** More keys, and more data of each node or edge. */
  readonly keys?: string;
  readonly node?: (node: number) => string;
  readonly edge?: (edge: number) => string;
  readonly x?: (node: number) => string;
}

function graphml({
  nodes = 300,
  edges: count = 900,
  name = (node) => `${node}`,
  backwards = false,
  keys = "",
  node = () => "",
  edge = () => "",
  x = (own) => `${own % 20}`,
}: GraphmlParts): string {
  const dice = random(6);
  const places = Array.from({ length: nodes }, (_, i) => {
    const own = (i * 7919) % nodes;
    const y = own % 3 === 0 ? "" : `<data key="y"> ${dice.below(40)} </data>`;
    return `<node id="${name(own)}"><data key="x">${x(own)}</data>${y}${node(own)}</node>\n`;
  });
  const links = Array.from({ length: count }, (_, i) => {
    const [a, b] = [i % 10 === 0 ? 0 : dice.below(nodes), dice.below(nodes)];
    return `<edge source="${name(a)}" target="${name(b)}">${edge(i)}</edge>\n`;
  });
  const all = backwards ? [...links, ...places] : [...places, ...links];
  return `<?xml version="1.0"?><graphml><key id="x" for="node" attr.name="x" attr.type="float"/>
<key id="y" for="node" attr.name="y" attr.type="double"><default>7.5</default></key>${keys}
<graph edgedefault="${backwards ? "directed" : "undirected"}">${all.join("")}</graph></graphml>`;
}

const MORE = `<key id="k" for="node" attr.name="kind" attr.type="string"><default> none </default></key>
<key id="l" for="all" attr.name="label" attr.type="long"/><key id="f" for="node" attr.name="flag" attr.type="boolean"/>
<key id="i" for="edge" attr.name="count" attr.type="int"><default>-3</default></key><key id="g" for="graph" attr.name="g"/>
<key id="w" for="edge" attr.name="w" attr.type="float"/><key id="u" for="all" attr.name="unused"/>`;
const more = {
  keys: MORE,
  node: (own: number) =>
    `${own % 2 === 0 ? `<data key="k">a&amp;${own % 5}</data>` : ""}<data key="f">${own % 3 === 0}</data>${own === 200 ? "" : `<data key="l">${2n ** 60n + BigInt(own)}</data>`}`,
  edge: (own: number) =>
    `${own % 4 === 0 ? `<data key="i">${own}</data>` : ""}<data key="l">-${own}</data>${own === 850 ? '<data key="w">INF</data>' : ""}`,
};

describe("GraphML", () => {
  it("nodes before the edges or after them, with data and defaults", async () => {
    const report = await same("a.graphml", graphml({}));
    expect(report).toMatchObject({ vertices: 300, objects: 1, losses: [] });
    await same("a.graphml", graphml({ backwards: true }), { formatVersion: "0.7.0" });
    await same("a.graphml", graphml(more));
    await same("a.graphml", graphml({ ...more, backwards: true }), { chunkShape: [9, 9, 9], pyramid: { levels: 1 } });
    await same("a.graphml.gz", gzipSync(graphml(more)), {}, 20_000);
  });
  it("keys that are declared late, or for all", async () => {
    const late = '<key id="late" for="node" attr.name="late" attr.type="int"><default>4</default></key></graphml>';
    await same("a.graphml", graphml(more).replace("</graphml>", late));
    await same("a.graphml", graphml({}).replace('for="node" attr.name="x"', 'attr.name="X"'));
  });
  it("names that are long numbers, and texts", async () => {
    await same("a.graphml", graphml({ name: (node) => `${720575940600000000n + 3n * BigInt(node)}` }));
    await same("a.graphml", graphml({ nodes: 100, name: (node) => `é &lt; ${node}` }), {}, 60_000);
  });
  it("nodes that say of which object they are", async () => {
    const keys = '<key id="o" for="node" attr.name="object_id" attr.type="long"/>';
    const apart = graphml({ keys, nodes: 400, edges: 0, node: (own) => `<data key="o">${own < 200 ? 7 : 3}</data>` });
    expect((await same("a.graphml", apart.replace(/<node.*<\/node>\n/s, sorted))).objects).toBe(2);
    const mixed = graphml({ keys, node: (own) => `<data key="o">${own % 2}</data>` });
    expect((await same("a.graphml", mixed)).objects).toBe(1);
  });
  it("coordinates that are named", async () => {
    const keys = '<key id="a" for="node" attr.name="alt" attr.type="long"><default>12</default></key>';
    await same("a.graphml", graphml({ keys }), { table: { position: ["y", "ALT", "x"] } });
  });
  it("more than is read at once", async () => {
    const x = (node: number): string => `${" ".repeat(1000)}${node % 20}`;
    const edge = (own: number): string => `${more.edge(own)}${"<!-- -->".repeat(300)}`;
    await same("a.graphml", graphml({ ...more, edge, x, nodes: 2000, edges: 3000 }), {}, 1 << 20);
  });
  it("damage", async () => {
    const text = graphml(more);
    const changed = (from: string, to: string): string => text.replace(from, to);
    const problems: [string, RegExp][] = [
      [graphml({ x: (node) => (node % 99 === 3 ? "nan" : "1") }), /node "\d+": a vertex has the coordinate NaN/],
      [graphml({ x: (node) => (node === 40 ? "far" : "1") }), /x of node \d+ is "far", expected double/],
      [changed('<edge source="0"', '<edge source="-7"'), /byte \d+: an edge leads to "-7", which is no node/],
      [changed("</graph>", '<node id="7"/><node id="5"/></graph>'), /byte \d+: node "7" is there twice/],
      [changed("</graph>", "<hyperedge/></graph>"), /has a <hyperedge>/],
      [changed("<default>-3<", "<default>x<"), /the default of count is "x", expected int/],
      [changed('"x" attr.type', '"why" attr.type'), /has no data x of nodes/],
      [changed('<data key="f">', '<data key="i">'), /data of the key "i" in a <node>, and they are declared for edge/],
      [changed("</graphml>", ""), /ends within <graphml>/],
      [text.slice(0, text.length / 2), /ends within/],
    ];
    for (const [wrong, message] of problems) {
      expect(await sameProblem("a.graphml", wrong)).toMatch(message);
    }
  });
  it("refuses more texts than may be held", async () => {
    const keys = '<key id="t" for="edge" attr.name="t"/>';
    await expect(same("a.graphml", graphml({ keys, edge: (own) => `<data key="t">t${own}</data>` }))).rejects.toThrow(
      /\d+ or more texts for t of edges, which a store holds in one list/,
    );
  });
});

/** Nodes in the order of their numbers. */
const sorted = (nodes: string): string => {
  const number = (line: string): number => Number(/id="(\d+)"/.exec(line)![1]);
  return nodes
    .split("\n")
    .filter((line) => line !== "")
    .sort((a, b) => number(a) - number(b))
    .join("\n");
};
