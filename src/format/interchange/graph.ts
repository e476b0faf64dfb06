/**
 * Files of graphs: nodes that have names, and edges that name two of them, in any order. Here names become numbers. Of a file that is
 * too large to be held, they are put aside by what they hash to, so that a node and those who name it come together:
 *
 * | step                            | is put aside                                                                    |
 * |---------------------------------|---------------------------------------------------------------------------------|
 * | 1. the file, from start to end  | by hash: the names of nodes, and those that edges have, each with its number    |
 * | 2. each hash                    | by number of the edge: the node that each end is                                |
 * | 3. all edges, in order          | their nodes, two numbers each                                                   |
 *
 * Then the file is read again, as often as is needed, now with numbers. In memory are the nodes of one hash at a time.
 */
import { bytesOf } from "../../codec/numeric.js";
import { Corrupt, Unsupported } from "../../errors.js";
import type { Scratch } from "../../store/scratch.js";
import { words } from "../zarr-vectors/payload/int64.js";
import { spool } from "../zarr-vectors/write/spill.js";
import { LinksByPart } from "./links-by-part.js";
import { afterRecord, hashOf, type Names, NameTable, wholeRecords } from "./names.js";
import { NodeNames } from "./nodes.js";
import { NumberRows } from "./number-rows.js";
import type { Surface } from "./surface.js";
import { NO_LINKS, NO_VERTICES } from "./surface-blocks.js";
import { passSurface, type SurfaceBlock } from "./surface-passing.js";
import type { OpenFileOptions, Passing } from "./types.js";

/** Some nodes and edges, in the order of the file. */
export interface GraphBlock {
  readonly nodes: Names;
  /** Names of nodes, two for each edge. */
  readonly ends: Names;
  /** Where a node or an edge is, for people, with the file: "a.edges, line 7". */
  at(what: "node" | "edge", i: number): string;
}

export interface GraphFile<B extends GraphBlock = GraphBlock> {
  readonly where: string;
  /** All of it; may be asked for again. */
  blocks(): AsyncIterable<B>;
  /** Known when all blocks have come once. */
  columns(block: B): Pick<SurfaceBlock, "positions" | "vertexColumns" | "linkColumns">;
  header?(): Surface["header"];
  /** What of the file is not in the graph. */
  notes?(): readonly string[];
  /** Where a link is, for people. */
  linkPlace(block: B, link: number): string;
  /** What is said of a name that no node has. */
  nowhere(name: string): { readonly message: string; readonly hint?: string };
}

/** The graph of a file that has one block. */
export async function heldGraph<B extends GraphBlock>(file: GraphFile<B>): Promise<Surface> {
  const { where } = file;
  const names = new NodeNames(where);
  let block: B | undefined;
  for await (const own of file.blocks()) block = own;
  const { nodes, ends } = block!;
  const links = new Uint32Array(ends.length);
  names.take(nodes);
  const problem = await joinNames(
    { count: 1, defined: () => [nodes.records()], called: () => [ends.records()] },
    async (numbers, found) => {
      for (let i = 0; i < numbers.length; i++) links[numbers[i]!] = found[i]!;
    },
  );
  if (problem !== undefined) throw await refusal(file, problem);
  return {
    version: "",
    header: file.header?.(),
    notes: file.notes?.(),
    geometry: "graph",
    links,
    ...surfaceBlock(file, block!, names),
  };
}

/** What is known of a block besides its links. */
function surfaceBlock<B extends GraphBlock>(
  file: GraphFile<B>,
  block: B,
  names: NodeNames,
): Omit<SurfaceBlock, "links"> {
  const { vertexColumns, ...own } = file.columns(block);
  const named = names.column(block.nodes);
  return {
    ...own,
    vertexColumns: new Map([[named.info.name, named], ...vertexColumns]),
    place: (what, i) => (what === "vertex" ? `node ${JSON.stringify(block.nodes.text(i))}` : file.linkPlace(block, i)),
  };
}

/** The graph of a file that is too large to be held; `size`: its bytes. */
export async function passGraph<B extends GraphBlock>(
  file: GraphFile<B>,
  size: number,
  makeScratch: () => Scratch,
  { onBad, maxMemory }: OpenFileOptions,
): Promise<Passing> {
  const { where } = file;
  const names = new NodeNames(where);
  const ends = await numbered(file, names, size, makeScratch);
  names.refuseBeyond(maxMemory);
  async function* blocks(what?: "vertices" | "links"): AsyncGenerator<SurfaceBlock> {
    let edge = 0;
    for await (const block of file.blocks()) {
      const count = block.ends.length / 2;
      const own = surfaceBlock(file, block, names);
      const links = what === "vertices" ? NO_LINKS.links : await ends.slice(edge, edge + count);
      yield { ...own, links, ...(what === "vertices" ? NO_LINKS : what === "links" ? NO_VERTICES : {}) };
      edge += count;
    }
  }
  return passSurface({ where, geometry: "graph", blocks, told: () => ({ notes: file.notes?.() }) }, makeScratch, onBad);
}

const BLOCK = 1 << 15; // edges that are put in order together
const TOGETHER = 1 << 15; // names that are put aside together
const RECORDS = 4; // bytes of records for each byte of a file, at most

