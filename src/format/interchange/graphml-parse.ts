/** The XML of GraphML, piece by piece: which data are declared, and nodes and edges with their data as they are complete. */
import { Corrupt, Unsupported } from "../../errors.js";
import type { Limits } from "../../limits.js";
import type { GraphBlock } from "./graph.js";
import { Growing } from "./growing.js";
import { Names } from "./names.js";
import { XmlReader } from "./xml.js";

export const TYPES = {
  boolean: { kind: "bool", size: 1 },
  int: { kind: "int", size: 4, endian: "little" },
  long: { kind: "int", size: 8, endian: "little" },
  float: { kind: "float", size: 4, endian: "little" },
  double: { kind: "float", size: 8, endian: "little" },
  string: { kind: "string" },
} as const;

export type Type = keyof typeof TYPES;
export type Value = string | number | bigint;
export type Domain = "node" | "edge";

/** Data that are declared. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly type: Type;
  readonly for: string;
  /** What nodes have it for: x, y or z by its place among those that are asked for. */
  readonly axes: readonly number[];
  default?: string | undefined;
  /** How many have a value. */
  readonly given: Record<Domain, number>;
}

export interface GraphmlBlock extends GraphBlock {
  /** By id of the key, and then by row; what has no value is undefined. */
  readonly values: Readonly<Record<Domain, ReadonlyMap<string, readonly Value[]>>>;
}

/** The type as which the data of a key are read: of coordinates a number. */
export const typeIn = ({ axes, type }: Key, domain: Domain): Type =>
  domain === "node" && axes.length > 0 ? "double" : type;

/** A text as a value; undefined where it is none. */
export function parsedAs(text: string, type: Type): Value | undefined {
  return type === "string" ? text : VALUES[type](text.trim());
}

/** A node or an edge that is not complete yet. */
interface Open {
  readonly domain: Domain;
  readonly names: readonly string[];
  readonly at: number;
  readonly values: Map<Key, Value>;
}

export class GraphmlParser {
  readonly keys = new Map<string, Key>();
  /** Known from the graph on. */
  directed: boolean | undefined;
  /** How many there are so far. */
  readonly total: Record<Domain, number> = { node: 0, edge: 0 };
  readonly #reader: XmlReader;
  readonly #where: string;
  readonly #wanted: readonly string[];
  readonly #path: string[] = [];
  #block: ReturnType<typeof newBlock>;
  #text = "";
  #key: Key | undefined;
  #open: Open | undefined;

  /** `wanted`: the data that are coordinates. */
  constructor(where: string, wanted: readonly string[], limits?: Partial<Limits>) {
    this.#where = where;
    this.#block = newBlock(where);
    this.#reader = new XmlReader(where, limits);
    this.#wanted = wanted;
  }

  take(bytes: Uint8Array): void {
    this.#events(this.#reader.push(bytes));
  }

  /** Nothing more comes. */
  end(): void {
    this.#events(this.#reader.end());
  }

  /** What is complete by now; it is not kept. */
  shift(): GraphmlBlock {
    const { nodes, ends, offsets, values } = this.#block;
    this.#block = newBlock(this.#where);
    return { nodes, ends, values, at: (what, i) => `${this.#where}, byte ${offsets[what].values[i]}` };
  }

