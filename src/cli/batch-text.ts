/**
 * The answer to a query as a file, batch by batch, so that one of any size passes through a bounded memory.
 *
 *   json     { level, geometry, axes, units (where there are any), items }; what an item is: items.ts
 *   ndjson   an item on each line
 *   csv      a row for each vertex: the object, its part, the axes, the attributes of vertices, then "object.…"
 *   npy      the positions, vertices × axes; what belongs to which object is not in it
 */
import { encodeUtf8 } from "../bytes/text.js";
import { Conflict } from "../errors.js";
import { writeNpy } from "../format/interchange/npy.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { Batch, Columns, Geometry, Schema } from "../model/vectors.js";
import { channelTitles, reader } from "./columns.js";
import { itemsOf, positionReader } from "./items.js";
import { cell, jsonOf } from "./text.js";

/** The beginning, each batch and the end, as bytes. */
export interface BatchWriter {
  head(first: Batch | undefined): Uint8Array;
  batch(batch: Batch): Iterable<Uint8Array>;
  tail(): Uint8Array;
}

const PIECE = 1 << 16; // characters handed on at a time

const bytes = (text: string): Uint8Array => encodeUtf8(text, "the output");

function* inPieces(texts: Iterable<string>): Generator<Uint8Array> {
  let text = "";
  for (const part of texts) {
    text += part;
    if (text.length <= PIECE) continue;
    yield bytes(text);
    text = "";
  }
  if (text !== "") yield bytes(text);
}

export function itemsWriter(
  lines: boolean,
  about: {
    readonly level: number;
    readonly geometry: Geometry;
    readonly axes: readonly string[];
    readonly units?: readonly (string | null)[];
  },
): BatchWriter {
  let before = lines ? "" : "\n";
  const texts = function* (batch: Batch): Generator<string> {
    for (const item of itemsOf(batch)) {
      yield before;
      yield* item;
      before = lines ? "\n" : ",\n";
    }
  };
  return {
    head: (first) => {
      const geometry = first?.geometry ?? about.geometry; // that of a composite store may have no links, and is points then
      return bytes(lines ? "" : `${jsonOf({ ...about, geometry }).slice(0, -1)},"items":[`);
    },
    batch: (batch) => inPieces(texts(batch)),
    tail: () => bytes(lines ? before : before === "\n" ? "]}\n" : "\n]}\n"),
  };
}

/**
 * A column of each attribute of the level that was asked for, also where a batch has none of it. How many values a row has
 * is what the data say: not every store has written it down.
 */
export function csvWriter(axes: readonly string[], said: Pick<Schema, "vertex" | "object">): BatchWriter {
  const fixed = ["object", "part", ...axes];
  let schema = said;
  const seen = (infos: readonly AttributeInfo[], columns: Columns | undefined): AttributeInfo[] =>
    infos.map((info) => columns?.get(info.name)?.info ?? info);
  const titles = (): string[] =>
    (["vertex", "object"] as const).flatMap((domain) =>
      schema[domain].flatMap((info) => {
        const plain = domain === "vertex" && !fixed.includes(info.name);
        return channelTitles(plain ? info.name : `${domain}.${info.name}`, info);
      }),
    );
  const rows = function* (batch: Batch): Generator<string> {
    if (batch.repeats === true) return;
    const position = positionReader(batch);
    const ofVertex = rowText(schema.vertex, batch.vertexColumns);
    const ofObject = rowText(schema.object, batch.objectColumns);
    let [object, number] = [-1, 0];
    for (let part = 0; part < batch.objects.length; part++) {
      const owner = batch.objects[part]!;
      number = owner >= 0 && owner === object ? number + 1 : 0;
      object = owner;
      const start = `${owner < 0 ? "" : batch.ids[owner]},${number}`;
      const end = ofObject(owner);
      for (let vertex = batch.parts[part]!; vertex < batch.parts[part + 1]!; vertex++)
        yield `${start}${position(vertex).map(field).join("")}${ofVertex(vertex)}${end}\n`;
    }
  };
  return {
    head(first) {
      schema = {
        vertex: seen(said.vertex, first?.vertexColumns),
        object: seen(said.object, first?.objectColumns),
      };
      return bytes(`${[...fixed, ...titles()].map((title) => cell(title)).join(",")}\n`);
    },
    batch: (batch) => inPieces(rows(batch)),
    tail: () => new Uint8Array(),
  };
}

/** A comma, and the value unless it is absent. */
const field = (value: unknown): string => (value === null ? "," : `,${cell(value)}`);

/** How to write a row of these attributes; row −1 has no values. */
function rowText(infos: readonly AttributeInfo[], columns: Columns): (row: number) => string {
  const reads = infos.map(({ name, channels }) => {
    const column = columns.get(name);
    return { channels, read: column === undefined ? () => null : reader(column) };
  });
  return (row) => {
    let text = "";
    for (const { channels, read } of reads)
      for (let channel = 0; channel < channels; channel++)
        text += field(row < 0 ? null : read(row * channels + channel));
    return text;
  };
}

/** An .npy file says first how long it is: `vertices` must have been counted. */
export function npyWriter(vertices: number, dims: number): BatchWriter {
  let left = vertices;
  return {
    head: (first) => {
      const size = first?.positions instanceof Float64Array ? 8 : 4;
      const dtype = { kind: "float", size, endian: "little" } as const;
      return writeNpy({ shape: [vertices, dims], dtype, data: new Uint8Array() });
    },
    *batch({ positions, repeats }) {
      if (repeats === true) return;
      left -= positions.length / dims;
      yield new Uint8Array(positions.buffer, positions.byteOffset, positions.byteLength);
    },
    tail() {
      if (left !== 0) throw new Conflict("the data changed between counting and reading them", { hint: "Try again." });
      return new Uint8Array();
    },
  };
}
