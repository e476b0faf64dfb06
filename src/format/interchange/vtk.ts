/** Legacy VTK files with polydata. vtk-header.ts has the table of their lines. */
import type { NumericType } from "../../codec/numeric.js";
import { Unsupported } from "../../errors.js";
import { begin, type InputFile } from "./file.js";
import {
  arrayName,
  asPlaces,
  type CellArrays,
  type CellKind,
  fewComponents,
  type Keep,
  keepPlaces,
  kept,
  keptPoints,
  noCells,
  OffsetCheck,
  type PolyArray,
  type PolyData,
} from "./polydata.js";
import { polyContent } from "./polydata-passing.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";
import { readClassicCells } from "./vtk-cells.js";
import { TYPES, VtkWords } from "./vtk-header.js";
import { writeVtk } from "./vtk-write.js";

const open = (input: InputFile, options: OpenFileOptions): Promise<FileContent> =>
  polyContent(input, options, {
    outline: async () => ({ ...outlineOf(await VtkWords.open(begin(input, options), input.where)), geometry: "mesh" }),
    read: async (source, keep) => parse(await VtkWords.open(source, input.where), keep),
  });

export const file: FileFormat = { holdsEmpty: true, open, write: writeVtk };

const outlineOf = ({ version, binary, title }: VtkWords) => ({
  version: `VTK ${version.toFixed(1)} ${binary ? "binary" : "ascii"}`,
  header: { title },
});

const CELLS: ReadonlyMap<string, CellKind> = new Map([
  ["VERTICES", "verts"],
  ["LINES", "lines"],
  ["POLYGONS", "polys"],
  ["TRIANGLE_STRIPS", "strips"],
]);
const FLOAT = TYPES.get("float")!;
const BYTE = TYPES.get("unsigned_char")!;

/** Puts an array that follows where it belongs; `shown` is what errors call it. */
type Put = (name: string, type: NumericType, rows: number, channels: number, shown?: string) => Promise<void>;

async function parse<A>(words: VtkWords, keep: Keep<A>): Promise<PolyData<A>> {
  const { scanner, binary } = words;
  const { where } = scanner;
  const [dataset, kind] = [(await words.word()).toUpperCase(), (await words.word()).toUpperCase()];
  if (dataset !== "DATASET" || kind !== "POLYDATA")
    throw new Unsupported(`${where} is VTK with ${`${dataset} ${kind}`.slice(0, 60)}, and DATASET POLYDATA is read`, {
      where,
    });
  let [points, positions] = [0, await keptPoints(keep, FLOAT, 0, nothing())];
  const none = await noCells(keep);
  const cells = { verts: none, lines: none, polys: none, strips: none };
  const [pointData, cellData] = [new Map<string, PolyArray<A>>(), new Map<string, PolyArray<A>>()];
  const notes: string[] = [];
  let target: Map<string, PolyArray<A>> | undefined;
  let rows = 0;

  const put: Put = async (name, type, count, channels, shown = name) => {
    if (target !== undefined && !fewComponents(channels))
      throw words.corrupt(`the array ${shown} has ${channels} components`);
    const blocks = words.array(type, count * channels, shown);
    if (target === undefined) {
      for await (const _ of blocks);
      notes.push(`the field ${decoded(name)} is left out`);
      return;
    }
    const own = arrayName(decoded(name), channels);
    target.set(own, { name: own, channels, values: await kept(keep(type, count * channels, channels), blocks) });
  };
  const enter = (own: Map<string, PolyArray<A>>, expected: number, what: string): void => {
    rows = words.count(`the number of ${what}`);
    if (rows !== expected) throw words.corrupt(`data of ${rows} ${what}, and there are ${expected}`);
    target = own;
  };

  for (let word = (await words.word()).toUpperCase(); word !== ""; word = (await words.word()).toUpperCase()) {
    const cell = CELLS.get(word);
    if (word === "POINTS") {
      points = words.count("the number of points");
      const type = words.type();
      positions = await keptPoints(keep, type, points, words.array(type, 3 * points, "the points"));
    } else if (cell !== undefined) cells[cell] = await readCells(words, word, keep);
    else if (word === "POINT_DATA") enter(pointData, points, "points");
    else if (word === "CELL_DATA")
      enter(
        cellData,
        Object.values(cells).reduce((sum, { count }) => sum + count, 0),
        "cells",
      );
    else if (word === "SCALARS") {
      const [name, own] = [scanner.word(), words.type()];
      const channels = scanner.ends() ? 1 : words.count("the number of components");
      if (await words.passed("LOOKUP_TABLE")) scanner.word(); // without one the numbers follow at once
      await put(name, own, rows, channels);
    } else if (word === "VECTORS" || word === "NORMALS" || word === "TENSORS") {
      const [name, own] = [scanner.word(), words.type()];
      await put(word === "NORMALS" ? "Normals" : name, own, rows, word === "TENSORS" ? 9 : 3, name);
    } else if (word === "TEXTURE_COORDINATES") {
      const [name, channels] = [scanner.word(), words.count("the number of components")];
      await put(channels === 2 ? "TCoords" : name, words.type(), rows, channels, name);
    } else if (word === "COLOR_SCALARS") {
      const [name, channels] = [scanner.word(), words.count("the number of components")];
      await put(name, binary ? BYTE : FLOAT, rows, channels);
    } else if (word === "LOOKUP_TABLE") {
      const [name, size] = [scanner.word(), words.count("the size of the table")];
      for await (const _ of words.array(binary ? BYTE : FLOAT, 4 * size, name));
      notes.push(`the lookup table ${name} is left out`);
    } else if (word === "FIELD") await readField(words, put, notes, target === undefined ? undefined : rows);
    else if (word === "METADATA") await skipMetadata(words);
    else throw words.corrupt(`${JSON.stringify(word.slice(0, 40))} is no word of VTK's polydata`);
  }
  return { ...outlineOf(words), points, positions, cells, pointData, cellData, notes };
}

