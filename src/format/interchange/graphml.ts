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
import { Corrupt, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import { absentColumn } from "../../query/columns.js";
import { type InputFile, whole } from "./file.js";
import { writeGraphml } from "./graphml-write.js";
import { NAMES, nameColumn } from "./nodes.js";
import { type Surface, surfaceContent } from "./surface.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";
import { XmlReader } from "./xml.js";

export const file: FileFormat = { open, write: writeGraphml };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const limits = withLimits(options.limits);
  const bytes = await whole(input, limits.chunkBytes, options);
  return surfaceContent(surfaceOf(parseGraphml(bytes, input.where, limits), input.where, options), input, options);
}

interface Key {
  readonly name: string;
  readonly type: string;
  default?: string | undefined;
  /** By row; what is not there is undefined. */
  readonly texts: string[];
}

interface Graph {
  readonly names: string[];
  readonly ends: number[];
  readonly directed: boolean;
  readonly keys: { readonly node: Key[]; readonly edge: Key[] };
}

export function parseGraphml(bytes: Uint8Array, where: string, limits?: OpenFileOptions["limits"]): Graph {
  const reader = new XmlReader(where, limits);
  const rows = new Map<string, number>();
  const [names, ends]: [string[], number[]] = [[], []];
  const edges: (readonly [source: string, target: string, at: number])[] = [];
  const keys = new Map<string, Key & { readonly for: string }>();
  const path: string[] = [];
  let [text, directed] = ["", false];
  let [key, owner, graphs]: [(Key & { readonly for: string }) | undefined, "node" | "edge" | "graph", number] = [
    undefined,
    "graph",
    0,
  ];
  const needed = (attributes: ReadonlyMap<string, string>, name: string, of: string): string => {
    const value = attributes.get(name);
    if (value === undefined) throw reader.corrupt(`<${of}> has no ${name}`);
    return value;
  };
  const begin = (name: string, attributes: ReadonlyMap<string, string>): void => {
    text = "";
    if (path.length === 0 && name !== "graphml") throw reader.corrupt(`<${name}> where <graphml> was expected`);
    if (name === "hyperedge" || name === "port" || (name === "graph" && (graphs++ > 0 || path.length > 1)))
      throw new Unsupported(`${where} has a <${name}> in ${path.at(-1)}, and only one plain graph is read`, { where });
    if (name === "graph") directed = attributes.get("edgedefault") === "directed";
    else if (name === "key") {
      const id = needed(attributes, "id", name);
      const type = attributes.get("attr.type") ?? "string";
      if (!(type in TYPES))
        throw reader.corrupt(`the key ${id} has the type ${type}, expected ${Object.keys(TYPES).join(", ")}`);
      key = { name: attributes.get("attr.name") ?? id, type, texts: [], for: attributes.get("for") ?? "all" };
      keys.set(id, key);
    } else if (name === "node") {
      const id = needed(attributes, "id", name);
      if (rows.has(id)) throw reader.corrupt(`node ${JSON.stringify(id)} is there twice`);
      rows.set(id, names.push(id) - 1);
      owner = "node";
    } else if (name === "edge") {
      edges.push([needed(attributes, "source", name), needed(attributes, "target", name), reader.offset]);
      owner = "edge";
    } else if (name === "data") {
      const id = needed(attributes, "key", name);
      key = keys.get(id);
      if (key === undefined) throw reader.corrupt(`data of the key ${JSON.stringify(id)}, which is not declared`);
    }
  };
  const close = (name: string): void => {
    if (name === "default" && key !== undefined) key.default = text.trim();
    else if (name === "data" && owner !== "graph") key!.texts[(owner === "node" ? names : edges).length - 1] = text;
    else if (name === "node" || name === "edge") owner = "graph";
  };
  for (const events of [reader.push(bytes), reader.end()])
    for (const event of events)
      if (event.kind === "text") text += event.text;
      else if (event.kind === "open") {
        begin(event.name, event.attributes);
        path.push(event.name);
      } else {
        path.pop();
        close(event.name);
      }
  for (const [source, target, at] of edges)
    for (const end of [source, target]) {
      const row = rows.get(end);
      if (row === undefined)
        throw new Corrupt(`${where}, byte ${at}: an edge leads to ${JSON.stringify(end)}, which is no node`, { where });
      ends.push(row);
    }
  const of = (domain: string): Key[] =>
    [...keys.values()].filter((own) => own.for === domain || (own.for === "all" && own.texts.length > 0));
  return { names, ends, directed, keys: { node: of("node"), edge: of("edge") } };
}

