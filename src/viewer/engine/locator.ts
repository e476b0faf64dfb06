/** In which of many boxes a place lies, and which of them another box touches: they are sorted into cells of space. */
import type { Vector } from "../../scene/camera.js";
import type { Boxes } from "./plan.js";

const MOST = 32; // cells along an axis

export interface Locator {
  /** The first box that has the place, its border included; −1 where none has. */
  at(x: number, y: number, z: number): number;
  /** Whether any box that has something in common with this one is so. */
  some(min: Vector, max: Vector, isSo: (box: number) => boolean): boolean;
}

export function locator({ count, boxes }: Boxes): Locator {
  const [min, max] = [
    [0, 1, 2],
    [3, 4, 5],
  ].map((ends, high) =>
    ends.map((k) => {
      let end = high === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      for (let box = 0; box < count; box++) end = (high === 0 ? Math.min : Math.max)(end, boxes[6 * box + k]!);
      return end;
    }),
  ) as [number[], number[]];
  const side = Math.max(1, Math.min(MOST, Math.ceil(Math.cbrt(count))));
  const cellOf = (value: number, k: number): number => {
    const cell = Math.floor((side * (value - min[k]!)) / (max[k]! - min[k]!));
    return cell > 0 ? Math.min(cell, side - 1) : 0; // also where all are in one plane
  };
  const cellAt = (x: number, y: number, z: number): number => (z * side + y) * side + x;
  const cells = Array.from({ length: side ** 3 }, (): number[] => []);
  /** Visits the cells that a box touches, until one says that this is enough. */
  const visit = (min: Vector, max: Vector, enough: (cell: readonly number[]) => boolean): boolean => {
    const [from, to] = [min, max].map((corner) => corner.map(cellOf)) as [number[], number[]];
    for (let z = from[2]!; z <= to[2]!; z++)
      for (let y = from[1]!; y <= to[1]!; y++)
        for (let x = from[0]!; x <= to[0]!; x++) if (enough(cells[cellAt(x, y, z)]!)) return true;
    return false;
  };
  for (let box = 0; box < count; box++) {
    const corner = (from: number): Vector => [...boxes.subarray(from, from + 3)] as unknown as Vector;
    visit(corner(6 * box), corner(6 * box + 3), (cell) => (cell as number[]).push(box) < 0);
  }
  return {
    at(x, y, z) {
      for (const box of cells[cellAt(cellOf(x, 0), cellOf(y, 1), cellOf(z, 2))]!) {
        const at = 6 * box;
        if (x < boxes[at]! || x > boxes[at + 3]! || y < boxes[at + 1]! || y > boxes[at + 4]!) continue;
        if (z >= boxes[at + 2]! && z <= boxes[at + 5]!) return box;
      }
      return -1;
    },
    some: (min, max, isSo) =>
      visit(min, max, (cell) =>
        cell.some(
          (box) =>
            [0, 1, 2].every((k) => min[k]! <= boxes[6 * box + 3 + k]! && max[k]! >= boxes[6 * box + k]!) && isSo(box),
        ),
      ),
  };
}