  #events(events: ReturnType<XmlReader["push"]>): void {
    for (const event of events)
      if (event.kind === "text") this.#text += event.text;
      else if (event.kind === "open") {
        this.#begin(event.name, event.attributes);
        this.#path.push(event.name);
      } else {
        this.#path.pop();
        this.#close(event.name);
      }
  }

  #needed(attributes: ReadonlyMap<string, string>, name: string, of: string): string {
    const value = attributes.get(name);
    if (value === undefined) throw this.#reader.corrupt(`<${of}> has no ${name}`);
    return value;
  }

  #begin(name: string, attributes: ReadonlyMap<string, string>): void {
    const [where, reader, path] = [this.#where, this.#reader, this.#path];
    this.#text = "";
    if (path.length === 0 && name !== "graphml") throw reader.corrupt(`<${name}> where <graphml> was expected`);
    if (
      name === "hyperedge" ||
      name === "port" ||
      (name === "graph" && (this.directed !== undefined || path.length > 1))
    )
      throw new Unsupported(`${where} has a <${name}> in ${path.at(-1)}, and only one plain graph is read`, { where });
    if (name === "graph") this.directed = attributes.get("edgedefault") === "directed";
    else if (name === "key") this.#declare(attributes);
    else if (name === "node") this.#enter("node", [this.#needed(attributes, "id", name)]);
    else if (name === "edge")
      this.#enter("edge", [this.#needed(attributes, "source", name), this.#needed(attributes, "target", name)]);
    else if (name === "data") this.#data(this.#needed(attributes, "key", name));
  }

  #declare(attributes: ReadonlyMap<string, string>): void {
    const id = this.#needed(attributes, "id", "key");
    const type = attributes.get("attr.type") ?? "string";
    if (!(type in TYPES))
      throw this.#reader.corrupt(`the key ${id} has the type ${type}, expected ${Object.keys(TYPES).join(", ")}`);
    if (this.keys.has(id)) throw this.#reader.corrupt(`the key ${JSON.stringify(id)} is declared twice`);
    const domain = attributes.get("for") ?? "all";
    const name = attributes.get("attr.name") ?? id;
    const ofNodes = domain === "node" || domain === "all";
    const axes = Array.from(this.#wanted.keys()).filter(
      (axis) => ofNodes && sameName(this.#wanted[axis]!, name) && this.coordinate(axis) === undefined,
    );
    this.#key = { id, name, type: type as Type, for: domain, axes, given: { node: 0, edge: 0 } };
    this.keys.set(id, this.#key);
  }

  /** The first of the keys that are a coordinate. */
  coordinate(axis: number): Key | undefined {
    for (const key of this.keys.values()) if (key.axes.includes(axis)) return key;
    return undefined;
  }

  /** The first two must be there; `names`: what there is. */
  mustHaveCoordinates(names: readonly string[]): void {
    const [where, wanted] = [this.#where, this.#wanted];
    const missing = Array.from(wanted.keys()).find((axis) => this.coordinate(axis) === undefined);
    if (wanted.length === 3 && (missing === undefined || missing === 2)) return;
    throw new Corrupt(
      `${where} has no data ${missing === undefined ? "" : wanted[missing]} of nodes, so that nobody knows where they lie`,
      {
        where,
        hint: `Say which of its data are coordinates: --position X,Y,Z; it has ${names.join(", ") || "none"}.`,
      },
    );
  }

  #enter(domain: Domain, names: readonly string[]): void {
    if (this.#open !== undefined) throw this.#reader.corrupt(`a <${domain}> in a <${this.#open.domain}>`);
    this.#open = { domain, names, at: this.#reader.offset, values: new Map() };
  }

  #data(id: string): void {
    const key = this.keys.get(id);
    if (key === undefined) throw this.#reader.corrupt(`data of the key ${JSON.stringify(id)}, which is not declared`);
    const domain = this.#open?.domain;
    if (domain !== undefined && key.for !== "all" && key.for !== domain)
      throw this.#reader.corrupt(
        `data of the key ${JSON.stringify(id)} in a <${domain}>, and they are declared for ${key.for}`,
      );
    this.#key = key;
  }

  #close(name: string): void {
    if (name === "default" && this.#key !== undefined) this.#key.default = this.#text.trim();
    else if (name === "data" && this.#open !== undefined) this.#value(this.#key!, this.#open);
    else if ((name === "node" || name === "edge") && this.#open !== undefined) this.#complete(this.#open);
  }

  #value(key: Key, { domain, values }: Open): void {
    const type = typeIn(key, domain);
    const value = parsedAs(this.#text, type);
    if (value === undefined)
      throw noValue(this.#where, `${key.name} of ${domain} ${this.total[domain]}`, this.#text, type);
    values.set(key, value);
  }

  #complete({ domain, names, at, values }: Open): void {
    const { nodes, ends, offsets, values: own } = this.#block;
    this.#open = undefined;
    const row = offsets[domain].length;
    for (const name of names) (domain === "node" ? nodes : ends).pushText(name);
    offsets[domain].push(at);
    this.total[domain]++;
    for (const [key, value] of values) {
      const list = own[domain].get(key.id) ?? [];
      own[domain].set(key.id, list);
      list[row] = value;
      key.given[domain]++;
    }
  }
}

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const noValue = (where: string, what: string, text: string, type: Type): Corrupt =>
  new Corrupt(`${where}: ${what} is ${JSON.stringify(text.slice(0, 40))}, expected ${type}`, { where });

const newBlock = (where: string) => ({
  nodes: new Names(where),
  ends: new Names(where),
  offsets: { node: new Growing(new Float64Array()), edge: new Growing(new Float64Array()) },
  values: { node: new Map<string, Value[]>(), edge: new Map<string, Value[]>() },
});

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
const VALUES: { readonly [T in Exclude<Type, "string">]: (text: string) => number | bigint | undefined } = {
  boolean: (text) => (/^(true|1)$/i.test(text) ? 1 : /^(false|0)$/i.test(text) ? 0 : undefined),
  int: (text) => {
    const value = whole64(32)(text);
    return value === undefined ? undefined : Number(value);
  },
  long: whole64(64),
  float,
  double: float,
};
