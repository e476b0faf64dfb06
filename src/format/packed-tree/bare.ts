/**
 * A packed tree alone as a dataset: its nodes are points, at the middle of their boxes, with what the tree says of them. Where the
 * particles lie in a box nobody can tell from it; together with their positions it becomes a `.ptree` file.
 */
import type { NumericType } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { NotFound } from "../../errors.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { Finding, FormatOptions, ValidateOptions } from "../../model/format.js";
import { numberedChunks } from "../../model/numbered-chunks.js";
import type { LevelSource, Tile } from "../../model/source.js";
import type { VectorDataset } from "../../model/vectors.js";
import { select } from "../../query/select.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { rowDataset } from "../rows/row-dataset.js";
import { emptyBox, widenBox } from "./file/blocks.js";
import { isLeaf, levelOf, META, ROW, START, STOP } from "./nodes.js";
import { parseTree } from "./parse.js";
import { failure, type RuleId, rules } from "./rules.js";
import { visitCells } from "./slices.js";
import type { PackedTree } from "./types.js";
import { validateTree } from "./validate.js";

/** The nodes of a tree; also as `tree`, below the queries. */
export type TreeDataset = VectorDataset & { readonly tree: PackedTree };

/** Nodes that are a chunk. */
const CHUNK = 2 ** 14;
const AXES = ["x", "y", "z"].map((name) => ({ name, type: "space" }));
const ALONE =
  "a packed tree has no positions: these points are its nodes. octavo tree query --slices answers in ranges of particles, and " +
  "--positions FILE.npy, in the order of the tree, joins it with them";

/** The nodes of a packed tree as points; Corrupt where it does not hold together. */
export async function openBareTree(store: Store, key: Key, options: FormatOptions = {}): Promise<TreeDataset> {
  const where = `${store.url}/${key}`;
  const tree = parseTree(await bytesAt(store, key, where, options), { where });
  const source = nodeSource(tree);
  const { origin, size } = tree.box;
  const { rows, length } = tree.nodes;
  let depth = 0;
  for (let row = 0; row < rows.length; row += ROW) depth = Math.max(depth, levelOf(rows[row + META]!));
  const levels = [{ level: 0, vertices: length, objects: 0, chunkShape: [...size], binShape: [...size] }];
  const own = { axes: AXES, levels, source: async () => source };
  const dataset = rowDataset({
    ...own,
    format: "tree",
    version: tree.version.join("."),
    url: where,
    geometry: "points",
    bounds: { min: [...origin], max: origin.map((low, axis) => low + size[axis]!) },
    attributes: {
      particles: tree.count,
      nodes: length,
      levels: depth,
      threshold: tree.threshold,
      created: new Date(Math.min(8.64e15, Math.max(0, tree.created * 1000 || 0))).toISOString(),
    },
    notes: [ALONE],
    ids: async () => new BigUint64Array(),
    plan: (query, _level, options) => select(own, query).plan(options),
  });
  return { ...dataset, tree };
}

async function bytesAt(store: Store, key: Key, where: string, { signal }: FormatOptions): Promise<Uint8Array> {
  const bytes = await store.get(key, { signal });
  if (bytes === undefined) throw new NotFound(`${where} is not there`, { where });
  return bytes;
}

/** What is wrong with it, as far as a level of thoroughness looks. */
export async function* validateBareTree(store: Store, key: Key, options: ValidateOptions): AsyncGenerator<Finding> {
  const { level = 5 } = options;
  const where = `${store.url}/${key}`;
  try {
    for (const finding of validateTree(await bytesAt(store, key, where, options), { where }))
      if (rules[finding.rule.slice("packed-tree/".length) as RuleId].level <= level) yield finding;
  } catch (error) {
    yield failure("header", where, error);
  }
}

const uint32: NumericType = { kind: "uint", size: 4, endian: "little" };

/** What is told of each node. */
const INFOS = {
  level: { dtype: { kind: "uint", size: 1, endian: "little" }, description: "1 for the root" },
  first: { dtype: uint32, description: "its first particle, in the order of the tree" },
  particles: { dtype: uint32, description: "how many particles it has" },
  leaf: { dtype: { kind: "uint", size: 1, endian: "little" }, description: "1 where it has no nodes below" },
  size: { dtype: { kind: "float", size: 8, endian: "little" }, channels: 3, description: "the sides of its box" },
} as const satisfies { readonly [name: string]: { dtype: NumericType; channels?: number; description: string } };

function nodeSource(tree: PackedTree): LevelSource {
  const { rows, length } = tree.nodes;
  const positions = new Float64Array(3 * length);
  const values = {
    level: new Uint8Array(length),
    first: new Uint32Array(length),
    particles: new Uint32Array(length),
    leaf: new Uint8Array(length),
    size: new Float64Array(3 * length),
  };
  const boxes = new Float64Array(6 * Math.ceil(length / CHUNK));
  for (let at = 0; at < boxes.length; at += 6) boxes.set(emptyBox(), at);
  visitCells(tree, 0, (row, cell) => {
    const node = row / ROW;
    values.level[node] = levelOf(rows[row + META]!);
    values.first[node] = rows[row + START]!;
    values.particles[node] = rows[row + STOP]! - rows[row + START]!;
    values.leaf[node] = isLeaf(rows[row + META]!) ? 1 : 0;
    for (let axis = 0; axis < 3; axis++) {
      positions[3 * node + axis] = (cell[axis]! + cell[axis + 3]!) / 2;
      values.size[3 * node + axis] = cell[axis + 3]! - cell[axis]!;
    }
    const place = positions.subarray(3 * node, 3 * node + 3);
    widenBox(boxes, 6 * Math.floor(node / CHUNK), [...place, ...place], 0);
    return true;
  });
  const infos = new Map(
    Object.entries(INFOS).map(([name, info]): [string, AttributeInfo] => [name, { name, channels: 1, ...info }]),
  );
  const schema = { vertex: [...infos.values()], link: [], fragment: [], object: [], group: [] };
  const chunks = numberedChunks(boxes.length / 6, boxes);
  const sizeOf = (chunk: number): number => Math.min(CHUNK, length - chunk * CHUNK);
  return {
    level: 0,
    dims: 3,
    geometry: "points",
    linkWidth: 0,
    sequential: false,
    schema: async () => schema,
    chunks: async () => chunks,
    async *tiles(wanted, want): AsyncGenerator<Tile> {
      for (const chunk of wanted) {
        const [from, vertices] = [chunk * CHUNK, sizeOf(chunk)];
        const part = (all: NumericArray, channels: number) =>
          all.subarray(from * channels, (from + vertices) * channels);
        const vertexColumns = new Map<string, Column>();
        for (const name of want.vertex) {
          const info = infos.get(name);
          if (info !== undefined)
            vertexColumns.set(name, { info, values: part(values[name as keyof typeof values], info.channels) });
        }
        yield {
          chunk,
          vertices,
          positions: want.positions ? positions.subarray(3 * from, 3 * (from + vertices)) : new Float64Array(),
          parts: Uint32Array.of(0, vertices),
          vertexColumns,
          fragmentColumns: new Map(),
        };
      }
    },
    async *links() {},
    objects: undefined,
    cost: async () => ({ requests: 0, bytes: 0, exact: true }), // it was read when it was opened
    counts: async (wanted) => Uint32Array.from(wanted, sizeOf),
  };
}
