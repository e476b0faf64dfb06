/**
 * The words of legacy VTK files, and the arrays after them: text, or big-endian bytes.
 *
 * | line                                         | meaning                                                              |
 * |----------------------------------------------|----------------------------------------------------------------------|
 * | `# vtk DataFile Version 3.0`, a title        |                                                                      |
 * | `ASCII` or `BINARY`                          | how arrays are written                                               |
 * | `DATASET POLYDATA`                           |                                                                      |
 * | `POINTS n type`                              | 3 n numbers                                                          |
 * | `VERTICES` `LINES` `POLYGONS` `TRIANGLE_STRIPS` `n size` | up to version 4: of each cell how many, and its points; in 5 `OFFSETS type`, n numbers, `CONNECTIVITY type`, size numbers |
 * | `POINT_DATA n`, `CELL_DATA n`                | what follows is of points, of cells                                  |
 * | `SCALARS name type [c]` and `LOOKUP_TABLE t` | c n numbers                                                          |
 * | `VECTORS` `NORMALS` `TENSORS name type`      | 3 n or 9 n numbers                                                   |
 * | `TEXTURE_COORDINATES name c type`, `COLOR_SCALARS name c` | c n numbers; the second as bytes, or floats in text     |
 * | `FIELD name k`, k × `name c n type`          | arrays                                                               |
 * | `METADATA` …                                 | up to an empty line                                                  |
 */
import { swapBytes } from "../../bytes/swap.js";
import { type NumericType, numericView } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt, Unsupported } from "../../errors.js";
import type { ByteSource } from "./file.js";
import { FileScanner } from "./file-scanner.js";
import { scannedNumbers } from "./scanned-numbers.js";
import { numeric } from "./surface.js";

export const TYPES: ReadonlyMap<string, NumericType> = new Map([
  ["unsigned_char", numeric("uint", 1)],
  ["char", numeric("int", 1)],
  ["signed_char", numeric("int", 1)],
  ["unsigned_short", numeric("uint", 2)],
  ["short", numeric("int", 2)],
  ["unsigned_int", numeric("uint", 4)],
  ["int", numeric("int", 4)],
  ["float", numeric("float", 4)],
  ["double", numeric("float", 8)],
  ["vtktypeint64", numeric("int", 8)],
  ["vtktypeuint64", numeric("uint", 8)],
  ["long", numeric("int", 8)],
  ["unsigned_long", numeric("uint", 8)],
  ["vtkidtype", numeric("int", 4)], // as VTK itself writes it in these files
]);

const HEAD = 1 << 16; // bytes from the start of a word that are looked at together: what stands in its line
const BLOCK = 1 << 16; // numbers

/** Words and arrays of a file, one after the other. */
export class VtkWords {
  readonly scanner: FileScanner;
  readonly binary: boolean;
  readonly version: number;
  readonly title: string;

  private constructor(scanner: FileScanner, version: number, title: string, binary: boolean) {
    this.scanner = scanner;
    this.version = version;
    this.title = title;
    this.binary = binary;
  }

  /** From the first word after those that every file begins with. */
  static async open(source: ByteSource, where: string): Promise<VtkWords> {
    const scanner = new FileScanner(source, where);
    await scanner.fill(HEAD);
    const found = /^# vtk DataFile Version (\d+\.\d+)$/i.exec(scanner.rest());
    if (found === null) throw new Corrupt(`${where} should begin with "# vtk DataFile Version"`, { where });
    await scanner.nextLine();
    await scanner.fill(HEAD);
    const title = scanner.rest();
    await scanner.nextLine();
    const mode = (await wordOf(scanner)).toUpperCase();
    if (mode !== "ASCII" && mode !== "BINARY")
      throw scanner.corrupt(`${JSON.stringify(mode.slice(0, 40))} where ASCII or BINARY was expected`);
    return new VtkWords(scanner, Number(found[1]), title, mode === "BINARY");
  }

  /** The next word of the file, or "" at its end. */
  word(): Promise<string> {
    return wordOf(this.scanner);
  }

  /** Past that word, where it is the next. */
  async passed(word: string): Promise<boolean> {
    const { scanner } = this;
    await scanner.fill(HEAD);
    const { at, line } = scanner;
    while (scanner.ends()) if (!scanner.next()) break;
    if (scanner.word().toUpperCase() === word) return true;
    Object.assign(scanner, { at, line });
    return false;
  }

  corrupt(message: string): Corrupt {
    const { scanner, binary } = this;
    const { where } = scanner;
    return binary ? new Corrupt(`${where}, byte ${scanner.place}: ${message}`, { where }) : scanner.corrupt(message);
  }

  count(what: string): number {
    const value = this.scanner.integer(what);
    if (value < 0) throw this.corrupt(`${value} where ${what} was expected`);
    return value;
  }

  type(): NumericType {
    const word = this.scanner.word().toLowerCase();
    const found = TYPES.get(word);
    if (found !== undefined) return found;
    const { where } = this.scanner;
    throw new Unsupported(`${where} has an array of type ${JSON.stringify(word.slice(0, 40))}, which is not read`, {
      where,
    });
  }

  /** The array after this line, some of it at a time. */
  array(own: NumericType, count: number, what: string): AsyncGenerator<NumericArray> {
    return this.binary ? this.#bytes(own, count, what) : this.#text(own, count, what);
  }

  async *#bytes(own: NumericType, count: number, what: string): AsyncGenerator<NumericArray> {
    const { scanner } = this;
    await scanner.nextLine();
    const need = count * own.size;
    if (need > scanner.left)
      throw this.corrupt(`${count} numbers of ${what} need ${need} bytes, and ${scanner.left} are left`);
    for (let left = need; left > 0; ) {
      const bytes = await scanner.take(Math.min(left, BLOCK * own.size));
      if (bytes.length === 0 || bytes.length % own.size > 0) throw this.corrupt(`the file ends within ${what}`);
      left -= bytes.length;
      yield numericView(own, swapBytes(bytes, own.size));
    }
  }

  async *#text(own: NumericType, count: number, what: string): AsyncGenerator<NumericArray> {
    const { scanner } = this;
    if (2 * count > scanner.left + 1)
      throw this.corrupt(`${count} numbers of ${what} where ${scanner.left} bytes are left`);
    yield* scannedNumbers(scanner, own, count, what, () => this.corrupt(`the file ends within ${what}`));
  }
}

async function wordOf(scanner: FileScanner): Promise<string> {
  await scanner.fill(HEAD);
  while (scanner.ends()) {
    const cut = scanner.at === scanner.bytes.length && !scanner.ended;
    if (cut) await scanner.more();
    else if (!(await scanner.nextLine())) return "";
  }
  await scanner.fill(HEAD);
  const word = scanner.word();
  if (word !== "") return word;
  const { where, place, bytes, at } = scanner;
  throw new Corrupt(`${where}, byte ${place}: the byte ${bytes[at]} where a word was expected`, { where });
}
