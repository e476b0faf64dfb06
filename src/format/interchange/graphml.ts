/**
 * GraphML: a graph in XML, with typed data of nodes and edges.
 *
 *     <key id="d0" for="node" attr.name="x" attr.type="double"><default>0</default></key>
 *     <graph edgedefault="undirected">
 *       <node id="a"><data key="d0">1.5</data></node>
 *       <edge source="a" target="b"/>
 *
 * Nodes lie where their data x, y and z say, or those that the caller names; all other data are attributes. Where a value is missing
 * the default of its key holds, else it is absent. Graphs in nodes, ports and edges of many ends are refused.
 */
import { Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Columns } from "../../model/vectors.js";
import { absentColumn } from "../../query/columns.js";
import { type InputFile, sizeOf, wholeOrPassing } from "./file.js";
import { type GraphFile, heldGraph, passGraph } from "./graph.js";
import {
  type Domain,
  type GraphmlBlock,
  GraphmlParser,
  type Key,
  noValue,
  parsedAs,
  TYPES,
  type Type,
  typeIn,
  type Value,
} from "./graphml-parse.js";
import { writeGraphml } from "./graphml-write.js";
import { NAMES, Texts } from "./nodes.js";
import { surfaceContent } from "./surface.js";
import { passingContent } from "./surface-passing.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = { open, write: writeGraphml };

const COORDINATES = ["x", "y", "z"];

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const { where } = input;
  const { maxMemory, table } = options;
  const limits = withLimits(options.limits);
  const wanted = table?.position ?? COORDINATES;
  const bytes = await wholeOrPassing(input, options, limits.chunkBytes);
  const newParser = (): GraphmlParser => new GraphmlParser(where, wanted, limits);
  if (!(bytes instanceof Unsupported))
    return surfaceContent(await heldGraph(graphmlFile(where, newParser, () => [bytes])), input, options);
  const header = { directed: await isDirected(input, newParser(), options) };
  return passingContent({ version: "", geometry: "graph", header }, bytes, async (makeScratch, now) => {
    const graph = graphmlFile(where, newParser, () => input.stream(0, now), maxMemory);
    return passGraph(graph, await sizeOf(input, now), makeScratch, options);
  });
}

async function isDirected(input: InputFile, parser: GraphmlParser, options: ReadOptions): Promise<boolean> {
  for await (const bytes of input.stream(0, options)) {
    parser.take(bytes);
    if (parser.directed !== undefined) return parser.directed;
    parser.shift();
  }
  return false;
}

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** A block for each piece. */
function graphmlFile(
  where: string,
  newParser: () => GraphmlParser,
  pieces: () => Pieces,
  maxMemory?: number | undefined,
): GraphFile<GraphmlBlock> {
  let known: GraphmlParser | undefined;
  return {
    where,
    async *blocks() {
      const parser = newParser();
      const texts = known === undefined ? new Map<string, Texts>() : undefined;
      const done = (): GraphmlBlock => {
        const block = parser.shift();
        if (texts !== undefined) takeTexts(block, parser.keys, texts, { where, maxMemory });
        return block;
      };
      let any = false;
      for await (const piece of pieces()) {
        if (any) yield done();
        parser.take(piece);
        any = true;
      }
      parser.end();
      yield done();
      known = parser;
    },
    header: () => ({ directed: known?.directed === true }),
    notes: () =>
      keysOf(known!, "node")
        .filter(isName)
        .map(({ name }) => `the data ${name} of nodes: that is what their names are here`),
    columns: (block) => columnsOf(block, known!, where),
    linkPlace: (_, edge) => `edge ${edge}`,
    nowhere: (name) => ({ message: `an edge leads to ${name}, which is no node` }),
  };
}

/** Counts the texts of each attribute. */
function takeTexts(
  { values }: GraphmlBlock,
  keys: ReadonlyMap<string, Key>,
  texts: Map<string, Texts>,
  { where, maxMemory }: { readonly where: string; readonly maxMemory?: number | undefined },
): void {
  for (const domain of ["node", "edge"] as const)
    for (const [id, list] of values[domain]) {
      const { name, type } = keys.get(id)!;
      if (type !== "string") continue;
      const what = `${name} of ${domain}s`;
      const own = texts.get(what) ?? new Texts(where, what, maxMemory);
      texts.set(what, own);
      for (const text of list) if (text !== undefined) own.add(`${text}`);
    }
}

const keysOf = ({ keys }: GraphmlParser, domain: Domain): Key[] =>
  [...keys.values()].filter((key) => key.for === domain || (key.for === "all" && key.given[domain] > 0));

/** Whether an attribute of this name is that of the names of nodes. */
const isName = ({ axes, name }: Key): boolean => axes.length === 0 && Object.values<string>(NAMES).includes(name);

function columnsOf(block: GraphmlBlock, known: GraphmlParser, where: string) {
  const { total } = known;
  const column = (key: Key, domain: Domain): Column => columnOf(block, key, domain, total[domain], where);
  const nodeKeys = keysOf(known, "node");
  if (total.node > 0) known.mustHaveCoordinates(nodeKeys.map(({ name }) => name));
  const positions = new Float64Array(3 * block.nodes.length);
  for (const key of nodeKeys)
    for (const axis of key.axes) {
      const { values } = column(key, "node");
      for (let row = 0; row < values.length; row++) positions[3 * row + axis] = values[row] as number;
    }
  const own = nodeKeys.filter((key) => key.axes.length === 0 && !isName(key));
  const all = (list: readonly Key[], domain: Domain): Columns =>
    new Map(list.map((key) => [key.name, column(key, domain)]));
  return { positions, vertexColumns: all(own, "node"), linkColumns: all(keysOf(known, "edge"), "edge") };
}

/** The values of a key in a block; `total`: how many nodes or edges there are in all blocks. */
function columnOf(block: GraphmlBlock, key: Key, domain: Domain, total: number, where: string): Column {
  const type: Type = typeIn(key, domain);
  const info: AttributeInfo = { name: key.name, dtype: TYPES[type], channels: 1 };
  const rows = domain === "node" ? block.nodes.length : block.ends.length / 2;
  const { values } = absentColumn(info, rows);
  const [into, given] = [values as Value[], block.values[domain].get(key.id) ?? []];
  const usual = key.default === undefined ? undefined : parsedAs(key.default, type);
  if (key.default !== undefined && usual === undefined)
    throw noValue(where, `the default of ${key.name}`, key.default, type);
  for (let row = 0; row < rows; row++) {
    const value = given[row] ?? usual;
    if (value !== undefined) into[row] = value;
  }
  const absent = key.default === undefined && key.given[domain] < total;
  return { info: absent ? absentColumn(info, 1).info : info, values };
}
