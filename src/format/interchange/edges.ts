/**
 * Edge lists: `a b` or `a b weight` on each line. Where nodes lie is in lines, anywhere, that other software takes for comments,
 *
 *     # node a 1.5 2 0
 *
 * or in a file of the same name beside, which ends in `.nodes` and has `a x y z` on each line. Without either nobody knows, and the
 * list is refused.
 */

import { Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import { lostUnit } from "../../model/attributes.js";
import { widened } from "../../query/columns.js";
import { Key } from "../../store/key.js";
import type { Sink } from "../../store/types.js";
import { type InputFile, openFile, PASSED, sizeOf, wholeOrPassing } from "./file.js";
import { type GraphBlock, type GraphFile, heldGraph, passGraph } from "./graph.js";
import { Growing } from "./growing.js";
import { Names } from "./names.js";
import { NAMES, namesOf } from "./nodes.js";
import { spoolIn } from "./spool.js";
import { column, columns, surfaceContent } from "./surface.js";
import { passingContent } from "./surface-passing.js";
import { AS_GRAPH, endsOf, lossesOf } from "./surface-write.js";
import { Scanner, type TextBlock, textBlocks } from "./text.js";
import { textSink } from "./text-write.js";
import type { FileContent, FileData, FileFormat, FileReport, OpenFileOptions, WriteFileOptions } from "./types.js";

export const file: FileFormat = { open, write };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const beside = await nodesBeside(input, options);
  const most = withLimits(options.limits).chunkBytes;
  const edges = await wholeOrPassing(input, options, most);
  if (edges instanceof Unsupported) return passing(input, beside, edges, options);
  const left = options.maxMemory === undefined ? undefined : options.maxMemory - PASSED * edges.length;
  const nodes = beside && (await wholeOrPassing(beside, { ...options, maxMemory: left }, most));
  if (nodes instanceof Unsupported) return passing(input, beside, nodes, options);
  const file = edgeFile(input, async function* () {
    const lines = new EdgeLines(input.where, beside?.where);
    if (nodes !== undefined) lines.takeNodes({ bytes: nodes, line: 1 });
    lines.take({ bytes: edges, line: 1 });
    yield lines;
  });
  return surfaceContent(await heldGraph(file), input, options);
}

function passing(
  input: InputFile,
  beside: InputFile | undefined,
  refusal: Unsupported,
  options: OpenFileOptions,
): FileContent {
  return passingContent({ version: "", geometry: "graph" }, refusal, async (makeScratch, now) => {
    const file = edgeFile(input, async function* () {
      for await (const block of beside === undefined ? [] : textBlocks(beside, now)) {
        const lines = new EdgeLines(input.where, beside?.where);
        lines.takeNodes(block);
        yield lines;
      }
      for await (const block of textBlocks(input, now)) {
        const lines = new EdgeLines(input.where, beside?.where);
        lines.take(block);
        yield lines;
      }
    });
    const size = (await sizeOf(input, now)) + (beside === undefined ? 0 : await sizeOf(beside, now));
    return passGraph(file, size, makeScratch, options);
  });
}

/** The table of nodes that lies beside, where there is one. */
async function nodesBeside(input: InputFile, options: OpenFileOptions): Promise<InputFile | undefined> {
  const beside = Key.of(input.key.replace(/\.edges(\.gz)?$/i, ".nodes"));
  const there = beside !== input.key && (await input.store.stat(beside, { signal: options.signal })) !== undefined;
  return there ? openFile(input.store, beside, options) : undefined;
}

function edgeFile({ where }: InputFile, blocks: () => AsyncGenerator<EdgeLines>): GraphFile<EdgeLines> {
  let weighted = false;
  return {
    where,
    async *blocks() {
      for await (const lines of blocks()) {
        weighted ||= lines.weighted;
        yield lines;
      }
    },
    columns: ({ positions, weights }) => ({
      positions: positions.done(),
      vertexColumns: new Map(),
      linkColumns: weighted ? columns(column("weight", weights.done())) : new Map(),
    }),
    linkPlace: (lines, link) => `line ${lines.lines.values[link]}`,
    nowhere: (name) => ({
      message: `nothing says where node ${name} lies`,
      hint: "Put lines `# node NAME X Y Z` into the file, or a file that ends in .nodes with NAME X Y Z beside.",
    }),
  };
}

const HASH = 0x23;

type EdgeText = Pick<TextBlock, "bytes" | "line">;

/** Nodes and edges of whole lines. */
class EdgeLines implements GraphBlock {
  readonly nodes: Names;
  readonly positions = new Growing(new Float64Array());
  readonly ends: Names;
  readonly weights = new Growing(new Float64Array());
  weighted = false;
  /** The line of each edge, and of each node. */
  readonly lines = new Growing(new Uint32Array());
  readonly #nodeLines = new Growing(new Uint32Array());
  readonly #where: string;
  readonly #beside: string | undefined;
  /** So many of the nodes are in the file beside. */
  #nodesBeside = 0;

