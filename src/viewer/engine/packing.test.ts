/** Whatever comes and goes: what is drawn in the end is what is wanted, and on the way nothing that is wanted goes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { directionsOf } from "../../scene/shape.js";
import type { Drawing } from "./drawing.js";
import { packing } from "./packing.js";
import type { Piece } from "./piece.js";

/** Points whose values are all the piece's own number. */
function piece(number: number, count: number, level = 0): Piece {
  return {
    form: "points",
    key: `${level}/${number}`,
    level,
    chunk: number,
    origin: [number, 0, 0],
    positions: new Float32Array(3 * count),
    index: new Uint32Array(),
    objects: new Int32Array(count).fill(-1),
    ids: new BigInt64Array(),
    parts: new Uint32Array(count),
    places: undefined,
    values: new Float32Array(count).fill(number),
    direct: false,
    radius: undefined,
    bytes: 16 * count,
  };
}

const column = ({ columns }: Drawing, name: string): Float32Array => columns.find((own) => own.name === name)!.values;

/** Equal, told by bytes: these are long. */
const same = (one: Float32Array, other: Float32Array): void =>
  expect(Buffer.compare(Buffer.from(one.buffer), Buffer.from(other.buffer))).toBe(0);

/** The numbers of the pieces of this size that are drawn, each as often as it is. */
function drawnPieces(drawings: Iterable<Drawing>, size: number): number[] {
  const found: number[] = [];
  for (const drawing of drawings) {
    const values = column(drawing, "value");
    for (let at = 0; at < values.length; at += size) found.push(values[at]!);
  }
  return found.sort((a, b) => a - b);
}

describe("pieces become drawings", () => {
  test("however they come and go", () => {
    const lists = fc.array(fc.uniqueArray(fc.nat(60), { maxLength: 60 }), { maxLength: 12 });
    fc.assert(
      fc.property(lists, fc.constantFrom(10, 1000, 9000), (wanted, size) => {
        const known = Array.from({ length: 61 }, (_, number) => piece(number, size, number % 3));
        const step = packing();
        const drawn = new Map<number, Drawing>();
        let before: number[] = [];
        for (const numbers of wanted) {
          const list = numbers.map((number) => known[number]!);
          for (let steps = 0; ; steps++) {
            expect(steps).toBeLessThan(500);
            const next = step(list);
            if (next === undefined) break;
            if (next.add !== undefined) drawn.set(next.add.id, next.add);
            for (const id of next.drop) expect(drawn.delete(id)).toBe(true);
            const now = new Set(drawnPieces(drawn.values(), size));
            for (const number of before) if (numbers.includes(number)) expect(now).toContain(number);
          }
          expect(drawnPieces(drawn.values(), size)).toEqual([...numbers].sort((a, b) => a - b));
          before = numbers;
        }
      }),
      { numRuns: 40 },
    );
  });

  test("many small ones are a few drawings, also when they come one by one", () => {
    const step = packing();
    const drawn = new Map<number, Drawing>();
    const list: Piece[] = [];
    for (let number = 0; number < 300; number++) {
      list.push(piece(number, 100));
      for (let next = step(list); next !== undefined; next = step(list)) {
        if (next.add !== undefined) drawn.set(next.add.id, next.add);
        for (const id of next.drop) drawn.delete(id);
      }
      expect(drawn.size).toBeLessThanOrEqual(17 + number / 80);
    }
    expect(drawnPieces(drawn.values(), 100)).toEqual(list.map((_, number) => number));
  });

  test("places of a drawing are around the origin of its first piece, far from that of space too", () => {
    const far = 1e9;
    const made = [0, 1].map((number) => ({
      ...piece(number, 2),
      origin: [far + 10 * number, 0, 0] as const,
      positions: Float32Array.of(0.25, 0, 0, 0.5, 0, 0),
    }));
    const { add } = packing()(made)!;
    expect(add!.origin).toEqual([far, 0, 0]);
    expect([...column(add!, "position")].filter((_, at) => at % 3 === 0)).toEqual([0.25, 0.5, 10.25, 10.5]);
  });

  test("what is too much for one drawing is several, and the same: points, lines and triangles", () => {
    const count = 150_000;
    const large = piece(7, count);
    const positions = Float32Array.from({ length: 3 * count }, (_, at) => at % 1009);
    const values = Float32Array.from({ length: count }, (_, v) => v);
    const steps = (own: Piece): Drawing[] => {
      const step = packing();
      const drawings: Drawing[] = [];
      for (let next = step([own]); next !== undefined; next = step([own])) drawings.push(next.add!);
      return drawings;
    };
    const all = (drawings: readonly Drawing[], name: string): Float32Array => {
      const bytes = drawings.map((drawing) => Buffer.from(column(drawing, name).buffer));
      return new Float32Array(new Uint8Array(Buffer.concat(bytes)).buffer);
    };

    const points = steps({ ...large, positions, values });
    expect(points.length).toBe(2);
    same(all(points, "position"), positions);
    same(all(points, "value"), values);
    expect(new Set(all(points, "seed")).size).toBeGreaterThan(0.9 * count); // each point has a seed of its own

    const pairs = Uint32Array.from({ length: 2 * count }, (_, at) => (at * 7919) % count);
    const lines = steps({ ...large, form: "lines", positions, values, index: pairs });
    same(all(lines, "lineValue"), Float32Array.from(pairs));

    const corners = Uint32Array.from({ length: 3 * count }, (_, at) => (at * 31) % count);
    const triangles = steps({ ...large, form: "triangles", positions, values, index: corners });
    expect(triangles.length).toBe(2);
    const ends = triangles.flatMap((drawing) => Array.from(drawing.index!, (v) => column(drawing, "value")[v]!));
    same(Float32Array.from(ends), Float32Array.from(corners));
    const whole = directionsOf({ form: "triangles", positions, index: corners });
    const first = triangles[1]!;
    const vertex = column(first, "value")[5]!;
    expect(column(first, "normal").subarray(15, 18)).toEqual(whole.subarray(3 * vertex, 3 * vertex + 3));
  });
});
