/**
 * Arrays as text, block by block in C order, so that a result of any size passes through a bounded memory.
 *
 *   json   { "shape": […], "dtype": "…", "data": nested lists }
 *   csv    a list: one value per line; else one line per row of the last axis; structs: one per line under a header;
 *          complex numbers are "1+2j" there, and [1,2] in JSON
 */
import { type DataType, dtypeText } from "../bytes/dtype.js";
import { jsonOf, toJson } from "../convert/json/text.js";
import type { NdArray } from "../model/array.js";
import { readableValues } from "./values.js";

/** What turns an array into bytes of a file: its beginning, each block, its end. */
export interface ArrayText {
  head(): string;
  block(array: NdArray, count: number): Generator<string>;
  tail(): string;
}

const PIECE = 1 << 16; // characters handed on at a time

export function jsonText(shape: readonly number[], dtype: DataType): ArrayText {
  /** Elements in one list of each depth: a list begins or ends where the count is a multiple of it. */
  const spans = shape.map((_, axis) => shape.slice(axis).reduce((product, length) => product * length, 1));
  const empty = shape.includes(0);
  let index = 0;
  return {
    head: () =>
      `{"shape":${toJson(shape)},"dtype":${toJson(dtypeText(dtype))},"data":${empty ? emptyLists(shape) : ""}`,
    *block(array, count) {
      let text = "";
      for (const value of readableValues(array, count)) {
        if (index > 0) text += ",";
        for (const span of spans) if (index % span === 0) text += "[";
        text += jsonOf(value);
        index++;
        for (const span of spans) if (index % span === 0) text += "]";
        if (text.length > PIECE) {
          yield text;
          text = "";
        }
      }
      yield text;
    },
    tail: () => "}\n",
  };
}

/** Lists down to the first empty axis: shape 2 × 0 is [[],[]]. */
function emptyLists(shape: readonly number[]): string {
  const [length = 0, ...rest] = shape;
  return length === 0 ? "[]" : `[${Array<string>(length).fill(emptyLists(rest)).join(",")}]`;
}

export function csvText(shape: readonly number[], dtype: DataType): ArrayText {
  const fields = dtype.kind === "struct" ? dtype.fields.filter(({ name }) => name !== "") : undefined;
  // A list is a column; from two axes on the last one runs across; structs are rows of their own.
  const across = fields !== undefined || shape.length < 2 ? 1 : shape.at(-1)!;
  let index = 0;
  return {
    head: () => (fields === undefined ? "" : `${fields.map(({ name }) => cell(name)).join(",")}\n`),
    *block(array, count) {
      let text = "";
      for (const value of readableValues(array, count)) {
        text +=
          fields === undefined
            ? cell(value, dtype)
            : fields
                .map(({ name, shape, dtype: type }) =>
                  cell((value as Record<string, unknown>)[name], shape === undefined ? type : undefined),
                )
                .join(",");
        text += ++index % across === 0 ? "\n" : ",";
        if (text.length > PIECE) {
          yield text;
          text = "";
        }
      }
      yield text;
    },
    tail: () => "",
  };
}

/** As Python spells it, and numpy and pandas read it: 1.5-2j. */
function complex(parts: readonly [number, number]): string {
  const [real, imaginary] = parts.map((part) => (Object.is(part, -0) ? "-0.0" : String(part)));
  return `${real}${imaginary!.startsWith("-") ? "" : "+"}${imaginary}j`;
}

/** A field of a CSV row. Nothing is quoted too: many readers skip an empty line, and with it an element. */
export function cell(value: unknown, dtype?: DataType): string {
  const text =
    dtype?.kind === "complex"
      ? complex(value as readonly [number, number])
      : typeof value === "object" || Object.is(value, -0)
        ? jsonOf(value)
        : String(value);
  return /[",\r\n]|^\s|\s$|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
