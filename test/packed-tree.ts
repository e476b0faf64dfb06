/** The golden packed trees: what the reference built from which positions, and what it answered. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TreeBox } from "../src/format/packed-tree/box.js";
import type { Positions } from "../src/model/vectors.js";

export interface GoldenTree {
  readonly name: string;
  readonly positions: Positions;
  /** As the reference was given it. */
  readonly box: TreeBox | undefined;
  readonly threshold: number;
  /** As the reference wrote it, the time stamp zero. */
  readonly bytes: Uint8Array;
  readonly order: Uint32Array;
  readonly queries: readonly GoldenQuery[];
}

interface Found {
  readonly count: number;
  readonly sha256_u32le: string;
}

export type GoldenQuery =
  | {
      readonly type: "box";
      readonly box: readonly number[];
      readonly slices_sha256: string;
      readonly brute_force: Found;
    }
  | {
      readonly type: "sphere";
      readonly center: readonly number[];
      readonly radius: number | string;
      readonly slices_sha256: string;
      readonly brute_force: Found;
    }
  | {
      readonly type: "knn";
      readonly center: readonly number[];
      readonly k: number;
      readonly brute_distances: readonly (number | string)[];
      readonly original_indices: readonly number[];
      readonly reference_equals_brute_force: boolean;
    };

export const goldenNames = (folder: string): string[] =>
  readdirSync(folder).flatMap((file) => (file.endsWith(".tree.bin") ? [file.slice(0, -".tree.bin".length)] : []));

export function goldenTree(folder: string, name: string): GoldenTree {
  const said = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  const buffer = (file: string): ArrayBuffer => new Uint8Array(readFileSync(join(folder, file))).buffer;
  const bytes = new Uint8Array(buffer(said.tree));
  bytes.fill(0, 8, 16);
  const raw = buffer(said.positions);
  const corner = said.explicit_box as number[] | null;
  return {
    name,
    positions: said.positions_dtype === "float32" ? new Float32Array(raw) : new Float64Array(raw),
    box: corner === null ? undefined : boxOf(corner),
    threshold: said.particle_threshold,
    bytes,
    order: new Uint32Array(buffer(said.permutation)),
    queries: said.queries,
  };
}

/** Six numbers as a box. */
export const boxOf = ([x, y, z, dx, dy, dz]: readonly number[]): TreeBox => ({
  origin: [x!, y!, z!],
  size: [dx!, dy!, dz!],
});

/** Whether two arrays have the same bytes; to compare element by element takes seconds where they are long. */
export const alike = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.compare(
    Buffer.from(a.buffer, a.byteOffset, a.byteLength),
    Buffer.from(b.buffer, b.byteOffset, b.byteLength),
  ) === 0;
