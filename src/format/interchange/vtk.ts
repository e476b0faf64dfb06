/** Legacy VTK files with polydata. vtk-header.ts has the table of their lines. */
import type { NumericArray } from "../../codec/types.js";
import { Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { Column } from "../../model/attributes.js";
import type { Positions } from "../../model/vectors.js";
import { type InputFile, whole } from "./file.js";
import {
  arrayColumn,
  asPlaces,
  type CellKind,
  type Cells,
  checkOffsets,
  NO_CELLS,
  type PolyData,
  polySurface,
} from "./polydata.js";
import { columns, surfaceContent } from "./surface.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";
import { TYPES, VtkWords } from "./vtk-header.js";
import { writeVtk } from "./vtk-write.js";

export const file: FileFormat = { holdsEmpty: true, open, write: writeVtk };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const bytes = await whole(input, withLimits(options.limits).resultBytes, options);
  return surfaceContent(polySurface(parse(bytes, input.where), input.where, options), input, options);
}

const CELLS: ReadonlyMap<string, CellKind> = new Map([
  ["VERTICES", "verts"],
  ["LINES", "lines"],
  ["POLYGONS", "polys"],
  ["TRIANGLE_STRIPS", "strips"],
]);
const FLOAT = TYPES.get("float")!;
const BYTE = TYPES.get("unsigned_char")!;

function parse(bytes: Uint8Array, where: string): PolyData {
  const words = new VtkWords(bytes, where);
  const { scanner, binary } = words;
  const [dataset, kind] = [words.word().toUpperCase(), words.word().toUpperCase()];
  if (dataset !== "DATASET" || kind !== "POLYDATA")
    throw new Unsupported(`${where} is VTK with ${`${dataset} ${kind}`.slice(0, 60)}, and DATASET POLYDATA is read`, {
      where,
    });
  let positions: Positions | undefined;
  const cells = { verts: NO_CELLS, lines: NO_CELLS, polys: NO_CELLS, strips: NO_CELLS };
  const [points, faces, fields, notes] = [
    new Map<string, Column>(),
    new Map<string, Column>(),
    new Map<string, Column>(),
    [] as string[],
  ];
  let [target, rows] = [fields, 0];

  const put = (name: string, values: NumericArray, channels: number): void => {
    if (target === fields) notes.push(`the field ${decoded(name)} is left out`);
    else {
      const own = arrayColumn(decoded(name), values, channels);
      target.set(own.info.name, own);
    }
  };
  const enter = (own: Map<string, Column>, expected: number, what: string): void => {
    rows = words.count(`the number of ${what}`);
    if (rows !== expected) throw words.corrupt(`data of ${rows} ${what}, and there are ${expected}`);
    target = own;
  };

  for (let word = words.word().toUpperCase(); word !== ""; word = words.word().toUpperCase()) {
    const cell = CELLS.get(word);
    if (word === "POINTS") {
      const count = words.count("the number of points");
      const values = words.array(words.type(), 3 * count, "the points");
      positions = values instanceof Float64Array ? values : Float32Array.from(values as Float32Array);
    } else if (cell !== undefined) cells[cell] = readCells(words, word);
    else if (word === "POINT_DATA") enter(points, (positions?.length ?? 0) / 3, "points");
    else if (word === "CELL_DATA")
      enter(
        faces,
        Object.values(cells).reduce((sum, { offsets }) => sum + offsets.length - 1, 0),
        "cells",
      );
    else if (word === "SCALARS") {
      const [name, own] = [scanner.word(), words.type()];
      const channels = scanner.ends() ? 1 : words.count("the number of components");
      const at = { at: scanner.at, line: scanner.line };
      if (words.word().toUpperCase() === "LOOKUP_TABLE") scanner.word();
      else Object.assign(scanner, at); // without one the numbers follow at once
      put(name, words.array(own, rows * channels, name), channels);
    } else if (word === "VECTORS" || word === "NORMALS" || word === "TENSORS") {
      const [name, own] = [scanner.word(), words.type()];
      const channels = word === "TENSORS" ? 9 : 3;
      put(word === "NORMALS" ? "Normals" : name, words.array(own, rows * channels, name), channels);
    } else if (word === "TEXTURE_COORDINATES") {
      const [name, channels] = [scanner.word(), words.count("the number of components")];
      put(channels === 2 ? "TCoords" : name, words.array(words.type(), rows * channels, name), channels);
    } else if (word === "COLOR_SCALARS") {
      const [name, channels] = [scanner.word(), words.count("the number of components")];
      put(name, words.array(binary ? BYTE : FLOAT, rows * channels, name), channels);
    } else if (word === "LOOKUP_TABLE") {
      const [name, size] = [scanner.word(), words.count("the size of the table")];
      words.array(binary ? BYTE : FLOAT, 4 * size, name);
      notes.push(`the lookup table ${name} is left out`);
    } else if (word === "FIELD") readField(words, put, notes, target === fields ? undefined : rows);
    else if (word === "METADATA") skipMetadata(words);
    else throw words.corrupt(`${JSON.stringify(word.slice(0, 40))} is no word of VTK's polydata`);
  }
  return {
    version: `VTK ${words.version.toFixed(1)} ${binary ? "binary" : "ascii"}`,
    positions: positions ?? new Float32Array(),
    cells,
    pointData: columns(...points.values()),
    cellData: columns(...faces.values()),
    header: { title: words.title },
    notes,
  };
}

