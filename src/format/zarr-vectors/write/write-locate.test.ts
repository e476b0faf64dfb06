import fc from "fast-check";
import { expect, it } from "vitest";
import { loadVectorKernel } from "../../../kernel/vectors.js";
import { memoryStore } from "../../../store/memory.js";
import { scratchIn } from "../../../store/scratch.js";
import { spool } from "./spill.js";
import { RunTable, sizeOf } from "./spill-table.js";
import { locator } from "./write-locate.js";
import { numbering } from "./write-numbering.js";

const kernel = await loadVectorKernel();
const coordinate = fc.oneof(
  fc.double({ min: -50, max: 50, noNaN: true }),
  fc.constantFrom(0, -0, 1e8, -1e8, 2.5, -2.5),
);

it("finds the chunks of points in the kernel as without, batch after batch", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.array(coordinate, { maxLength: 200 }), { maxLength: 4 }),
      fc.boolean(),
      fc.constantFrom(2.5, 0.1, 7),
      (dims, batches, wide, size) => {
        const shape = Array.from({ length: dims }, (_, axis) => size * (axis + 1));
        const [one, other] = [numbering(dims), numbering(dims)];
        const [fast, plain] = [locator(one, dims, shape), locator(other, dims, shape)];
        for (const values of batches) {
          const whole = values.slice(0, values.length - (values.length % dims));
          const positions = wide ? Float64Array.from(whole) : Float32Array.from(whole);
          const count = whole.length / dims;
          const found = fast.all(positions, count, kernel);
          expect(found).toEqual(plain.all(positions, count, undefined));
          for (let row = 0; row < count; row++)
            for (let axis = 0; axis < dims; axis++)
              expect(one.tuples[found[row]! * dims + axis]).toBe(
                Math.floor(positions[row * dims + axis]! / shape[axis]!) | 0,
              );
        }
      },
    ),
  );
});

it("brings rows of any width to their buckets, one by one or in segments, in memory or put aside", async () => {
  const widths = fc.array(fc.constantFrom(1, 2, 3, 4, 6, 8, 12, 16, 24, 37), { minLength: 1, maxLength: 4 });
  const batches = fc.array(fc.array(fc.nat(9), { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      widths,
      batches,
      fc.constantFrom(64, 1000, 4000, 1 << 20),
      fc.boolean(),
      fc.constantFrom("others", "the same in a batch", "the same"),
      async (widths, batches, memory, loose, bytes) => {
        const rows = spool(widths, scratchIn({ store: memoryStore() }, memory));
        const expected = Array.from({ length: 10 }, () => widths.map((): number[] => []));
        let next = 0;
        for (const [batch, buckets] of batches.entries()) {
          const byte = (i: number): number =>
            bytes === "others" ? next++ : 1 + i + (bytes === "the same" ? 0 : 50 * batch);
          const columns = widths.map((width) => new Uint8Array(buckets.length * width).map((_, i) => byte(i % width)));
          for (const [row, bucket] of buckets.entries())
            for (const [c, width] of widths.entries())
              expected[bucket]![c]!.push(...columns[c]!.subarray(row * width, (row + 1) * width));
          const starts = loose ? undefined : Uint32Array.from(buckets.keys());
          const own = { count: buckets.length, buckets: Uint32Array.from(buckets), starts, rows: buckets.length };
          await rows.add(columns, own);
        }
        const room = { bytes: new Uint8Array() };
        const constant = await rows.constant();
        if (bytes === "the same") expect(constant).toEqual(widths.map(() => true));
        if (bytes === "the same in a batch" && batches.length > 1) expect(constant).toEqual(widths.map(() => false));
        await rows.read([1, 3, 7], room);
        const found = await rows.read(Array.from(expected.keys()), room);
        expect(found.map(({ columns }) => columns.map((column) => [...column]))).toEqual(expected);
      },
    ),
    { numRuns: 200 },
  );
});

it("finds the rows of every bucket of a run, and where they begin", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.nat(3), fc.nat(300), fc.nat(2 ** 32 - 1)), { maxLength: 300 }),
      fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }),
      (rows, widths) => {
        const table = new RunTable(Uint32Array.from(rows), widths);
        let offset = 0;
        for (const [bucket, count] of rows.entries()) {
          const found = table.find(bucket);
          expect([found.rows, found.offset]).toEqual([count, offset]);
          offset += sizeOf(count, widths);
        }
        expect(table.find(rows.length).rows).toBe(0);
      },
    ),
    { numRuns: 50 },
  );
});
