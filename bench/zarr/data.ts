/**
 * The benchmark's array: int32, 4096 × 4096 × 8 (537 MB), a smooth surface plus four bits of noise, the same for everybody.
 * It is made here and handed to the peers as a raw file, so that no run depends on a generator of one language.
 */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

export const SHAPE = [4096, 4096, 8] as const;
export const CHUNK = [256, 256, 8] as const;
export const BYTES = SHAPE[0] * SHAPE[1] * SHAPE[2] * 4;

/** The file of raw little-endian values, made on first use. */
export function dataFile(folder: string): string {
  const file = join(folder, "data.i4");
  if (existsSync(file) && statSync(file).size === BYTES) return file;
  mkdirSync(folder, { recursive: true });
  const partial = `${file}.partial`;
  const out = openSync(partial, "w");
  const [rows, columns, depth] = SHAPE;
  const row = new Int32Array(columns * depth);
  let state = 0x9e3779b9;
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      const base = Math.trunc(2000 + 1000 * Math.sin(x / 90) * Math.cos(y / 130));
      for (let k = 0; k < depth; k++) {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        row[x * depth + k] = base + k * 7 + ((state >>> 11) & 15);
      }
    }
    writeSync(out, new Uint8Array(row.buffer));
  }
  closeSync(out);
  renameSync(partial, file);
  return file;
}

/** What one contender prints: seconds, bytes and kilobytes, timed inside its process after imports. */
export interface Row {
  readonly who: string;
  readonly codec: string;
  readonly writeWall: number;
  readonly writeCpu: number;
  readonly stored: number;
  readonly readWall: number;
  readonly readCpu: number;
  readonly readPeakMb: number;
}
