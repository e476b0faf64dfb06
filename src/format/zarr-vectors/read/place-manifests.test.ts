import fc from "fast-check";
import { expect, it } from "vitest";
import { Corrupt, LimitExceeded } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import { Directory } from "../nodes/nodes-directory.js";
import { Blobs } from "../payload/blobs.js";
import { Manifests } from "../payload/manifest.js";
import { chunkTable } from "./chunk-table.js";
import { place } from "./object-pages.js";
import { placerFor } from "./place-manifests.js";

const table = chunkTable(Directory.of([0, 0, -2, 0, 1, 3, 2, 0, 0], 3, "a table"), [1, 1, 1], undefined);
const limits = withLimits(undefined);

/** A vlen chunk with these elements. */
function chunkOf(elements: readonly Uint8Array[]): Uint8Array {
  const bytes: number[] = [elements.length, 0, 0, 0];
  for (const element of elements) bytes.push(element.length & 255, element.length >> 8, 0, 0, ...element);
  return Uint8Array.from(bytes);
}

const blocks = fc.array(
  fc.record({
    chunk: fc.tuple(fc.integer({ min: -1, max: 3 }), fc.integer({ min: 0, max: 1 }), fc.integer({ min: -3, max: 4 })),
    fragments: fc.array(fc.nat(2 ** 32 - 2), { minLength: 1, maxLength: 3 }),
  }),
  { maxLength: 4 },
);

type Objects = Parameters<typeof Manifests.of>[0];

const elementsOf = (objects: Objects): Uint8Array[] => {
  const manifests = Manifests.of(objects, 3);
  return objects.map((_, row) => Manifests.encodeRow(manifests, row));
};

const singles = (list: readonly { chunk: number[]; fragments: number[] }[]): Objects[number] =>
  list.map(({ chunk, fragments }) => ({ chunk, fragments: fragments[0]! }));

it("places what the parser places, and nothing that is not of single fragments", async () => {
  const placer = await placerFor(table);
  let [placed, refused] = [0, 0];
  fc.assert(
    fc.property(fc.array(blocks, { minLength: 1, maxLength: 12 }), fc.boolean(), fc.nat(3), (objects, single, less) => {
      const own: Objects = single ? objects.map(singles) : objects;
      const bytes = chunkOf(elementsOf(own));
      const rows = Math.max(0, own.length - less); // what lies beyond the end of the array is no data
      const found = placer(bytes, rows);
      const parsed = Manifests.parse(
        Blobs.slice(Blobs.parseChunk(bytes, own.length, "a chunk"), 0, rows),
        3,
        limits,
        "a page",
      );
      if (parsed.modes === undefined) expect(found).toEqual(place(parsed, table));
      if (found === undefined) refused++;
      else placed++;
    }),
  );
  expect(Math.min(placed, refused)).toBeGreaterThan(5);
});

it("leaves what is damaged to the parser, which says what is wrong", async () => {
  const placer = await placerFor(table);
  fc.assert(
    fc.property(blocks, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat(40), (list, where, by, cut) => {
      const whole = chunkOf(elementsOf([singles(list), singles(list)]));
      const bytes = whole.slice(0, Math.max(0, whole.length - (cut > 30 ? cut - 30 : 0)));
      if (bytes.length > 0) bytes[where % bytes.length]! ^= by;
      const found = placer(bytes, 2);
      let parsed: Manifests | undefined;
      try {
        parsed = Manifests.parse(Blobs.slice(Blobs.parseChunk(bytes, 2, "a chunk"), 0, 2), 3, limits, "a page");
      } catch (error) {
        expect(error instanceof Corrupt || error instanceof LimitExceeded).toBe(true);
      }
      if (parsed === undefined) expect(found).toBeUndefined();
      else if (found !== undefined) expect(found).toEqual(place(parsed, table));
    }),
    { numRuns: 500 },
  );
});
