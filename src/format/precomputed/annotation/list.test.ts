import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import type { NumericArray } from "../../../codec/types.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { typed } from "../../../model/elements.js";
import { judge } from "./defect.js";
import { ANNOTATION_TYPES, AnnotationInfo, type AnnotationProperty, channelsOf, PROPERTY_TYPES } from "./info.js";
import { dtypeOf, Layout } from "./layout.js";
import {
  type Annotations,
  encodeList,
  encodeOne,
  encodeRecords,
  parseList,
  parseOne,
  type RecordForm,
} from "./list.js";

const root = fixtures("precomputed");
const infoAt = (folder: string) => AnnotationInfo.parse(JSON.parse(readFileSync(join(folder, "info"), "utf8")), "x");
const formAt = (folder: string): RecordForm & { info: AnnotationInfo } => {
  const info = infoAt(folder);
  return { info, layout: Layout.of(info.properties) };
};
const bytesAt = (...path: string[]) => Uint8Array.from(readFileSync(join(...path)));

const property = (id: string, type: AnnotationProperty["type"]): AnnotationProperty => ({ id, type });

test("properties lie by their size, whatever the order of the info", () => {
  const layout = Layout.of([
    property("a", "uint8"),
    property("b", "float32"),
    property("c", "rgb"),
    property("d", "int16"),
    property("e", "uint32"),
    property("f", "rgba"),
  ]);
  expect(layout.properties.map(({ offset }) => offset)).toEqual([10, 0, 11, 8, 4, 14]);
  expect(layout.size).toBe(20);
  expect(layout.padding).toEqual([18, 19]);
});

test("a point of two dimensions with a colour, packed by hand", () => {
  const form: RecordForm = {
    info: {
      type: "point",
      dimensions: ["x", "y"].map((name) => ({ name, scale: 1, unit: "" })),
      relationships: [{ id: "seg", key: "seg", sharding: null }],
    },
    layout: Layout.of([property("c", "rgb")]),
  };
  const record = [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 1, 2, 3, 0];
  const point = {
    ids: BigUint64Array.of(9n),
    offsets: Uint32Array.of(0, 1),
    points: Float32Array.of(1, 2),
    properties: new Map([["c", Uint8Array.of(1, 2, 3)]]),
  };
  const list = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, ...record, 9, 0, 0, 0, 0, 0, 0, 0);
  expect(parseList(list, form, "x")).toEqual(point);
  const one = Uint8Array.of(...record, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 128);
  const related = { offsets: Uint32Array.of(0, 1), ids: BigUint64Array.of(2n ** 63n + 5n) };
  expect(parseOne(one, 9n, form, "x")).toEqual({ ...point, related: new Map([["seg", related]]) });
  const records = encodeRecords(point, form);
  expect(encodeList(records, point.ids, Uint32Array.of(0))).toEqual(list);
  expect(encodeOne(records, 0, [related.ids])).toEqual(one);
});

const expected = JSON.parse(readFileSync(join(root, "annotations/expected.json"), "utf8"));

for (const type of ["point", "ellipsoid", "polyline"])
  test(`golden ${type} annotations are read as the reference reads them, and go back to their bytes`, () => {
    const folder = join(root, "annotations", `${type}_unsharded`);
    const form = formAt(folder);
    let count = 0;
    for (const { id, geometry, props, relationships } of expected.stores[`${type}_unsharded`].records) {
      const bytes = bytesAt(folder, "by_id", id);
      const read = parseOne(bytes, BigInt(id), form, id);
      expect([...read.points]).toEqual(geometry.flat());
      for (const [name, value] of Object.entries(props))
        expect([...read.properties.get(name)!]).toEqual([value].flat());
      for (const [name, ids] of Object.entries<string[]>(relationships))
        expect([...read.related!.get(name)!.ids].map(String)).toEqual(ids);
      const related = form.info.relationships.map(({ id }) => read.related!.get(id)!.ids);
      expect(encodeOne(encodeRecords(read, form), 0, related)).toEqual(bytes);
      count++;
    }
    expect(count).toBe(24);
    const cell = bytesAt(folder, "spatial0/0_0_0");
    const list = parseList(cell, form, "x");
    const all = Uint32Array.from(list.ids, (_, i) => i);
    expect(encodeList(encodeRecords(list, form), list.ids, all)).toEqual(cell);
  });

test("the defect of the Python writer is told from sound records by their bytes", () => {
  const folder = join(root, "annotations_bug/point_unsharded_ng_python_2_41_2");
  const form = formAt(folder);
  const flawed = { ...form, layout: Layout.defect(form.info.properties, form.layout)! };
  const cell = bytesAt(folder, "spatial0/0_0_0");
  expect(judge(cell, form, flawed)).toBe("flawed");
  const read = parseList(cell, flawed, "x");
  // What it wrote is what the sound store of the same input holds.
  const sound = join(root, "annotations/point_unsharded");
  const same = parseList(bytesAt(sound, "spatial0/0_0_0"), formAt(sound), "x");
  expect(read.ids).toEqual(same.ids);
  for (const [id, values] of same.properties) expect(read.properties.get(id)).toEqual(values);
  const all = Uint32Array.from(read.ids, (_, i) => i);
  expect(judge(encodeList(encodeRecords(read, form), read.ids, all), form, flawed)).toBe("sound");
});

