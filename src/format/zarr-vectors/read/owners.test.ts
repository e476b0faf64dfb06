import fc from "fast-check";
import { expect, test } from "vitest";
import type { Placement } from "../../../model/source.js";
import { ownersFrom } from "./owners.js";

const CHUNKS = 4;
const block = fc.record({ chunk: fc.integer({ min: -1, max: CHUNKS - 1 }), first: fc.nat(9), count: fc.nat(3) });
const part = fc.record({ chunk: fc.nat(CHUNKS - 1), part: fc.nat(11) });

test("owners are found for parts in any order, asked for twice, shared, and named twice by one object", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(block, { maxLength: 4 }), { maxLength: 12 }),
      fc.array(part, { maxLength: 20 }),
      fc.integer({ min: 1, max: 5 }),
      async (objects, asked, pageRows) => {
        const page = async (i: number): Promise<Placement> => {
          const some = objects.slice(i * pageRows, (i + 1) * pageRows);
          const blocks = some.flat();
          let end = 0;
          return {
            offsets: Uint32Array.from([0, ...some.map((own) => (end += own.length))]),
            chunk: Int32Array.from(blocks, ({ chunk }) => chunk),
            first: Uint32Array.from(blocks, ({ first }) => first),
            count: Uint32Array.from(blocks, ({ count }) => count),
          };
        };
        const { offsets, rows } = await ownersFrom({ rows: objects.length, pageRows, page }, CHUNKS, {
          chunk: Int32Array.from(asked, ({ chunk }) => chunk),
          part: Uint32Array.from(asked, ({ part }) => part),
        });
        const found = asked.map((_, i) => [...rows.subarray(offsets[i], offsets[i + 1])]);
        const expected = asked.map(({ chunk, part }) =>
          [...objects.keys()].filter((row) =>
            objects[row]!.some((b) => b.chunk === chunk && part >= b.first && part < b.first + b.count),
          ),
        );
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: 200 },
  );
});
