import fc from "fast-check";
import { expect, it } from "vitest";
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { Reader } from "../../../bytes/reader.js";
import { Writer } from "../../../bytes/writer.js";
import { Corrupt } from "../../../errors.js";
import { encodePages, PAGE, type Pages, parseBlocks, parsePages } from "./blocks.js";

const finite = fc.double({ min: -1e300, max: 1e300, noNaN: true });
const box = fc
  .tuple(finite, finite, finite, finite, finite, finite)
  .map((all) =>
    [0, 1, 2].map((i) => Math.min(all[i]!, all[i + 3]!)).concat([0, 1, 2].map((i) => Math.max(all[i]!, all[i + 3]!))),
  );

function tableOf(boxes: readonly (readonly number[])[]) {
  const sizes = Uint32Array.from(boxes, (_, i) => i + 1);
  return encodePages({ count: boxes.length, boxes: Float64Array.from(boxes.flat()), sizes });
}

it("give boxes that hold what they should, and hardly more", () => {
  fc.assert(
    fc.property(fc.array(box, { minLength: 1, maxLength: 20 }), (boxes) => {
      const { pages, head } = tableOf(boxes);
      const particles = (boxes.length * (boxes.length + 1)) / 2;
      const table = parsePages(new Reader(head, "head"), boxes.length, particles, "a file");
      const blocks = parseBlocks(table, [0], pages, "a file");
      for (const [i, own] of boxes.entries())
        for (let axis = 0; axis < 3; axis++) {
          const slack = (table.boxes[axis + 3]! - table.boxes[axis]!) * 3e-5;
          const [low, high] = [blocks.boxes[6 * i + axis]!, blocks.boxes[6 * i + axis + 3]!];
          expect(low <= own[axis]! && own[axis]! - low <= slack).toBe(true);
          expect(high >= own[axis + 3]! && high - own[axis + 3]! <= slack).toBe(true);
        }
      expect([...blocks.sizes]).toEqual(boxes.map((_, i) => i + 1));
    }),
  );
});

it("come page by page, with their numbers", () => {
  const boxes = Array.from({ length: PAGE + 3 }, (_, i) => [i, i, i, i + 1, i + 1, i + 1]);
  const { pages, head } = tableOf(boxes);
  const particles = (boxes.length * (boxes.length + 1)) / 2;
  const table = parsePages(new Reader(head, "head"), boxes.length, particles, "a file");
  const last = parseBlocks(table, [1], [pages[1]!], "a file");
  expect([...last.numbers]).toEqual([PAGE, PAGE + 1, PAGE + 2]);
  expect(last.starts[0]).toBe((PAGE * (PAGE + 1)) / 2);
  expect(() => parseBlocks(table, [1], [pages[0]!], "a file")).toThrow(Corrupt);
});

it("are refused where they cannot be, also with checksums that fit", () => {
  const page = (size: number, low = 0): Uint8Array => {
    const writer = new Writer("little", 16);
    for (const corner of [low, 0, 0, 65535, 65535, 65535]) writer.u16(corner);
    writer.u32(size);
    return writer.finish();
  };
  const table = (bytes: Uint8Array, size: number, corners = [0, 0, 0, 1, 1, 1]): Pages => {
    const writer = new Writer("little", 60);
    for (const corner of corners) writer.f64(corner);
    writer.u32(size);
    writer.u64(xxh3(bytes));
    return parsePages(new Reader(writer.finish(), "head"), 1, size, "a file");
  };
  expect(parseBlocks(table(page(2), 2), [0], [page(2)], "a file").sizes).toEqual(Uint32Array.of(2));
  expect(() => parseBlocks(table(page(3), 2), [0], [page(3)], "a file")).toThrow(Corrupt);
  expect(() => parseBlocks(table(page(0), 2), [0], [page(0)], "a file")).toThrow(Corrupt);
  for (const corners of [
    [1, 0, 0, 0, 1, 1],
    [Number.NaN, 0, 0, 1, 1, 1],
    [0, 0, 0, 1, Infinity, 1],
  ])
    expect(() => table(page(2), 2, corners)).toThrow(Corrupt);
  expect(() => table(page(0), 0)).toThrow(Corrupt);
  expect(() => parsePages(new Reader(new Uint8Array(60), "head"), 1e9, 5, "a file")).toThrow(Corrupt);
});
