/**
 * Edge lists: `a b` or `a b weight` on each line. Where nodes lie is in lines that other software takes for comments,
 *
 *     # node a 1.5 2 0
 *
 * or in a file of the same name beside, which ends in `.nodes` and has `a x y z` on each line. Without either nobody knows, and the
 * list is refused.
 */

import { Corrupt } from "../../errors.js";
import { withLimits } from "../../limits.js";
import { lostUnit } from "../../model/attributes.js";
import { widened } from "../../query/columns.js";
import { Key } from "../../store/key.js";
import type { Sink } from "../../store/types.js";
import { type InputFile, openFile, whole } from "./file.js";
import { NAMES, nameColumn, namesOf } from "./nodes.js";
import { spoolIn } from "./spool.js";
import { column, columns, type Surface, surfaceContent } from "./surface.js";
import { AS_GRAPH, endsOf, lossesOf } from "./surface-write.js";
import { Scanner } from "./text.js";
import { textSink } from "./text-write.js";
import type { FileContent, FileData, FileFormat, FileReport, OpenFileOptions, WriteFileOptions } from "./types.js";

export const file: FileFormat = { open, write };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const { chunkBytes } = withLimits(options.limits);
  const nodes = new Nodes();
  const beside = Key.of(input.key.replace(/\.edges(\.gz)?$/i, ".nodes"));
  if (beside !== input.key && (await input.store.stat(beside, { signal: options.signal })) !== undefined) {
    const table = await openFile(input.store, beside, options);
    parseNodes(await whole(table, chunkBytes, options), table.where, nodes);
  }
  return surfaceContent(parseEdges(await whole(input, chunkBytes, options), input.where, nodes), input, options);
}

/** Nodes by name. */
export class Nodes {
  readonly names: string[] = [];
  readonly positions: number[] = [];
  readonly rows = new Map<string, number>();

  add(scanner: Scanner): void {
    const name = scanner.word();
    if (name === "") throw scanner.corrupt("a node without a name");
    if (this.rows.has(name)) throw scanner.corrupt(`node ${JSON.stringify(name)} is there twice`);
    this.rows.set(name, this.names.push(name) - 1);
    for (const axis of ["x", "y", "z"]) this.positions.push(axis === "z" && scanner.ends() ? 0 : scanner.number(axis));
  }
}

const HASH = 0x23;

function parseNodes(bytes: Uint8Array, where: string, nodes: Nodes): void {
  const scanner = new Scanner({ bytes }, where);
  for (let more = bytes.length > 0; more; more = scanner.next())
    if (!scanner.ends() && scanner.peek() !== HASH) nodes.add(scanner);
}

export function parseEdges(bytes: Uint8Array, where: string, nodes = new Nodes()): Surface {
  const scanner = new Scanner({ bytes }, where);
  const [ends, weights, lines]: [number[], number[], number[]] = [[], [], []];
  let weighted = false;
  const end = (): number => {
    const name = scanner.word();
    if (name === "") throw scanner.corrupt("an edge has one end only");
    const row = nodes.rows.get(name);
    if (row !== undefined) return row;
    throw new Corrupt(
      `${where}, line ${scanner.line}: nothing says where node ${JSON.stringify(name.slice(0, 40))} lies`,
      {
        where,
        hint: "Put lines `# node NAME X Y Z` before the edges, or a file that ends in .nodes with NAME X Y Z beside.",
      },
    );
  };
  for (let more = bytes.length > 0; more; more = scanner.next()) {
    if (scanner.ends()) continue;
    if (scanner.peek() === HASH) {
      scanner.at++;
      if (scanner.word() === "node") nodes.add(scanner);
      continue;
    }
    lines.push(scanner.line);
    ends.push(end(), end());
    const own = !scanner.ends();
    weights.push(own ? scanner.number("a weight") : Number.NaN);
    weighted ||= own;
    if (!scanner.ends()) throw scanner.corrupt(`${JSON.stringify(scanner.rest().slice(0, 40))} after the weight`);
  }
  return {
    version: "",
    geometry: "graph",
    positions: Float64Array.from(nodes.positions),
    links: Uint32Array.from(ends),
    vertexColumns: columns(nameColumn(nodes.names)),
    linkColumns: weighted ? columns(column("weight", Float64Array.from(weights))) : new Map(),
    place: (what, i) => (what === "link" ? `line ${lines[i]}` : `node ${JSON.stringify(nodes.names[i])}`),
  };
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
