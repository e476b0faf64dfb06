/** LAZ: files of laspy (lazrs), both ways of compression, tables of chunks, damage. */
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openBytes } from "../../../test/interchange.js";
import { OctavoError } from "../../errors.js";
import { laz } from "./las.js";
import { parseChunkTable } from "./laz-table.js";

const unpack = (text: string): Uint8Array => new Uint8Array(gunzipSync(Buffer.from(text, "base64")));

/** Six points, as laspy 2.7.0 with lazrs wrote them: points of format 3, and layers of format 7; one extra byte. */
const POINTS = unpack(
  "H4sIAAAAAAACA/NxDHZjwAIYmfxDPFyDGHCDnMTigkoFIz1zPQOs8g6Mr9gfM3gyMTAAEUOzMgMbAz7wwB47reIAoU2gtB2U1nRAlbfErq7BGkj7AD0ZH1yQmgy1i4XhAINrRUlRooJTZUlqsUJQanJ+UQpGELClpjAMYQCMoKrMAoXUvOT8FJBP9oRZMWSUlBRY6etDpPTyi9LR9ICiiokJwg44zMDwHw2wAGNRBKiKnYEDSHIAeSDFjEDyCBPRDnOasuTonxdep7VnszAwcDIVlGycfuxSzHWLb5oZDCz/Tc+cPHNl/T6znH0SGxhYO5/trTx3Z8LWxp5rDwUY2NSfHuqccvbB1GfcDYYPGPhVbBtgkQXEtqbA6AIAG+yF5dECAAA=",
);
const LAYERS = unpack(
  "H4sIAAAAAAACA/NxDHZjwAIYWfxDPFyDGHCDnMTigkoFIz1zPQOs8g6Mr9jLGa8zMTAAEUO7KgN+8MAeO63iAKFNoLQdlNZ0QJW3xK6uwdoBm21sDAMNfIABHx9ckJoM5bMwHGBwrSgpSlRwqixJLVYISk3OL0rBiBa21BSGIQyAiaYqs0AhNS85PwXkkz1hJgwZJSUFVvr6ECm9/KJ0ND3MQMzEBGEHHGZg+I8GmBm4GOSAqriBscrMwMfACCSnMZPgKFBiEABidiQxHjQ1mkDMC8ScQKzAwX3LePPLhSmCvQ8YQfru1YUCqaXufcJf0m91XgOyk71+XVheAXS3L+95HyBtucop5xcDA/cTQ8YjAgxM7obckg0MIL1NfPtjGXYxljDdAMUuI0NDQwMsqoHYeRIwsgGWoA4WowMAAA==",
);

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