/** The nodes of each edge, by number. */
async function numbered(
  file: GraphFile,
  names: NodeNames,
  size: number,
  makeScratch: () => Scratch,
): Promise<NumberRows<Uint32Array>> {
  const [first, second] = [makeScratch(), makeScratch()];
  const count = Math.min(1 << 14, Math.max(1, Math.ceil((RECORDS * size) / (first.memory / 8))));
  const [defined, called] = [new LinksByPart(1, first), new LinksByPart(1, first)];
  let [nodes, ends] = [0, 0];
  for await (const block of file.blocks()) {
    names.take(block.nodes);
    await putAside(defined, block.nodes, nodes, count);
    await putAside(called, block.ends, ends, count);
    nodes += block.nodes.length;
    ends += block.ends.length;
    if (Math.max(nodes, ends) >= 2 ** 32)
      throw new Unsupported(`${file.where} has more nodes or edges than there are numbers for`, { where: file.where });
  }
  const byBlock = spool([4, 4], second);
  const problem = await joinNames(
    { count, defined: (hash) => wordsOf(defined, hash), called: (hash) => wordsOf(called, hash) },
    async (own, found) => {
      const buckets = own.map((end) => Math.floor(end / (2 * BLOCK)));
      const rows = own.length;
      await byBlock.add([bytesOf(own), bytesOf(found)], { count: rows, rows, buckets, starts: undefined });
    },
  );
  await first.clear();
  if (problem !== undefined) throw await refusal(file, problem);
  const rows = new NumberRows<Uint32Array>(Uint32Array, 2, makeScratch());
  for (let from = 0; from < ends; from += 2 * BLOCK) {
    const [bucket] = await byBlock.read([from / (2 * BLOCK)]);
    const [own, found] = [words(bucket!.columns[0]!), words(bucket!.columns[1]!)];
    const ordered = new Uint32Array(own.length);
    for (let i = 0; i < own.length; i++) ordered[own[i]! - from] = found[i]!;
    await rows.add(ordered);
  }
  await second.clear();
  return rows;
}

async function putAside(aside: LinksByPart, names: Names, first: number, hashes: number): Promise<void> {
  for (let from = 0; from < names.length; from += TOGETHER) {
    const links = names.records(first + from, from, Math.min(from + TOGETHER, names.length));
    const parts = new Uint32Array(links.length);
    for (let at = 0; at < links.length; ) {
      const end = afterRecord(links, at);
      parts.fill(hashOf(links, at) % hashes, at, end);
      at = end;
    }
    await aside.add({ links, linkColumns: NO_LINKS.linkColumns }, parts);
  }
}

async function* wordsOf(aside: LinksByPart, hash: number): AsyncGenerator<Uint32Array> {
  for await (const { links } of aside.of(hash)) yield links;
}

type Records = AsyncIterable<Uint32Array> | Iterable<Uint32Array>;

/** Records by hash: of nodes, and of ends of edges. */
interface ByHash {
  readonly count: number;
  defined(hash: number): Records;
  called(hash: number): Records;
}

/** The first node whose name another has, or the first end that no node has the name of. */
type Problem = { readonly node: number } | { readonly end: number };

async function joinNames(
  hashes: ByHash,
  found: (ends: Uint32Array, nodes: Uint32Array) => Promise<void>,
): Promise<Problem | undefined> {
  let [twice, nowhere] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let hash = 0; hash < hashes.count; hash++) {
    const table = new NameTable();
    for await (const records of wholeRecords(hashes.defined(hash)))
      for (let at = 0; at < records.length; at = afterRecord(records, at))
        if (!table.define(records, at)) twice = Math.min(twice, records[at]!);
    for await (const records of wholeRecords(hashes.called(hash))) {
      const ends: number[] = [];
      const nodes: number[] = [];
      for (let at = 0; at < records.length; at = afterRecord(records, at)) {
        const node = table.find(records, at);
        if (node < 0) nowhere = Math.min(nowhere, records[at]!);
        ends.push(records[at]!);
        nodes.push(node);
      }
      await found(Uint32Array.from(ends), Uint32Array.from(nodes));
    }
  }
  if (twice < Number.POSITIVE_INFINITY) return { node: twice };
  return nowhere < Number.POSITIVE_INFINITY ? { end: nowhere } : undefined;
}

/** What is said of it: the file is gone through once more, to see where it is. */
async function refusal(file: GraphFile, problem: Problem): Promise<Corrupt> {
  const { where } = file;
  let [nodes, ends] = [0, 0];
  for await (const block of file.blocks()) {
    if ("node" in problem && problem.node < nodes + block.nodes.length) {
      const row = problem.node - nodes;
      const name = shown(block.nodes.text(row));
      return new Corrupt(`${block.at("node", row)}: node ${name} is there twice`, { where });
    }
    if ("end" in problem && problem.end < ends + block.ends.length) {
      const row = problem.end - ends;
      const { message, ...more } = file.nowhere(shown(block.ends.text(row)));
      return new Corrupt(`${block.at("edge", Math.floor(row / 2))}: ${message}`, { where, ...more });
    }
    nodes += block.nodes.length;
    ends += block.ends.length;
  }
  return new Corrupt(`${where} has changed while it was read`, { where });
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 40));
