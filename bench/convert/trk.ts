/** A TRK of smooth walks, as large as anybody wants. */
import { closeSync, openSync, writeSync } from "node:fs";
import { walks } from "./walks.js";

/** Voxels of 1 mm, whose corner is at 0, in the order of RAS; how many streamlines. */
export function writeTrk(path: string, size: number): number {
  const file = openSync(path, "wx");
  const header = new DataView(new ArrayBuffer(1000));
  for (const [i, letter] of [..."TRACK"].entries()) header.setUint8(i, letter.charCodeAt(0));
  for (let axis = 0; axis < 3; axis++) {
    header.setInt16(6 + 2 * axis, 1000, true);
    header.setFloat32(12 + 4 * axis, 1, true);
    header.setUint8(948 + axis, "RAS".charCodeAt(axis));
  }
  for (let i = 0; i < 4; i++) header.setFloat32(440 + 20 * i, 1, true);
  const block = new Uint8Array(1 << 23);
  const words = new DataView(block.buffer);
  let [count, used, written] = [0, 1000, 0];
  for (const walk of walks(300)) {
    const length = 4 + walk.byteLength;
    if (used + length > block.length || written + used >= size) {
      written += writeSync(file, block, 0, used);
      used = 0;
    }
    if (written >= size) break;
    words.setInt32(used, walk.length / 3, true);
    block.set(new Uint8Array(walk.buffer, 0, walk.byteLength), used + 4);
    used += length;
    count++;
  }
  header.setInt32(988, count, true);
  header.setInt32(992, 2, true);
  header.setInt32(996, 1000, true);
  writeSync(file, header, 0, 1000, 0);
  closeSync(file);
  return count;
}