async function* nothing(): AsyncGenerator<never> {}

/** Names have what is no letter as %20. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

async function readCells<A>(words: VtkWords, what: string, keep: Keep<A>): Promise<CellArrays<A>> {
  const [first, second] = [words.count("the number of cells"), words.count("the size of the cells")];
  if (words.version < 5) return readClassicCells(words, what, keep, first, second);
  const check = new OffsetCheck(words.scanner.where, what);
  const part = async (name: string, count: number): Promise<A> => {
    const word = (await words.word()).toUpperCase();
    if (word !== name) throw words.corrupt(`${JSON.stringify(word.slice(0, 40))} where ${name} was expected`);
    const blocks = words.array(words.type(), count, `${name} of ${what}`);
    const as = name === "OFFSETS" ? (values: Parameters<typeof asPlaces>[0]) => check.take(asPlaces(values)) : asPlaces;
    return kept(keepPlaces(keep, count), blocks, as);
  };
  const [offsets, ends] = [await part("OFFSETS", first), await part("CONNECTIVITY", second)];
  if (first === 0) return noCells(keep);
  check.end(second);
  return { count: first - 1, offsets, ends };
}

async function readField(words: VtkWords, put: Put, notes: string[], rows: number | undefined): Promise<void> {
  const { scanner } = words;
  scanner.word(); // its name, which nobody uses
  const arrays = words.count("the number of arrays");
  for (let i = 0; i < arrays; i++) {
    const name = await words.word();
    if (name === "") throw words.corrupt(`the file ends within a field of ${arrays} arrays`);
    if (name === "METADATA") {
      await skipMetadata(words);
      i--;
      continue;
    }
    const [channels, count] = [words.count("the number of components"), words.count("the number of tuples")];
    const kind = scanner.bytes.subarray(scanner.at + 1, scanner.at + 7);
    if (new TextDecoder("latin1").decode(kind) === "string") {
      await skipStrings(words, channels * count);
      notes.push(`the text of ${name} is left out`);
      continue;
    }
    if (rows !== undefined && count !== rows)
      throw words.corrupt(`the array ${name} has ${count} rows of ${channels}, and ${rows} are expected`);
    await put(name, words.type(), count, channels);
  }
}

/** A line each in text; in binary files their length comes first, in 6, 14, 30 or 62 bits. */
async function skipStrings(words: VtkWords, count: number): Promise<void> {
  const { scanner, binary } = words;
  await scanner.nextLine();
  for (let i = 0; i < count; i++) {
    await scanner.fill(8);
    const { bytes, at } = scanner;
    if (at >= bytes.length) throw words.corrupt("the file ends within texts");
    if (!binary) await scanner.nextLine();
    else {
      const size = { 3: 1, 2: 2, 1: 4, 0: 8 }[bytes[at]! >> 6]!;
      let length = bytes[at]! & 63;
      for (let k = 1; k < size; k++) length = length * 256 + (bytes[at + k] ?? 0);
      scanner.pass(size + length);
    }
  }
}

/** Up to an empty line. */
async function skipMetadata({ scanner }: VtkWords): Promise<void> {
  while (await scanner.nextLine()) if (scanner.ends()) return;
}
