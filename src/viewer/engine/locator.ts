/** In which of many boxes a place lies: they are sorted into cells of space, of which a place looks at one. */
import type { Boxes } from "./plan.js";

const MOST = 32; // cells along an axis

/** The first box that has the place, its border included; −1 where none has. */
export function locator({ count, boxes }: Boxes): (x: number, y: number, z: number) => number {
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
  const cells = Array.from({ length: side ** 3 }, (): number[] => []);
  for (let box = 0; box < count; box++) {
    const [from, to] = [0, 3].map((end) => [0, 1, 2].map((k) => cellOf(boxes[6 * box + end + k]!, k))) as number[][];
    for (let z = from![2]!; z <= to![2]!; z++)
      for (let y = from![1]!; y <= to![1]!; y++)
        for (let x = from![0]!; x <= to![0]!; x++) cells[(z * side + y) * side + x]!.push(box);
  }
  return (x, y, z) => {
    for (const box of cells[(cellOf(z, 2) * side + cellOf(y, 1)) * side + cellOf(x, 0)]!) {
      const at = 6 * box;
      if (x < boxes[at]! || x > boxes[at + 3]! || y < boxes[at + 1]! || y > boxes[at + 4]!) continue;
      if (z >= boxes[at + 2]! && z <= boxes[at + 5]!) return box;
    }
    return -1;
  };
}
