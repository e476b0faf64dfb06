/** LAS: a file by hand, every point format, extra bytes, round trips that give the same file, damage. */
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, written } from "../../../test/interchange.js";
import { Writer } from "../../bytes/writer.js";
import { OctavoError } from "../../errors.js";
import { file as csv } from "./csv.js";
import { file } from "./las.js";
import { FORMATS } from "./las-fields.js";

interface Made {
  readonly minor?: number;
  readonly format?: number;
  readonly extra?: Uint8Array;
  readonly extraBytes?: number;
  readonly points?: readonly Uint8Array[];
  readonly count?: number;
  readonly scale?: number;
  readonly wkt?: string;
}

/** A file by hand. */
function las({
  minor = 2,
  format = 0,
  extra,
  extraBytes = 0,
  points = [],
  count = points.length,
  scale = 0.5,
  wkt,
}: Made): Uint8Array {
  const writer = new Writer();
  const size = minor >= 4 ? 375 : minor === 3 ? 235 : 227;
  const records = [
    ...(wkt === undefined ? [] : [{ user: "LASF_Projection", id: 2112, data: new TextEncoder().encode(`${wkt}\0`) }]),
    ...(extra === undefined ? [] : [{ user: "LASF_Spec", id: 4, data: extra }]),
  ];
  const before = records.reduce((sum, { data }) => sum + 54 + data.length, 0);
  const text = (value: string, length: number): void => {
    const bytes = new Uint8Array(length);
    bytes.set(new TextEncoder().encode(value));
    writer.bytes(bytes);
  };
  text("LASF", 4);
  writer.u16(7);
  writer.u16(wkt === undefined ? 1 : 17);
  writer.bytes(Uint8Array.from({ length: 16 }, (_, i) => i));
  writer.u8(1);
  writer.u8(minor);
  text("EXTRACTION", 32);
  text("by hand", 32);
  writer.u16(123);
  writer.u16(2026);
  writer.u16(size);
  writer.u32(size + before);
  writer.u32(records.length);
  writer.u8(format);
  writer.u16(FORMATS[format]!.bytes + extraBytes);
  writer.u32(format < 6 ? count : 0);
  for (let i = 0; i < 5; i++) writer.u32(0);
  for (let i = 0; i < 3; i++) writer.f64(scale);
  for (const value of [100, 0, -10]) writer.f64(value);
  for (const value of [101, 100.5, 1, 0.5, -8.5, -9]) writer.f64(value);
  if (minor >= 3) writer.size(0);
  if (minor >= 4) {
    writer.size(0);
    writer.u32(0);
    writer.size(count);
    for (let i = 0; i < 15; i++) writer.size(0);
  }
  for (const { user, id, data } of records) {
    writer.u16(0);
    text(user, 16);
    writer.u16(id);
    writer.u16(data.length);
    text("", 32);
    writer.bytes(data);
  }
  for (const point of points) writer.bytes(point);
  return writer.finish();
}

function point(format: number, extraBytes: number, x: number, fill: number): Uint8Array {
  const bytes = new Uint8Array(FORMATS[format]!.bytes + extraBytes).fill(fill, 12);
  const view = new DataView(bytes.buffer);
  for (const [axis, value] of [x, x, x + 1].entries()) view.setInt32(4 * axis, value, true);
  if (fill !== 0) bytes[14] = 0; // no return, so that counts of them are 0
  return bytes;
}

/** Extra bytes: a float32, and three scaled int16. */
function extraRecord(): Uint8Array {
  const record = new Uint8Array(384);
  const view = new DataView(record.buffer);
  record.set(new TextEncoder().encode("height"), 4);
  record[2] = 9;
  record.set(new TextEncoder().encode("above ground"), 160);
  record.set(new TextEncoder().encode("normal"), 196);
  record[194] = 24;
  record[195] = 8;
  for (let i = 0; i < 3; i++) view.setFloat64(304 + 8 * i, 0.25, true);
  return record;
}

describe("reading", () => {
  it("fields of a point, bit by bit", async () => {
    const bytes = Uint8Array.of(
      1,
      0,
      0,
      0,
      2,
      0,
      0,
      0,
      0xff,
      0xff,
      0xff,
      0xff,
      0x34,
      0x12,
      0b1101_0011,
      0b1010_0110,
      0xf6,
      9,
      0x02,
      0x01,
    );
    const dataset = await openBytes(file, "a.las", las({ points: [bytes], wkt: "GEOGCS[…]" }));
    expect(dataset.version).toBe("LAS 1.2, point format 0");
    expect(dataset.crs).toBe("GEOGCS[…]");
    expect(dataset.bounds).toEqual({ min: [100.5, 0.5, -9], max: [101, 1, -8.5] });
    const { positions, vertexColumns } = await dataset.select().read();
    expect([...positions]).toEqual([100.5, 1, -10.5]);
    expect(Object.fromEntries([...vertexColumns].map(([name, { values }]) => [name, values[0]]))).toEqual({
      intensity: 0x1234,
      return_number: 3,
      number_of_returns: 2,
      scan_direction_flag: 1,
      edge_of_flight_line: 1,
      classification: 6,
      synthetic: 1,
      key_point: 0,
      withheld: 1,
      scan_angle_rank: -10,
      user_data: 9,
      point_source_id: 258,
    });
  });

  it("extra bytes, scaled where they say so", async () => {
    const one = point(6, 10, 1, 0);
    const view = new DataView(one.buffer);
    view.setFloat32(30, 1.5, true);
    for (let i = 0; i < 3; i++) view.setInt16(34 + 2 * i, -4 * i, true);
    const { vertexColumns } = await (
      await openBytes(file, "a.las", las({ minor: 4, format: 6, extra: extraRecord(), extraBytes: 10, points: [one] }))
    )
      .select()
      .read();
    expect(vertexColumns.get("height")).toMatchObject({
      values: Float32Array.of(1.5),
      info: { description: "above ground" },
    });
    expect(vertexColumns.get("normal")!.values).toEqual(Float64Array.of(0, -1, -2));
  });
});

