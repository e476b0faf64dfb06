/**
 * SWC: one neuron as a tree, a line for each node.
 *
 *     # a comment
 *     1 1 10.5 20 30 4.2 -1      number, type, x, y, z, radius, number of the parent; -1 is the root
 *
 * Lengths are in micrometres. The tree becomes one skeleton, each link from a node to its parent; number, type and radius are
 * attributes of vertices. Everything that the data do not say, comments and how numbers are written, is in the header. What is no tree is damage:
 * numbers twice, parents that are not there, two roots, cycles.
 */
import type { Json, JsonObject } from "../../bytes/json.js";
import type { Corrupt } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { Schema } from "../../model/vectors.js";
import type { Piece } from "../rows/row-source.js";
import { whole } from "./file.js";
import { writeSwc } from "./swc-write.js";
import { countLines, Scanner } from "./text.js";
import type { FileFormat } from "./types.js";

const attribute = (name: string, kind: "int" | "float", size: 4 | 8, description: string): AttributeInfo => ({
  name,
  dtype: { kind, size, endian: "little" },
  channels: 1,
  description,
});

export const NODE = attribute("node_id", "int", 4, "the number of the node in the SWC file");
export const TYPE = attribute("type", "int", 4, "0 undefined, 1 soma, 2 axon, 3 basal dendrite, 4 apical dendrite");
export const RADIUS: AttributeInfo = { ...attribute("radius", "float", 8, "of the node"), unit: "micrometer" };

const schema: Schema = { vertex: [NODE, TYPE, RADIUS], link: [], fragment: [], object: [], group: [] };

export const file: FileFormat = {
  units: "micrometer",
  async open(input, { limits, signal, onBad }) {
    const bytes = await whole(input, withLimits(limits).chunkBytes, { signal });
    let tree: Tree | undefined;
    try {
      tree = parseSwc(bytes, input.where);
    } catch (error) {
      if (onBad === undefined) throw error;
      onBad(error as Corrupt);
    }
    const pieces = tree === undefined ? [] : [tree];
    return {
      version: "",
      geometry: "skeletons",
      axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "micrometer" })),
      linkWidth: 2,
      header: tree?.header,
      vertices: tree?.count ?? 0,
      objects: pieces.length,
      finite: true,
      bounds: tree?.bounds,
      index: async () => ({
        schema,
        objects: { ids: new BigInt64Array(pieces.length), starts: Uint32Array.from([0, ...pieces], (_, i) => i) },
        vertices: Uint32Array.from(pieces, ({ count }) => count),
        bytes: new Float64Array(pieces.length).fill(bytes.length),
        boxes: Float64Array.from(pieces.flatMap(({ bounds: { min, max } }) => [...min, ...max])),
        load: async () => tree!.piece,
      }),
    };
  },
  write: writeSwc,
};

interface Tree {
  readonly count: number;
  readonly piece: Piece;
  readonly bounds: { readonly min: number[]; readonly max: number[] };
  readonly header: JsonObject;
}

const LEAST = 14; // bytes of a node: "1 1 0 0 0 0 -1"
const COORDINATES = ["x", "y", "z"] as const;
const [NEWLINE, HASH, POINT] = [10, 0x23, 0x2e];

export function parseSwc(bytes: Uint8Array, where: string): Tree {
  const most = Math.min(countLines(bytes) + 1, Math.ceil(bytes.length / LEAST));
  const [numbers, types, parents] = [new Int32Array(most), new Int32Array(most), new Int32Array(most)];
  const [positions, radii, lines] = [new Float64Array(3 * most), new Float64Array(most), new Uint32Array(most)];
  const scanner = new Scanner({ bytes }, where);
  const style = styleOf(scanner);
  let count = 0;
  const whole32 = (what: string): number => {
    const value = scanner.integer(what);
    if (value !== (value | 0)) throw scanner.corrupt(`${value} is beyond the 32 bits of ${what}`);
    return value;
  };
  const finite = (what: string): number => {
    style.see(what);
    const value = scanner.number(what);
    if (!Number.isFinite(value)) throw scanner.corrupt(`${what} is ${value}`);
    return value;
  };
  for (let more = bytes.length > 0; more; more = scanner.next()) {
    if (scanner.ends() || scanner.peek() === HASH) {
      style.comment(count);
      continue;
    }
    if (count === 0) style.begin();
    lines[count] = scanner.line;
    numbers[count] = whole32("the number of a node");
    types[count] = whole32("its type");
    for (let axis = 0; axis < 3; axis++) positions[3 * count + axis] = finite(COORDINATES[axis]!);
    radii[count] = finite("radius");
    parents[count] = whole32("the number of its parent");
    if (!scanner.ends()) throw scanner.corrupt(`${JSON.stringify(scanner.rest().slice(0, 40))} after the 7 columns`);
    count++;
  }
  if (count === 0) throw scanner.corrupt("the file ends without a node");
  const fail = (row: number, message: string): Corrupt => {
    scanner.line = lines[row]!;
    return scanner.corrupt(message);
  };
  const links = linksOf(numbers.subarray(0, count), parents, lines, fail);
  const own = positions.subarray(0, 3 * count);
  const [min, max] = [[...own.subarray(0, 3)], [...own.subarray(0, 3)]];
  for (let i = 3; i < own.length; i++) {
    if (own[i]! < min[i % 3]!) min[i % 3] = own[i]!;
    if (own[i]! > max[i % 3]!) max[i % 3] = own[i]!;
  }
  const vertexColumns = new Map([
    [NODE.name, { info: NODE, values: numbers.subarray(0, count) }],
    [TYPE.name, { info: TYPE, values: types.subarray(0, count) }],
    [RADIUS.name, { info: RADIUS, values: radii.subarray(0, count) }],
  ]);
  const parts = Uint32Array.of(0, count);
  return {
    count,
    piece: { positions: own, parts, links, vertexColumns, objectColumns: new Map() },
    bounds: { min, max },
    header: style.done(),
  };
}

