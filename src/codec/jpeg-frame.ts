/**
 * The segments of a JPEG file (ITU T.81): bytes ff and a marker, most of them with a u16 length that counts itself. Numbers
 * are big-endian.
 *
 * | marker    | what                                                                                                 |
 * |-----------|------------------------------------------------------------------------------------------------------|
 * | d8, d9    | the beginning, the end                                                                               |
 * | db        | quantisation: u4 wide, u4 number, 64 × u8 or u16 in zigzag order; several                            |
 * | c4        | Huffman: u4 class (0 DC, 1 AC), u4 number, 16 × u8 codes by length, u8 symbols; several              |
 * | c0 c1 c2  | the frame, baseline or progressive: u8 bits, u16 height, u16 width, u8 n, n × (id, u4 h, u4 v, table) |
 * | dd        | u16 units between restarts                                                                           |
 * | da        | a scan: u8 n, n × (id, u4 DC, u4 AC), u8 first, u8 last, u4 before, u4 low; then its bits             |
 * | e0, ee    | JFIF, Adobe: what the components are · others from e0, and fe: skipped                               |
 */
import { Reader } from "../bytes/reader.js";
import { Corrupt, LimitExceeded, Unsupported } from "../errors.js";
import { type Huffman, huffman } from "./jpeg-huffman.js";
import { type Component, readScan, type Scan, ZIGZAG } from "./jpeg-scan.js";

export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly components: readonly Component[];
  readonly progressive: boolean;
}

export interface Jpeg extends Frame {
  /** Per component, 64 factors in rows. */
  readonly quantisation: readonly Uint16Array[];
  /** Whether the components are brightness and two differences, and not red, green and blue. */
  readonly ycc: boolean;
}

/** Scans of a progressive image are about ten; hundreds are there to cost time. */
const SCANS = 100;

/** `accept` looks at the size of the image before anything is allocated for it. */
export function readJpeg(bytes: Uint8Array, accept: (frame: Omit<Frame, "components">, count: number) => void): Jpeg {
  const reader = new Reader(bytes, "jpeg data", "big");
  if (reader.u16() !== 0xffd8) throw new Corrupt("jpeg data should start with ff d8, found something else");
  const tables = new Map<number, Uint16Array>();
  const codes = new Map<number, Huffman>();
  const used = new Map<Component, Uint16Array>();
  let frame: Frame | undefined;
  let [restart, scans] = [0, 0];
  let [jfif, adobe] = [false, -1];
  for (;;) {
    const marker = nextMarker(reader);
    if (marker === 0xd9) break;
    const segment = new Reader(reader.bytes(sizeOf(reader)), `segment ${marker.toString(16)} of jpeg data`, "big");
    if (marker === 0xdb) readQuantisation(segment, tables);
    else if (marker === 0xc4) readCodes(segment, codes);
    else if (marker === 0xdd) restart = segment.u16();
    else if (marker === 0xe0) jfif ||= text(segment, 5) === "JFIF\0";
    else if (marker === 0xee && text(segment, 5) === "Adobe" && segment.remaining >= 7) adobe = segment.bytes(7)[6]!;
    else if (marker >= 0xc0 && marker <= 0xc2) {
      if (frame !== undefined) throw new Corrupt("jpeg data should have one frame, found two");
      frame = readFrame(segment, marker === 0xc2, accept);
    } else if (marker === 0xda) {
      if (frame === undefined) throw new Corrupt("jpeg data should have its frame before its scans");
      if (++scans > SCANS) throw new LimitExceeded(`jpeg data should have at most ${SCANS} scans, found more`);
      const scan = readHeader(segment, frame, codes, restart);
      for (const { component } of scan.parts) {
        const table = tables.get(component.quantisation);
        if (table === undefined) throw new Corrupt(`jpeg data has no quantisation table ${component.quantisation}`);
        if (!used.has(component)) used.set(component, table);
      }
      reader.seek(readScan(bytes, reader.offset, scan));
    } else if (marker < 0xe0 || (marker > 0xef && marker !== 0xfe))
      throw new Unsupported(
        `jpeg data with the marker ${marker.toString(16)} cannot be read: only baseline and progressive`,
      );
  }
  reader.end();
  if (frame === undefined || used.size < frame.components.length)
    throw new Corrupt("jpeg data should have scans of all components, found fewer");
  const quantisation = frame.components.map((component) => used.get(component)!);
  return { ...frame, quantisation, ycc: isYcc(frame, jfif, adobe) };
}

/** As libjpeg decides. */
function isYcc({ components }: Frame, jfif: boolean, adobe: number): boolean {
  if (components.length !== 3) return false;
  if (jfif) return true;
  if (adobe >= 0) return adobe !== 0;
  return String.fromCharCode(...components.map(({ id }) => id)) !== "RGB";
}