describe("writing", () => {
  it.each(FORMATS.map((_, format) => format))("points of format %i come back as the same file", async (format) => {
    const minor = format > 5 ? 4 : format > 3 ? 3 : 2;
    const points = [point(format, 10, 1, 0), point(format, 10, 2, 0x41)];
    const bytes = las({ minor, format, extra: extraRecord(), extraBytes: 10, points });
    const dataset = await openBytes(file, "a.las", bytes);
    const { bytes: again, report } = await written(file, await dataOf(dataset));
    expect(report).toEqual({ vertices: 2, objects: 0, losses: [] });
    expect(again).toEqual(bytes);
  });

  it("other points have fields where LAS has them, and extra bytes for the rest", async () => {
    const text =
      "x,y,z,intensity,red,green,blue,height,name,id\n0.125,-7,1e3,65535,1,2,3,0.1,a,9007199254740993\n10.5,8,-1e3,0,4,5,6,0.2,b,5\n";
    const dataset = await openBytes(csv, "a.csv", new TextEncoder().encode(text));
    const { bytes, report } = await written(file, await dataOf(dataset));
    expect(report.losses).toEqual([
      "that points are objects: their ids are an attribute",
      "the attribute name, of string, for which LAS has no place",
    ]);
    const again = await openBytes(file, "a.las", bytes);
    expect(again.version).toBe("LAS 1.4, point format 7");
    const { positions, vertexColumns } = await again.select().read();
    expect([...positions]).toEqual([0.125, -7, 1000, 10.5, 8, -1000]);
    expect([...(vertexColumns.get("intensity")!.values as Uint16Array)]).toEqual([65535, 0]);
    expect([...(vertexColumns.get("blue")!.values as Uint16Array)]).toEqual([3, 6]);
    expect(vertexColumns.get("height")!.values).toEqual(Float64Array.of(0.1, 0.2));
    expect(vertexColumns.get("id")!.values).toEqual(BigInt64Array.of(9007199254740993n, 5n));
  });

  it("says how far coordinates move, and what does not fit", async () => {
    const text = "x,y,z,classification\n0.123456789012,1e6,0,300\n0,0,0,1\n";
    const { report } = await written(file, await dataOf(await openBytes(csv, "a.csv", new TextEncoder().encode(text))));
    expect(report.losses[0]).toMatch(/^coordinates by up to \d/);
    expect(report.losses[1]).toBe("1 values of classification, which do not fit its field");
  });
});

describe("damage", () => {
  it.each([
    [las({ count: 3, points: [point(0, 0, 1, 0)] }), "says that it has 3 points, and ends after 1"],
    [las({ scale: 0 }), "has the scale 0,0,0"],
    [las({ scale: Number.NaN }), "which are no places"],
    [las({ minor: 5 }), "is LAS 1.5"],
    [new TextEncoder().encode("LASX"), "does not begin with LASF"],
    [las({}).fill(40, 104, 105), "has points of format 40"],
    [las({}).fill(1, 105, 107), "ends after"],
    [las({ minor: 4, format: 6, count: 2 ** 52 }), "says that it has 4503599627370496 points, and ends after 0"],
  ])("%#", async (bytes, message) => {
    const read = async () => (await openBytes(file, "a.las", bytes)).select().read();
    if (message !== "ends after") await expect(read()).rejects.toThrow(message);
    else expect((await read()).positions.length).toBe(0);
  });

  it("points that are there are read where that is wanted", async () => {
    const bad: string[] = [];
    const bytes = las({ count: 3, points: [point(0, 0, 1, 0)] });
    const { positions } = await (await openBytes(file, "a.las", bytes, { onBad: (error) => bad.push(error.message) }))
      .select()
      .read();
    expect([positions.length, bad.length]).toEqual([3, 1]);
  });

  it("every shorter file, and any other byte in the header, is read or one of our errors", async () => {
    const bytes = las({ minor: 4, format: 6, extra: extraRecord(), extraBytes: 10, points: [point(6, 10, 1, 0)] });
    const attempt = async (some: Uint8Array): Promise<boolean> => {
      try {
        await (await openBytes(file, "a.las", some)).select().read();
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(OctavoError);
        return false;
      }
    };
    for (let length = 0; length < bytes.length; length += 9) expect(await attempt(bytes.slice(0, length))).toBe(false);
    for (let at = 0; at < bytes.length; at += 4) {
      const other = bytes.slice();
      other[at]! ^= 0xff;
      await attempt(other);
    }
  });
});