/** Child and parent of each node but the root, as rows; what is no tree is told about a row. */
function linksOf(
  numbers: Int32Array,
  parents: Int32Array,
  lines: Uint32Array,
  fail: (row: number, message: string) => Corrupt,
): Uint32Array {
  const count = numbers.length;
  const rowOf = finder(numbers, lines, fail);
  const parentRows = new Int32Array(count);
  const links = new Uint32Array(2 * Math.max(0, count - 1));
  let [root, at, backward] = [-1, 0, true];
  for (let row = 0; row < count; row++) {
    const parent = parents[row]!;
    const parentRow = parent === -1 ? -1 : rowOf(parent);
    if (parentRow === undefined) throw fail(row, `node ${numbers[row]} has the parent ${parent}, which is not there`);
    parentRows[row] = parentRow;
    if (parentRow >= row) backward = false;
    if (parentRow >= 0) {
      if (at < links.length) links.set([row, parentRow], at);
      at += 2;
    } else if (root < 0) root = row;
    else
      throw fail(
        row,
        `node ${numbers[row]} is a second root, beside node ${numbers[root]} of line ${lines[root]}: SWC has one tree`,
      );
  }
  const looped = backward ? -1 : cycleIn(parentRows);
  if (looped >= 0) throw fail(looped, `node ${numbers[looped]} is its own ancestor`);
  return links;
}

/** From the number of a node to its row. */
function finder(
  numbers: Int32Array,
  lines: Uint32Array,
  fail: (row: number, message: string) => Corrupt,
): (number: number) => number | undefined {
  const first = numbers[0]!;
  if (numbers.every((number, row) => number === first + row))
    return (number) => (number >= first && number - first < numbers.length ? number - first : undefined);
  const rows = new Map<number, number>();
  for (let row = 0; row < numbers.length; row++) {
    const known = rows.get(numbers[row]!);
    if (known !== undefined)
      throw fail(row, `node ${numbers[row]} is there twice, for the first time on line ${lines[known]}`);
    rows.set(numbers[row]!, row);
  }
  return (number) => rows.get(number);
}

/** A row from which the parents lead back to it, or −1. */
export function cycleIn(parents: Int32Array): number {
  const reachedFrom = new Int32Array(parents.length).fill(-1);
  for (let start = 0; start < parents.length; start++) {
    let row = start;
    for (; row >= 0 && reachedFrom[row] === -1; row = parents[row]!) reachedFrom[row] = start;
    if (row >= 0 && reachedFrom[row] === start) return row;
  }
  return -1;
}

/** How the file writes its lines and numbers, so that they can be written again as they were. */
function styleOf(scanner: Scanner) {
  const { bytes } = scanner;
  const [comments, decimals]: [Json[], Map<string, number | null>] = [[], new Map()];
  let separators: JsonObject = {};
  let latin = false;
  /** The line that the scanner is on, without its end. */
  const lineText = (): string => {
    const { at } = scanner;
    const start = at === 0 ? 0 : bytes.lastIndexOf(NEWLINE, at - 1) + 1;
    const end = bytes.indexOf(NEWLINE, at);
    const line = bytes.subarray(start, end < 0 ? bytes.length : end);
    const text = new TextDecoder().decode(line);
    if (!text.includes("\ufffd")) return text;
    latin = true; // of the time before UTF-8: each byte is a character
    return Array.from(line, (byte) => String.fromCharCode(byte)).join("");
  };
  return {
    /** At a line that is no node, after so many nodes. */
    comment: (count: number): void => void comments.push([count, lineText()]),
    /** At the first node. */
    begin(): void {
      const [, before = "", between = " ", after = ""] = /^(\s*)\S+(\s+).*?(\s*)$/.exec(lineText()) ?? [];
      separators = { before, between, after };
    },
    /** At a coordinate or a radius. */
    see(column: string): void {
      const end = scanner.wordEnd();
      let [point, power] = [end, false];
      for (let i = scanner.at; i < end; i++)
        if (bytes[i] === POINT) point = i + 1;
        else if ((bytes[i]! | 32) === 0x65) power = true;
      const own = power ? null : end - point;
      const known = decimals.get(column);
      if (known !== own) decimals.set(column, known === undefined ? own : null);
    },
    done: (): JsonObject => ({
      comments,
      ...separators,
      decimals: [...COORDINATES, "radius"].map((column) => decimals.get(column) ?? null),
      ...(latin ? { latin } : {}),
      ...(bytes.at(-1) === NEWLINE ? {} : { open: true }),
    }),
  };
}