  constructor(where: string, beside: string | undefined) {
    this.#where = where;
    this.#beside = beside;
    this.nodes = new Names(where);
    this.ends = new Names(where);
  }

  at(what: "node" | "edge", i: number): string {
    if (what === "edge") return `${this.#where}, line ${this.lines.values[i]}`;
    return `${i < this.#nodesBeside ? this.#beside : this.#where}, line ${this.#nodeLines.values[i]}`;
  }

  /** Lines of the file beside. */
  takeNodes(block: EdgeText): void {
    const scanner = new Scanner(block, this.#beside!);
    for (let more = block.bytes.length > 0; more; more = scanner.next())
      if (!scanner.ends() && scanner.peek() !== HASH) this.#node(scanner);
    this.#nodesBeside = this.nodes.length;
  }

  take(block: EdgeText): void {
    const scanner = new Scanner(block, this.#where);
    for (let more = block.bytes.length > 0; more; more = scanner.next()) {
      if (scanner.ends()) continue;
      if (scanner.peek() === HASH) {
        scanner.at++;
        if (scanner.word() === "node") this.#node(scanner);
      } else this.#edge(scanner);
    }
  }

  #node(scanner: Scanner): void {
    this.#name(scanner, this.nodes, "a node without a name");
    this.#nodeLines.push(scanner.line);
    for (const axis of ["x", "y", "z"]) this.positions.push(axis === "z" && scanner.ends() ? 0 : scanner.number(axis));
  }

  #edge(scanner: Scanner): void {
    this.lines.push(scanner.line);
    for (let end = 0; end < 2; end++) this.#name(scanner, this.ends, "an edge has one end only");
    const weighted = !scanner.ends();
    this.weights.push(weighted ? scanner.number("a weight") : Number.NaN);
    this.weighted ||= weighted;
    if (!scanner.ends()) throw scanner.corrupt(`${JSON.stringify(scanner.rest().slice(0, 40))} after the weight`);
  }

  #name(scanner: Scanner, to: Names, missing: string): void {
    const end = scanner.wordEnd();
    if (end === scanner.at) throw scanner.corrupt(missing);
    to.push(scanner.bytes, scanner.at, end);
    scanner.at = end;
  }
}

const KINDS = ["graph", "skeletons", "lines", "polylines", "streamlines"] as const;

async function write(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const losses = lossesOf(data, "an edge list", KINDS, [], AS_GRAPH);
  const kept: string[] = Object.values(NAMES);
  for (const { name } of data.schema.vertex) if (!kept.includes(name)) losses.add(`the vertex attribute ${name}`);
  for (const info of data.schema.link)
    for (const loss of info.name === "weight" ? lostUnit(info) : [`the link attribute ${info.name}`]) losses.add(loss);
  const text = textSink(sink);
  const aside = spoolIn(options.scratch);
  const edges = textSink({ write: (bytes) => aside.write(bytes) });
  let [vertices, objects, named] = [0, 0, false];
  for await (const batch of data.batches({ signal: options.signal, limits: options.limits })) {
    if (batch.repeats === true) {
      losses.add("edges between objects of different batches");
      continue;
    }
    const count = batch.positions.length / batch.dims;
    named ||= batch.ids.length > 0 && batch.ids[0] !== 0n;
    const name = namesOf(batch.vertexColumns, count, vertices);
    for (let row = 0; row < count; row++) {
      const place = batch.positions.subarray(3 * row, 3 * row + 3);
      const called = name(row);
      if (/\s|^$|^#/.test(called)) losses.add("names of nodes with blanks, which are written with _");
      await text.write(`# node ${plain(called)} ${place.join(" ")}\n`);
    }
    const [ends, weights] = [endsOf(batch), widened(batch.links?.columns.get("weight"))?.values];
    for (let edge = 0; 2 * edge < ends.length; edge++) {
      const weight = weights === undefined || Number.isNaN(weights[edge]) ? "" : ` ${weights[edge]}`;
      await edges.write(`${plain(name(ends[2 * edge]!))} ${plain(name(ends[2 * edge + 1]!))}${weight}\n`);
    }
    vertices += count;
    objects += batch.ids.length;
  }
  if (objects > 1) losses.add("which object each node belongs to");
  else if (named) losses.add("the id of the object");
  await text.end();
  await edges.end();
  await aside.pour(sink);
  return { vertices, objects, losses: [...losses] };
}

const plain = (name: string): string => name.replace(/\s+/g, "_").replace(/^$|^#/, "_");
