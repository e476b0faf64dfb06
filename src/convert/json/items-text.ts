/**
 * The answer to a query as JSON, batch by batch, so that one of any size passes through a bounded memory.
 *
 *   json     { level, geometry, axes, units (where there are any), items }; what an item is: items.ts
 *   ndjson   an item on each line
 */
import { encodeUtf8 } from "../../bytes/text.js";
import type { Batch, Geometry } from "../../model/vectors.js";
import { itemsOf } from "./items.js";
import { jsonOf } from "./text.js";

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
