// What a thread writes besides particles: a place of its own, as several of them may work in one memory. ../tree.ts has the same table.

/** Numbers of those on the wrong side of a plane, 128 of each side. */
export const LEFT: usize = 0;
export const RIGHT: usize = 512;
/** Six numbers: the lower and the upper corner of a box. */
export const BOX: usize = 1024;
/** The heap of the nearest: 2^12 squares of distances, and as many numbers. */
export const SQUARES: usize = 1088;
export const NEAREST: usize = 33856;
/** The numbers of 2^16 particles, and four more, which are written before it is known whether they count. */
export const FOUND: usize = 50240;

export let scratch: usize = 0;

/** Where that place begins, at a multiple of 16. */
export function use(at: usize): void {
  scratch = at;
}
