/** Plain lines and others mean the same: a blank more makes a line go the long way. */
import fc from "fast-check";
import { expect, it } from "vitest";
import "../../../test/properties.js";
import { parseObj } from "./obj-parse.js";

const parsed = (lines: readonly string[]) => {
  const { faces, vertexLine, positions, vertexSection } = parseObj(Buffer.from(`${lines.join("\n")}\n`), "a.obj");
  const { vertex, offsets, section, line } = faces;
  return {
    positions,
    vertexLine,
    vertexSection,
    faces: [vertex, offsets, section, line].map((list) => [...list.done()]),
  };
};

const number = fc.oneof(
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map(String),
  fc.tuple(fc.integer(), fc.nat(999_999_999)).map(([whole, part]) => `${whole}.${part}`),
  fc.constantFrom("-0.0", "0", "1.", ".5", "-.25", "1e-3", "123456789012345", "1234567890123456.7", "0.1", "+2"),
);
const corner = fc.oneof(fc.integer({ min: 1, max: 99 }).map(String), fc.constantFrom("7//1", "-1", "007"));
const line = fc.oneof(
  fc.tuple(number, number, number).map((all) => `v ${all.join(" ")}`),
  fc.array(corner, { minLength: 3, maxLength: 4 }).map((all) => `f ${all.join(" ")}`),
  fc.constantFrom("# a remark", "g one", "", "vn 0 0 1"),
);

it("reads plain lines as it reads all others", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (some) => {
      const lines = ["v 0 0 0", ...some]; // so that −1 is somebody
      const longer = lines.map((text) => text.replace(/^([vf]) /, "$1  "));
      expect(parsed(lines)).toEqual(parsed(longer));
    }),
  );
});
