/**
 * One scan of a JPEG image: for some components, all of their blocks of 8 × 8 coefficients or, in progressive images, some
 * coefficients of each, or some bits of these. Where a scan has several components, their blocks alternate in units (MCUs) of
 * h × v blocks each; alone, a component has only the blocks that hold something of the image.
 */
import { Corrupt } from "../errors.js";
import { Bits, type Huffman } from "./jpeg-huffman.js";

export interface Component {
  readonly id: number;
  /** Blocks in a unit. */
  readonly h: number;
  readonly v: number;
  readonly quantisation: number;
  /** Samples that count. */
  readonly width: number;
  readonly height: number;
  /** Blocks there is room for: whole units. */
  readonly across: number;
  readonly down: number;
  /** 64 for each block, rows of it. */
  readonly coefficients: Int16Array;
}

export interface ScanPart {
  readonly component: Component;
  readonly dc: Huffman | undefined;
  readonly ac: Huffman | undefined;
}

export interface Scan {
  readonly parts: readonly ScanPart[];
  readonly progressive: boolean;
  /** Which coefficients, in zigzag order. */
  readonly first: number;
  readonly last: number;
  /** The lowest bit that earlier scans have given, 0 where there was none, and the lowest that this one gives. */
  readonly before: number;
  readonly low: number;
  /** Units between two restarts; 0 for none. */
  readonly restart: number;
}

/** Place in rows of the k-th coefficient. */
export const ZIGZAG = Uint8Array.of(
  ...[0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48],
  ...[41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15],
  ...[23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63],
);

/** What goes from block to block. */
interface State {
  readonly bits: Bits;
  /** Per part. */
  readonly predictions: Int32Array;
  /** Blocks that have nothing more, of a progressive scan. */
  empty: number;
}

/** Reads the scan whose bits begin at `at`; answers where they end. */
export function readScan(bytes: Uint8Array, at: number, scan: Scan): number {
  const { parts, restart } = scan;
  const state: State = { bits: new Bits(bytes, at), predictions: new Int32Array(parts.length), empty: 0 };
  const block = blockReader(scan);
  let done = 0;
  const begin = (): void => {
    if (restart > 0 && done > 0 && done % restart === 0) takeRestart(bytes, state, (done / restart - 1) & 7);
    done++;
  };
  const alone = parts.length === 1 ? parts[0]!.component : undefined;
  if (alone !== undefined) {
    const [across, down] = [Math.ceil(alone.width / 8), Math.ceil(alone.height / 8)];
    for (let y = 0; y < down; y++) {
      for (let x = 0; x < across; x++) {
        begin();
        block(state, 0, 64 * (y * alone.across + x));
      }
    }
  } else {
    const { across, down, h, v } = parts[0]!.component;
    for (let y = 0; y < down / v; y++) {
      for (let x = 0; x < across / h; x++) {
        begin();
        parts.forEach(({ component: { h, v, across } }, part) => {
          for (let i = 0; i < v; i++)
            for (let j = 0; j < h; j++) block(state, part, 64 * ((y * v + i) * across + x * h + j));
        });
      }
    }
  }
  state.bits.align();
  return state.bits.offset;
}

function takeRestart(bytes: Uint8Array, state: State, number: number): void {
  state.bits.align();
  const at = state.bits.offset;
  if (bytes[at] !== 0xff || bytes[at + 1] !== 0xd0 + number)
    throw new Corrupt(
      `jpeg data should have restart marker ${number} at byte ${at}, found ${bytes[at]}, ${bytes[at + 1]}`,
    );
  state.bits.skip(2);
  state.predictions.fill(0);
  state.empty = 0;
}

type BlockReader = (state: State, part: number, at: number) => void;

function blockReader(scan: Scan): BlockReader {
  if (!scan.progressive) return baseline(scan);
  if (scan.first === 0) return scan.before === 0 ? dcFirst(scan) : dcRefine(scan);
  return scan.before === 0 ? acFirst(scan) : acRefine(scan);
}

function difference(bits: Bits, table: Huffman): number {
  const size = bits.symbol(table);
  if (size > 11) throw new Corrupt(`jpeg data should have differences of at most 11 bits, found ${size}`);
  return bits.signed(size);
}

const beyond = (): Corrupt => new Corrupt("a block of jpeg data has more than 64 coefficients");

function baseline({ parts }: Scan): BlockReader {
  return ({ bits, predictions }, part, at) => {
    const { component, dc, ac } = parts[part]!;
    const { coefficients } = component;
    coefficients[at] = predictions[part]! += difference(bits, dc!);
    for (let k = 1; k < 64; k++) {
      const symbol = bits.symbol(ac!);
      const size = symbol & 15;
      if (size === 0 && symbol !== 0xf0) return;
      k += symbol >> 4;
      if (size === 0) continue;
      if (k > 63) throw beyond();
      coefficients[at + ZIGZAG[k]!] = bits.signed(size);
    }
  };
}

function dcFirst({ parts, low }: Scan): BlockReader {
  return ({ bits, predictions }, part, at) => {
    const { component, dc } = parts[part]!;
    predictions[part]! += difference(bits, dc!);
    component.coefficients[at] = predictions[part]! << low;
  };
}

function dcRefine({ parts, low }: Scan): BlockReader {
  return ({ bits }, part, at) => {
    parts[part]!.component.coefficients[at]! |= bits.take(1) << low;
  };
}

function acFirst({ parts, first, last, low }: Scan): BlockReader {
  const { component, ac } = parts[0]!;
  const { coefficients } = component;
  return (state, _part, at) => {
    if (state.empty > 0) {
      state.empty--;
      return;
    }
    for (let k = first; k <= last; k++) {
      const symbol = state.bits.symbol(ac!);
      const [run, size] = [symbol >> 4, symbol & 15];
      if (size === 0 && run < 15) {
        state.empty = (1 << run) - 1 + state.bits.take(run);
        return;
      }
      k += run;
      if (size === 0) continue;
      if (k > last) throw beyond();
      coefficients[at + ZIGZAG[k]!] = state.bits.signed(size) << low;
    }
  };
}

/** One more bit of coefficients that are not zero, and those that become so now: ±1 of that bit, after a run of zeros. */
function acRefine({ parts, first, last, low }: Scan): BlockReader {
  const { component, ac } = parts[0]!;
  const { coefficients } = component;
  const one = 1 << low;
  return (state, _part, at) => {
    const { bits } = state;
    let k = first;
    /** Refines what is there, over `zeros` coefficients that are not; stops at the next of those. */
    const refine = (zeros: number): void => {
      for (; k <= last; k++) {
        const place = at + ZIGZAG[k]!;
        const value = coefficients[place]!;
        if (value === 0) {
          if (zeros-- === 0) return;
        } else if (bits.take(1) === 1 && (value & one) === 0) {
          coefficients[place] = value + (value > 0 ? one : -one);
        }
      }
    };
    while (state.empty === 0 && k <= last) {
      const symbol = bits.symbol(ac!);
      const [run, size] = [symbol >> 4, symbol & 15];
      if (size > 1) throw new Corrupt(`jpeg data should refine by one bit, found ${size}`);
      if (size === 0 && run < 15) {
        state.empty = (1 << run) + bits.take(run);
        break;
      }
      const value = size === 0 ? 0 : bits.take(1) === 1 ? one : -one;
      refine(run);
      if (value !== 0) {
        if (k > last) throw beyond();
        coefficients[at + ZIGZAG[k]!] = value;
      }
      k++;
    }
    if (state.empty > 0) {
      refine(64);
      state.empty--;
    }
  };
}
