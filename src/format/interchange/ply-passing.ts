/** Surfaces in PLY that are too large to be held: the rows of each element, some at a time. */
import { LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { InputFile } from "./file.js";
import type { PlyElement, PlyHeader } from "./ply-header.js";
import { byteNumbers, checkRoom, get, type Rows, readRows, textNumbers } from "./ply-rows.js";
import { linksIn, little, rolesOf, rowPlace, split } from "./ply-surface.js";
import { fanNotes } from "./polygons.js";
import { NO_LINKS, NO_VERTICES } from "./surface-blocks.js";
import type { SurfaceBlock, SurfaceFile } from "./surface-passing.js";
import { countLines, Scanner, textBlocks } from "./text.js";

/** Where something begins: a byte of the file, and its line in text. */
interface Place {
  readonly offset: number;
  readonly line: number;
}

/** Rows one after the other. */
interface RowBlock extends Rows {
  readonly count: number;
  /** Where the row after them begins. */
  readonly next: Place;
}

type Source = { readonly input: InputFile; readonly header: PlyHeader; readonly options: ReadOptions };

const WINDOW = 1 << 20; // bytes that are decoded together

export function surfaceFile(input: InputFile, header: PlyHeader, options: ReadOptions): SurfaceFile {
  const { where } = input;
  const source = { input, header, options };
  const roles = rolesOf(header, where);
  const { geometry, linked } = roles;
  const ascii = header.format === "ascii";
  const starts: Place[] = [{ offset: header.length, line: header.lines + 1 }];
  let fanned = { many: 0, few: 0 };

  async function* blocks(what?: "vertices" | "links"): AsyncGenerator<SurfaceBlock> {
    const wanted = what === undefined ? undefined : what === "vertices" ? "vertex" : linked;
    fanned = what === "vertices" ? fanned : { many: 0, few: 0 };
    for (const [i, element] of header.elements.entries()) {
      const { name } = element;
      if (wanted !== undefined && wanted !== name) continue;
      let [first, at] = [0, starts[i]!];
      for await (const { count, next, ...rows } of rowBlocks(source, element, at, roles.listOf(element))) {
        const { line } = at;
        const before = first;
        const place = (row: number): string => rowPlace(name, before + row, ascii ? line + row : undefined);
        if (name === "vertex") yield { ...split(rows.columns), ...NO_LINKS, place: (_, row) => place(row) };
        else if (name === linked) {
          const { links, linkColumns, from, many, few } = linksIn(rows, roles);
          fanned = { many: fanned.many + many, few: fanned.few + few };
          yield { ...NO_VERTICES, links, linkColumns, place: (_, link) => place(from?.[link] ?? link) };
        }
        first += count;
        at = next;
      }
      starts[i + 1] = at;
    }
  }
  return { where, geometry, blocks, told: () => ({ notes: [...roles.notes, ...fanNotes(fanned)] }) };
}

/** All rows of an element. */
async function* rowBlocks(
  source: Source,
  element: PlyElement,
  start: Place,
  list: string | undefined,
): AsyncGenerator<RowBlock> {
  const ofType = source.header.format === "ascii" ? textRows : byteRows;
  yield* ofType(source, element, start, list);
}

async function* textRows(
  { input, options }: Source,
  element: PlyElement,
  start: Place,
  list: string | undefined,
): AsyncGenerator<RowBlock> {
  const { where, size } = input;
  const nothing = textNumbers(new Scanner({ bytes: new Uint8Array(), line: start.line }, where), rest(size, start));
  checkRoom(element, nothing);
  let { line } = start;
  let left = element.count;
  const blocks = left > 0 ? textBlocks(input, options, start.offset) : [];
  for await (const { bytes, offset } of blocks) {
    const scanner = new Scanner({ bytes, line }, where);
    const numbers = textNumbers(scanner);
    const lines = countLines(bytes) + (bytes.at(-1) === 10 ? 0 : 1);
    for (let end = line + lines; left > 0 && line < end; line = scanner.line) {
      const room = numbers.left(element); // lines that are too short for a row are errors, and are not believed before
      const count = Math.min(left, end - line, Math.max(1, Math.floor(room.bytes / room.row)));
      left -= count;
      const rows = readRows(element, count, numbers, list);
      yield { ...rows, count, next: { offset: offset + scanner.at, line: scanner.line } };
    }
    if (left === 0) return;
  }
  if (left > 0) readRows(element, 1, textNumbers(new Scanner({ bytes: new Uint8Array(), line }, where)), list);
}

async function* byteRows(
  { input, header, options }: Source,
  element: PlyElement,
  start: Place,
  list: string | undefined,
): AsyncGenerator<RowBlock> {
  const { where, size } = input;
  const isLittle = little(header);
  checkRoom(element, byteNumbers(new Uint8Array(), isLittle, where, start.offset, rest(size, start)));
  let { offset } = start;
  const most = withLimits(options.limits).chunkBytes;
  let window = Math.min(WINDOW, most);
  for (let left = element.count; left > 0; ) {
    const bytes = await input.read(offset, window, options);
    const whole = wholeRows(element, bytes, isLittle, left);
    if (whole.rows === 0 && bytes.length === window) {
      window *= 2; // a list that is longer
      if (window > most)
        throw new LimitExceeded(`${where}, byte ${offset}: a row has more than the ${most} bytes that are read`, {
          where,
        });
      continue;
    }
    // The file ends here where no row is whole: what is missing is told by who reads it.
    const count = Math.max(1, whole.rows);
    const own = whole.rows === 0 ? bytes : bytes.subarray(0, whole.bytes);
    const rows = readRows(element, count, byteNumbers(own, isLittle, where, offset), list);
    offset += whole.bytes;
    left -= count;
    window = Math.min(WINDOW, most);
    yield { ...rows, count, next: { offset, line: 0 } };
  }
}

/** Bytes from there to the end of the file; of packed files nobody knows. */
const rest = (size: number | undefined, { offset }: Place): number =>
  size === undefined ? Number.POSITIVE_INFINITY : size - offset;

/** How many rows, at most so many, are there from their first byte to their last, and the bytes of them. */
function wholeRows({ properties, stride }: PlyElement, bytes: Uint8Array, isLittle: boolean, most: number) {
  if (properties.every(({ count }) => count === undefined)) {
    const rows = stride === 0 ? most : Math.min(most, Math.floor(bytes.length / stride));
    return { rows, bytes: rows * stride };
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [rows, end] = [0, 0];
  for (; rows < most; rows++) {
    let at = end;
    for (const { type, count } of properties) {
      if (count === undefined) at += type.size;
      else if (at + count.size > bytes.length) at = Number.POSITIVE_INFINITY;
      else at += count.size + Math.max(0, get(view, at, count, isLittle)) * type.size; // a negative one is told by who reads it
    }
    if (at > bytes.length) break;
    end = at;
  }
  return { rows, bytes: end };
}