export const TYPES = {
  boolean: { kind: "bool", size: 1 },
  int: { kind: "int", size: 4, endian: "little" },
  long: { kind: "int", size: 8, endian: "little" },
  float: { kind: "float", size: 4, endian: "little" },
  double: { kind: "float", size: 8, endian: "little" },
  string: { kind: "string" },
} as const;

const COORDINATES = ["x", "y", "z"];

function surfaceOf({ names, ends, directed, keys }: Graph, where: string, { table }: OpenFileOptions): Surface {
  const wanted = table?.position ?? COORDINATES;
  const coordinates = wanted.map((name) => keys.node.find((key) => key.name.toLowerCase() === name.toLowerCase()));
  const missing = coordinates.indexOf(undefined);
  if (names.length > 0 && (wanted.length !== 3 || (missing >= 0 && missing < 2)))
    throw new Corrupt(`${where} has no data ${wanted[missing] ?? ""} of nodes, so that nobody knows where they lie`, {
      where,
      hint: `Say which of its data are coordinates: --position X,Y,Z; it has ${keys.node.map(({ name }) => name).join(", ") || "none"}.`,
    });
  const count = names.length;
  const positions = new Float64Array(3 * count);
  for (const [axis, key] of coordinates.entries())
    if (key !== undefined) {
      const values = columnOf({ ...key, type: "double" }, count, "node", where).values;
      for (let row = 0; row < count; row++) positions[3 * row + axis] = values[row] as number;
    }
  const named = nameColumn(names);
  const own = keys.node.filter(
    (key) => !coordinates.includes(key) && key.name !== NAMES.numbers && key.name !== NAMES.texts,
  );
  const all = (list: readonly Key[], rows: number, of: string): [string, Column][] =>
    list.map((key) => [key.name, columnOf(key, rows, of, where)]);
  return {
    version: "",
    geometry: "graph",
    positions,
    links: Uint32Array.from(ends),
    vertexColumns: new Map([[named.info.name, named], ...all(own, count, "node")]),
    linkColumns: new Map(all(keys.edge, ends.length / 2, "edge")),
    header: { directed },
    place: (what, i) => (what === "vertex" ? `node ${JSON.stringify(names[i])}` : `edge ${i}`),
  };
}

/** The values of a key. */
function columnOf(key: Key, rows: number, of: string, where: string): Column {
  const info: AttributeInfo = { name: key.name, dtype: TYPES[key.type as keyof typeof TYPES], channels: 1 };
  const { values, info: absent } = absentColumn(info, rows);
  const into = values as (string | number | bigint)[];
  let some = false;
  for (let row = 0; row < rows; row++) {
    const text = key.texts[row] ?? key.default;
    if (text === undefined) {
      some = true;
      continue;
    }
    const value = VALUES[key.type as keyof typeof TYPES](text.trim());
    if (value === undefined)
      throw new Corrupt(
        `${where}: ${key.name} of ${of} ${row} is ${JSON.stringify(text.slice(0, 40))}, expected ${key.type}`,
        { where },
      );
    into[row] = key.type === "string" ? text : value;
  }
  return { info: some ? absent : info, values };
}

const float = (text: string): number | undefined => {
  const value = /^[+-]?(inf|infinity)$/i.test(text) ? Number(`${text.replace(/inf.*/i, "")}Infinity`) : Number(text);
  return text !== "" && (!Number.isNaN(value) || /^nan$/i.test(text)) ? value : undefined;
};
const whole64 =
  (bits: number) =>
  (text: string): bigint | undefined => {
    const value = /^[+-]?\d{1,20}$/.test(text) ? BigInt(text) : undefined;
    return value !== undefined && BigInt.asIntN(bits, value) === value ? value : undefined;
  };
const VALUES: { readonly [T in keyof typeof TYPES]: (text: string) => string | number | bigint | undefined } = {
  boolean: (text) => (/^(true|1)$/i.test(text) ? 1 : /^(false|0)$/i.test(text) ? 0 : undefined),
  int: (text) => {
    const value = whole64(32)(text);
    return value === undefined ? undefined : Number(value);
  },
  long: whole64(64),
  float,
  double: float,
  string: (text) => text,
};
