/** The cells of VTK's files up to version 4: of each how many points it has, and these; as where each begins, and the points of all. */

import { type CellArrays, type Keep, keepPlaces } from "./polydata.js";
import { INT32 } from "./surface.js";
import type { VtkWords } from "./vtk-header.js";

/** `count` cells in `size` numbers. What is wrong with them is told when all numbers were read. */
export async function readClassicCells<A>(
  words: VtkWords,
  what: string,
  keep: Keep<A>,
  count: number,
  size: number,
): Promise<CellArrays<A>> {
  if (count > size) throw words.corrupt(`${count} cells in ${size} numbers of ${what}`);
  const [offsets, ends] = [keepPlaces(keep, count + 1), keepPlaces(keep, size - count)];
  let [cell, end, at, left] = [0, 0, 0, 0]; // numbers that came, and those that belong to this cell and did not yet
  let problem: string | undefined;
  for await (const raw of words.array(INT32, size, what)) {
    if (at === 0) await offsets.add(Uint32Array.of(0));
    const [starts, points] = [new Uint32Array(raw.length), new Uint32Array(raw.length)];
    let [cells, places] = [0, 0];
    for (const value of raw as Int32Array) {
      at++;
      if (left > 0) {
        points[places++] = value;
        left--;
      } else if (cell === count) problem ??= `${what} should have ${size} numbers, and its cells are ${at - 1}`;
      else {
        const room = size - at - (count - cell - 1); // each of the others has a number of its own
        if (value < 0 || value > room)
          problem ??= `cell ${cell} of ${what} has ${value} points, and ${room} numbers are left`;
        left = value;
        end += value;
        starts[cells++] = end;
        cell++;
      }
    }
    if (problem !== undefined) continue;
    await offsets.add(starts.subarray(0, cells));
    await ends.add(points.subarray(0, places));
  }
  if (problem !== undefined) throw words.corrupt(problem);
  if (size === 0) await offsets.add(Uint32Array.of(0));
  return { count, offsets: await offsets.done(), ends: await ends.done() };
}