/** Names have what is no letter as %20. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function readCells(words: VtkWords, what: string): Cells {
  const { scanner } = words;
  const [first, second] = [words.count("the number of cells"), words.count("the size of the cells")];
  if (words.version >= 5) {
    const part = (name: string, count: number): Uint32Array => {
      const word = words.word().toUpperCase();
      if (word !== name) throw words.corrupt(`${JSON.stringify(word.slice(0, 40))} where ${name} was expected`);
      return asPlaces(words.array(words.type(), count, `${name} of ${what}`));
    };
    const [offsets, ends] = [part("OFFSETS", first), part("CONNECTIVITY", second)];
    if (first === 0) return NO_CELLS;
    checkOffsets(offsets, ends.length, scanner.where, what);
    return { offsets, ends };
  }
  const raw = words.array(TYPES.get("int")!, second, what) as Int32Array;
  if (first > second) throw words.corrupt(`${first} cells in ${second} numbers of ${what}`);
  const [offsets, ends] = [new Uint32Array(first + 1), new Uint32Array(second - first)];
  let at = 0;
  for (let cell = 0; cell < first; cell++) {
    const size = raw[at++] ?? -1;
    if (size < 0 || at + size > second)
      throw words.corrupt(`cell ${cell} of ${what} has ${size} points, and ${second - at} numbers are left`);
    const start = offsets[cell]!;
    for (let k = 0; k < size; k++) ends[start + k] = raw[at + k]!;
    offsets[cell + 1] = start + size;
    at += size;
  }
  if (at !== second) throw words.corrupt(`${what} should have ${second} numbers, and its cells are ${at}`);
  return { offsets, ends };
}

function readField(
  words: VtkWords,
  put: (name: string, values: NumericArray, channels: number) => void,
  notes: string[],
  rows: number | undefined,
): void {
  const { scanner } = words;
  scanner.word(); // its name, which nobody uses
  const arrays = words.count("the number of arrays");
  for (let i = 0; i < arrays; i++) {
    const name = words.word();
    if (name === "") throw words.corrupt(`the file ends within a field of ${arrays} arrays`);
    if (name === "METADATA") {
      skipMetadata(words);
      i--;
      continue;
    }
    const [channels, count] = [words.count("the number of components"), words.count("the number of tuples")];
    const kind = scanner.bytes.subarray(scanner.at + 1, scanner.at + 7);
    if (new TextDecoder("latin1").decode(kind) === "string") {
      skipStrings(words, channels * count);
      notes.push(`the text of ${name} is left out`);
      continue;
    }
    const values = words.array(words.type(), channels * count, name);
    if (rows === undefined || (count === rows && channels > 0)) put(name, values, channels);
    else throw words.corrupt(`the array ${name} has ${count} rows of ${channels}, and ${rows} are expected`);
  }
}

/** A line each in text; in binary files their length comes first, in 6, 14, 30 or 62 bits. */
function skipStrings(words: VtkWords, count: number): void {
  const { scanner, binary } = words;
  const { bytes } = scanner;
  scanner.next();
  for (let i = 0; i < count; i++) {
    if (scanner.at >= bytes.length) throw words.corrupt("the file ends within texts");
    if (!binary) scanner.next();
    else {
      const size = { 3: 1, 2: 2, 1: 4, 0: 8 }[bytes[scanner.at]! >> 6]!;
      let length = bytes[scanner.at]! & 63;
      for (let k = 1; k < size; k++) length = length * 256 + (bytes[scanner.at + k] ?? 0);
      scanner.at += size + length;
    }
  }
}

/** Up to an empty line. */
function skipMetadata({ scanner }: VtkWords): void {
  while (scanner.next()) if (scanner.ends()) return;
}