test("records of the same length are told apart by their padding, or not at all", () => {
  const properties = [property("a", "float32"), property("b", "uint32"), property("c", "uint8")];
  const info = { type: "point" as const, dimensions: [{ name: "x", scale: 1, unit: "" }], relationships: [] };
  const sound = { info, layout: Layout.of(properties) };
  const flawed = { info, layout: Layout.defect(properties, sound.layout)! };
  expect(flawed.layout.size).toBe(sound.layout.size);
  const point = (b: number, c: number): Annotations => ({
    ids: BigUint64Array.of(1n),
    offsets: Uint32Array.of(0, 1),
    points: Float32Array.of(1),
    properties: new Map<string, NumericArray>([
      ["a", Float32Array.of(1)],
      ["b", Uint32Array.of(b)],
      ["c", Uint8Array.of(c)],
    ]),
  });
  const list = (own: Annotations, form: RecordForm) => encodeList(encodeRecords(own, form), own.ids, Uint32Array.of(0));
  expect(judge(list(point(2 ** 32 - 1, 3), flawed), sound, flawed)).toBe("flawed");
  expect(judge(list(point(2 ** 32 - 1, 3), sound), sound, flawed)).toBe("sound");
  expect(judge(list(point(0, 0), sound), sound, flawed)).toBe("either");
  expect(Layout.defect([property("c", "uint8"), property("b", "uint32")], Layout.of([]))).toBeUndefined();
});

const drawn = fc
  .record({
    type: fc.constantFrom(...ANNOTATION_TYPES),
    rank: fc.integer({ min: 1, max: 4 }),
    types: fc.array(fc.constantFrom(...PROPERTY_TYPES), { maxLength: 6 }),
    sizes: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 5 }),
  })
  .chain(({ type, rank, types, sizes }) => {
    const points = sizes.map((size) => (type === "polyline" ? size : type === "point" ? 1 : 2));
    const total = points.reduce((sum, own) => sum + own, 0) * rank;
    return fc.record({
      form: fc.constant<RecordForm>({
        info: {
          type,
          dimensions: Array.from({ length: rank }, (_, i) => ({ name: `d${i}`, scale: 1, unit: "m" })),
          relationships: [{ id: "r", key: "r", sharding: null }],
        },
        layout: Layout.of(types.map((own, i) => property(`p${i}`, own))),
      }),
      points: fc.constant(points),
      coordinates: fc.array(fc.float({ noNaN: true }), { minLength: total, maxLength: total }),
      ids: fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: sizes.length, maxLength: sizes.length }),
      bytes: fc.uint8Array({ minLength: 20 * sizes.length, maxLength: 20 * sizes.length }),
    });
  });

test("what is encoded is parsed again", () => {
  fc.assert(
    fc.property(drawn, ({ form, points, coordinates, ids, bytes }) => {
      const offsets = new Uint32Array(points.length + 1);
      for (const [i, own] of points.entries()) offsets[i + 1] = offsets[i]! + own;
      const properties = new Map(
        form.layout.properties.map(({ property: { id, type } }) => {
          const size = dtypeOf(type).size * channelsOf(type) * ids.length;
          const data = type === "bool" ? bytes.subarray(0, size).map((byte) => byte & 1) : bytes.subarray(0, size);
          const values = typed({ shape: [ids.length], dtype: dtypeOf(type), data });
          return [id, type === "float32" ? (values as Float32Array).map((value) => value || 0) : values] as const;
        }),
      );
      const own = { ids: BigUint64Array.from(ids), offsets, points: Float32Array.from(coordinates), properties };
      const records = encodeRecords(own, form);
      const list = encodeList(
        records,
        own.ids,
        Uint32Array.from(ids, (_, i) => i),
      );
      expect(parseList(list, form, "x")).toEqual(own);
      for (let cut = 0; cut < list.length; cut += 5)
        expect(() => parseList(list.subarray(0, cut), form, "x")).toThrow(Corrupt);
      expect(() => parseList(Uint8Array.of(...list, 0), form, "x")).toThrow(Corrupt);
      for (let row = 0; row < ids.length; row++) {
        const one = encodeOne(records, row, [own.ids]);
        const read = parseOne(one, ids[row]!, form, "x");
        expect(read.related!.get("r")!.ids).toEqual(own.ids);
        expect(read.points).toEqual(
          own.points.slice(
            offsets[row]! * form.info.dimensions.length,
            offsets[row + 1]! * form.info.dimensions.length,
          ),
        );
      }
    }),
    { numRuns: 100 },
  );
});

test("lists that lie are refused", () => {
  const form = formAt(join(root, "annotations/polyline_unsharded"));
  const cell = bytesAt(root, "annotations/polyline_unsharded/spatial0/0_0_0");
  for (const at of [0, 4, 8]) {
    const bad = Uint8Array.from(cell);
    bad.fill(255, at, at + 4);
    expect(() => parseList(bad, form, "x")).toThrow(Corrupt);
  }
});

test("columns that do not fit are refused", () => {
  const form = formAt(join(root, "annotations/point_unsharded"));
  const list = parseList(bytesAt(root, "annotations/point_unsharded/spatial0/0_0_0"), form, "x");
  expect(() => encodeRecords({ ...list, offsets: list.offsets.slice(1) }, form)).toThrow(InvalidInput);
  expect(() => encodeRecords({ ...list, points: list.points.slice(1) }, form)).toThrow(InvalidInput);
  expect(() => encodeRecords({ ...list, properties: new Map() }, form)).toThrow(/a_u8 .* should be a Uint8Array/);
});
