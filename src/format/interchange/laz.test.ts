/** LAZ: files of laspy (lazrs), both ways of compression, tables of chunks, damage. */
import { describe, expect, it } from "vitest";
import { openBytes } from "../../../test/interchange.js";
import { LAYERS, POINTS } from "../../../test/laz.js";
import { OctavoError } from "../../errors.js";
import { laz } from "./las.js";
import { parseChunkTable } from "./laz-table.js";

const numbers = (step: number, from = 0): number[] => Array.from({ length: 6 }, (_, i) => from + i * step);

describe("reading", () => {
  it.each([
    ["points", POINTS, "LAZ 1.2, point format 3"],
    ["layers", LAYERS, "LAZ 1.4, point format 7"],
  ])("%s", async (_, bytes, version) => {
    const dataset = await openBytes(laz, "a.laz", bytes);
    expect(dataset.version).toBe(version);
    const { positions, vertexColumns } = await dataset.select().read();
    expect([...positions.filter((_, i) => i % 3 === 0)]).toEqual(numbers(0.5, 10));
    expect([...positions.filter((_, i) => i % 3 === 1)]).toEqual(numbers(1, 20));
    expect([...positions.filter((_, i) => i % 3 === 2)]).toEqual(numbers(-0.5, 30));
    const values = (name: string): number[] => [...(vertexColumns.get(name)!.values as Float64Array)];
    expect(values("intensity")).toEqual(numbers(1000));
    expect(values("gps_time")).toEqual(numbers(0.25));
    expect(values("red")).toEqual(numbers(7));
    expect(values("ed")).toEqual(numbers(1));
  });

  it("leaves nobody listening to errors of the process", async () => {
    const events = ["uncaughtException", "unhandledRejection"];
    const before = events.map((event) => process.listenerCount(event));
    await (await openBytes(laz, "a.laz", POINTS)).select().read();
    expect(events.map((event) => process.listenerCount(event))).toEqual(before);
  });
});

describe("damage", () => {
  const attempt = async (bytes: Uint8Array): Promise<boolean> => {
    try {
      await (await openBytes(laz, "a.laz", bytes, { limits: { chunkBytes: 1 << 20 } })).select().read();
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(OctavoError);
      return false;
    }
  };

  it("every shorter file is an error", async () => {
    for (const bytes of [POINTS, LAYERS])
      for (let length = 0; length < bytes.length - 3; length += 5)
        expect(await attempt(bytes.slice(0, length)), `${length}`).toBe(false);
  });

  it("any other byte is read, or one of our errors, and the next file is as good as ever", {
    timeout: 30_000,
  }, async () => {
    for (const bytes of [POINTS, LAYERS])
      for (let at = 0; at < bytes.length; at += 11) {
        const other = bytes.slice();
        other[at]! ^= 0xff;
        await attempt(other);
      }
    expect(await attempt(POINTS)).toBe(true);
  });

  it("tables of chunks", () => {
    const read = (...bytes: number[]) => parseChunkTable(Uint8Array.from(bytes), true, 10, "it");
    expect(read(0, 0, 0, 0, 0, 0, 0, 0)).toEqual({ lengths: [], counts: [] });
    expect(() => read(1, 0, 0, 0, 0, 0, 0, 0)).toThrow("version 1");
    expect(() => read(0, 0, 0, 0, 255, 255, 255, 255)).toThrow("with 4294967295 chunks, where at most 10 can be");
    expect(() => read(0, 0)).toThrow(OctavoError);
  });
});
