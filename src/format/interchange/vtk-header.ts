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
import { fits, numeric } from "./surface.js";
import { room } from "./surface-write.js";
import { Scanner } from "./text.js";

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

/** Words and arrays of a file, from its first word on. */
export class VtkWords {
  readonly scanner: Scanner;
  readonly binary: boolean;
  readonly version: number;
  readonly title: string;

  constructor(bytes: Uint8Array, where: string) {
    const scanner = new Scanner({ bytes }, where);
    this.scanner = scanner;
    const found = /^# vtk DataFile Version (\d+\.\d+)$/i.exec(scanner.rest());
    if (found === null) throw new Corrupt(`${where} should begin with "# vtk DataFile Version"`, { where });
    this.version = Number(found[1]);
    scanner.next();
    this.title = scanner.rest();
    scanner.next();
    const mode = this.word().toUpperCase();
    if (mode !== "ASCII" && mode !== "BINARY")
      throw scanner.corrupt(`${JSON.stringify(mode.slice(0, 40))} where ASCII or BINARY was expected`);
    this.binary = mode === "BINARY";
  }

  /** The next word of the file, or "" at its end. */
  word(): string {
    const { scanner } = this;
    while (scanner.ends()) if (!scanner.next()) return "";
    return scanner.word();
  }

  corrupt(message: string): Corrupt {
    const { scanner, binary } = this;
    const { where } = scanner;
    return binary ? new Corrupt(`${where}, byte ${scanner.at}: ${message}`, { where }) : scanner.corrupt(message);
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

  /** The array after this line. */
  array(own: NumericType, count: number, what: string): NumericArray {
    const { scanner } = this;
    const { bytes } = scanner;
    if (this.binary) {
      scanner.next();
      const from = scanner.at;
      if (count * own.size > bytes.length - from)
        throw this.corrupt(
          `${count} numbers of ${what} need ${count * own.size} bytes, and ${bytes.length - from} are left`,
        );
      scanner.at += count * own.size;
      return numericView(own, swapBytes(bytes.subarray(from, scanner.at), own.size));
    }
    if (2 * count > bytes.length - scanner.at + 1)
      throw this.corrupt(`${count} numbers of ${what} where ${bytes.length - scanner.at} bytes are left`);
    const out = room(own, count);
    for (let i = 0; i < count; i++) {
      while (scanner.ends()) if (!scanner.next()) throw this.corrupt(`the file ends within ${what}`);
      if (own.size === 8 && own.kind !== "float") out[i] = this.#big(own.kind === "int", what);
      else {
        const value = scanner.number(what);
        if (!fits(own, value))
          throw this.corrupt(`${value} where ${what} was expected, which is ${own.kind}${8 * own.size}`);
        out[i] = value;
      }
    }
    return out;
  }

  #big(signed: boolean, what: string): bigint {
    const word = this.scanner.word();
    const value = /^-?\d{1,20}$/.test(word) ? BigInt(word) : undefined;
    if (value === undefined || (signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)) !== value)
      throw this.corrupt(`${JSON.stringify(word.slice(0, 40))} where ${what} was expected`);
    return value;
  }
}
