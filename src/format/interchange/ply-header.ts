/**
 * The header of PLY: text, after which the elements follow, each as many rows as it says.
 *
 * | line                                   | meaning                                                                 |
 * |----------------------------------------|-------------------------------------------------------------------------|
 * | `ply`                                  | first line                                                              |
 * | `format F 1.0`                         | `ascii`, `binary_little_endian` or `binary_big_endian`                  |
 * | `comment …`, `obj_info …`              | for people                                                              |
 * | `element NAME COUNT`                   | its rows come next                                                      |
 * | `property TYPE NAME`                   | a number in each row                                                    |
 * | `property list COUNTTYPE TYPE NAME`    | in each row how many, and so many numbers                               |
 * | `end_header`                           | the next byte is data                                                   |
 */
import type { NumericType } from "../../codec/numeric.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { InputFile } from "./file.js";
import { numeric } from "./surface.js";
import { Scanner } from "./text.js";

export interface PlyProperty {
  readonly name: string;
  readonly type: NumericType;
  /** Of lists: the type of how many. */
  readonly count?: NumericType | undefined;
}

export interface PlyElement {
  readonly name: string;
  readonly count: number;
  readonly properties: readonly PlyProperty[];
  /** Bytes of a row, or the least of them where there are lists. */
  readonly stride: number;
}

export interface PlyHeader {
  readonly format: "ascii" | "binary_little_endian" | "binary_big_endian";
  readonly elements: readonly PlyElement[];
  readonly comments: readonly string[];
  /** Bytes and lines of the header. */
  readonly length: number;
  readonly lines: number;
}

const TYPES: ReadonlyMap<string, NumericType> = new Map([
  ["char", numeric("int", 1)],
  ["uchar", numeric("uint", 1)],
  ["short", numeric("int", 2)],
  ["ushort", numeric("uint", 2)],
  ["int", numeric("int", 4)],
  ["uint", numeric("uint", 4)],
  ["float", numeric("float", 4)],
  ["double", numeric("float", 8)],
  ["int8", numeric("int", 1)],
  ["uint8", numeric("uint", 1)],
  ["int16", numeric("int", 2)],
  ["uint16", numeric("uint", 2)],
  ["int32", numeric("int", 4)],
  ["uint32", numeric("uint", 4)],
  ["float32", numeric("float", 4)],
  ["float64", numeric("float", 8)],
]);

/** As PLY spells it. */
export const plyType = ({ kind, size }: NumericType): string =>
  [...TYPES].find(([, own]) => own.kind === kind && own.size === size)![0];

export async function readPlyHeader(file: InputFile, options: ReadOptions): Promise<PlyHeader> {
  const most = withLimits(options.limits).metadataBytes;
  for (let length = 1 << 16; ; length *= 16) {
    const bytes = await file.read(0, Math.min(length, most), options);
    const header = parsePlyHeader(bytes, file.where);
    if (header !== undefined) return header;
    if (bytes.length < length)
      throw new Corrupt(`${file.where} has no end_header in its first ${bytes.length} bytes`, { where: file.where });
  }
}

/** undefined where its end is not within these bytes. */
export function parsePlyHeader(bytes: Uint8Array, where: string): PlyHeader | undefined {
  const scanner = new Scanner({ bytes }, where);
  if (bytes.length >= 4 && !(scanner.word() === "ply" && scanner.ends()))
    throw new Corrupt(`${where} should begin with a line "ply"`, { where });
  let format: PlyHeader["format"] | undefined;
  const elements: { name: string; count: number; properties: PlyProperty[]; stride: number }[] = [];
  const comments: string[] = [];
  while (scanner.next()) {
    const line = scanner.at;
    const word = scanner.word();
    const end = bytes.indexOf(10, line);
    if (end < 0) return undefined;
    if (word === "end_header") {
      if (format === undefined) throw scanner.corrupt("the header ends without a line of its format");
      return { format, elements, comments, length: end + 1, lines: scanner.line };
    }
    if (word === "comment" || word === "obj_info") comments.push(`${word} ${scanner.rest()}`);
    else if (word === "format") format = formatOf(scanner);
    else if (word === "element") {
      const name = scanner.word();
      const count = scanner.integer(`the number of rows of ${name}`);
      if (count < 0 || elements.some((other) => other.name === name))
        throw scanner.corrupt(`element ${name} with ${count} rows, where a new name and a count belong`);
      elements.push({ name, count, properties: [], stride: 0 });
    } else if (word === "property") {
      const element = elements.at(-1);
      if (element === undefined) throw scanner.corrupt("a property before the first element");
      const property = propertyOf(scanner);
      if (element.properties.some(({ name }) => name === property.name))
        throw scanner.corrupt(`element ${element.name} has the property ${property.name} twice`);
      element.properties.push(property);
      element.stride += (property.count ?? property.type).size;
    } else if (word !== "" || !scanner.ends())
      throw scanner.corrupt(`${JSON.stringify(word.slice(0, 40))} is no line of a PLY header`);
  }
  return undefined;
}

function formatOf(scanner: Scanner): PlyHeader["format"] {
  const [format, version] = [scanner.word(), scanner.word()];
  if (format !== "ascii" && format !== "binary_little_endian" && format !== "binary_big_endian")
    throw new Unsupported(`${scanner.where} is PLY in the format ${JSON.stringify(format.slice(0, 40))}`);
  if (version !== "1.0") throw new Unsupported(`${scanner.where} is PLY ${version.slice(0, 40)}, and 1.0 is read`);
  return format;
}

function propertyOf(scanner: Scanner): PlyProperty {
  const typed = (): NumericType => {
    const word = scanner.word();
    const found = TYPES.get(word);
    if (found === undefined) throw scanner.corrupt(`${JSON.stringify(word.slice(0, 40))} is no type of PLY`);
    return found;
  };
  scanner.ends();
  const list = scanner.bytes[scanner.at] === 0x6c; // no type begins with "l"
  if (list) scanner.word();
  const count = list ? typed() : undefined;
  if (count?.kind === "float") throw scanner.corrupt("a list that is counted with floats");
  const own = typed();
  const name = scanner.word();
  if (name === "") throw scanner.corrupt("a property without a name");
  return { name, type: own, count };
}