function nextMarker(reader: Reader): number {
  const at = reader.offset;
  const first = reader.u8();
  if (first !== 0xff) throw new Corrupt(`jpeg data should have a marker at byte ${at}, found ${first}`);
  let marker = 0xff;
  while (marker === 0xff) marker = reader.u8(); // any number of them may fill up
  return marker;
}

function sizeOf(reader: Reader): number {
  const size = reader.u16();
  if (size < 2) throw new Corrupt(`a segment of jpeg data should have at least 2 bytes, found ${size}`);
  return size - 2;
}

const text = (segment: Reader, n: number): string =>
  segment.remaining < n ? "" : String.fromCharCode(...segment.bytes(n));

function readQuantisation(segment: Reader, tables: Map<number, Uint16Array>): void {
  while (segment.remaining > 0) {
    const what = segment.u8();
    const table = new Uint16Array(64);
    for (let k = 0; k < 64; k++) table[ZIGZAG[k]!] = what >> 4 === 0 ? segment.u8() : segment.u16();
    tables.set(what & 15, table);
  }
}

function readCodes(segment: Reader, codes: Map<number, Huffman>): void {
  while (segment.remaining > 0) {
    const what = segment.u8();
    const counts = segment.bytes(16);
    codes.set(what, huffman(counts, segment.bytes(counts.reduce((sum, count) => sum + count, 0))));
  }
}

function readFrame(segment: Reader, progressive: boolean, accept: Parameters<typeof readJpeg>[1]): Frame {
  const bits = segment.u8();
  const [height, width, count] = [segment.u16(), segment.u16(), segment.u8()];
  if (bits !== 8) throw new Unsupported(`jpeg data with samples of ${bits} bits cannot be read, only of 8`);
  accept({ width, height, progressive }, count);
  const heads = Array.from({ length: count }, () => {
    const [id, factors, quantisation] = [segment.u8(), segment.u8(), segment.u8()];
    const [h, v] = [factors >> 4, factors & 15];
    if (h < 1 || h > 4 || v < 1 || v > 4)
      throw new Corrupt(`jpeg data should have sampling from 1 to 4, found ${h}, ${v}`);
    // Of a single component a unit is a block, whatever it says.
    return { id, h: count === 1 ? 1 : h, v: count === 1 ? 1 : v, quantisation };
  });
  segment.end();
  if (new Set(heads.map(({ id }) => id)).size < count) throw new Corrupt("jpeg data has two components of one id");
  const [most, tallest] = [Math.max(...heads.map(({ h }) => h)), Math.max(...heads.map(({ v }) => v))];
  const components = heads.map((head): Component => {
    const across = Math.ceil(width / (8 * most)) * head.h;
    const down = Math.ceil(height / (8 * tallest)) * head.v;
    return {
      ...head,
      width: Math.ceil((width * head.h) / most),
      height: Math.ceil((height * head.v) / tallest),
      across,
      down,
      coefficients: new Int16Array(64 * across * down),
    };
  });
  return { width, height, components, progressive };
}

function readHeader(
  segment: Reader,
  { components, progressive }: Frame,
  codes: Map<number, Huffman>,
  restart: number,
): Scan {
  const heads = Array.from({ length: segment.u8() }, () => [segment.u8(), segment.u8()] as const);
  const [first, last, approximation] = [segment.u8(), segment.u8(), segment.u8()];
  segment.end();
  const [before, low] = [approximation >> 4, approximation & 15];
  const fits = progressive
    ? first <= last &&
      last < 64 &&
      (first > 0 ? heads.length === 1 : last === 0) &&
      low < 14 &&
      (before === 0 || before === low + 1)
    : first === 0 && last === 63 && approximation === 0;
  if (!fits || heads.length === 0 || new Set(heads.map(([id]) => id)).size < heads.length)
    throw new Corrupt(
      `a scan of jpeg data contradicts its frame: ${heads.length} components, coefficients ${first} to ${last}, bits ${before} to ${low}`,
    );
  const parts = heads.map(([id, numbers]) => {
    const component = components.find((known) => known.id === id);
    const dc = codes.get(numbers >> 4);
    const ac = codes.get(16 | (numbers & 15));
    if (component === undefined)
      throw new Corrupt(`a scan of jpeg data is of component ${id}, which the frame has not`);
    const needsDc = first === 0 && before === 0;
    if ((needsDc && dc === undefined) || (last > 0 && ac === undefined))
      throw new Corrupt(`a scan of jpeg data uses a Huffman table that is not there`);
    return { component, dc, ac };
  });
  return { parts, progressive, first, last, before, low, restart };
}
