/** What all writers of files do with columns: float16, which is held as its bits, is its numbers; and no unit is lost in silence. */
import { describe, expect, it } from "vitest";
import { written } from "../../../test/interchange.js";
import { dataWith } from "../../../test/surfaces.js";
import { numberToHalf } from "../../bytes/half.js";
import { Unsupported } from "../../errors.js";
import type { Column } from "../../model/attributes.js";
import type { Batch, Columns, Geometry } from "../../model/vectors.js";
import { kinds } from "./kinds.js";

type Make = (name: string, channels: number, values: readonly number[]) => Column;

const halves: Make = (name, channels, values) => ({
  info: { name, channels, dtype: { kind: "float", size: 2, endian: "little" } },
  values: Uint16Array.from(values, numberToHalf),
});
const singles: Make = (name, channels, values) => ({
  info: { name, channels, dtype: { kind: "float", size: 4, endian: "little" } },
  values: Float32Array.from(values),
});

const named = (columns: readonly Column[]): Columns => new Map(columns.map((column) => [column.info.name, column]));

const NORMAL = [0.5, 0.25, -0.75];

/** A path of three vertices, or the face between them, with names that some files know. */
function batchOf(geometry: Geometry, make: Make): Batch {
  const isPath = ["points", "lines", "polylines", "streamlines"].includes(geometry);
  const [width, ends] = geometry === "mesh" ? [3, [0, 1, 2]] : [2, [1, 0, 2, 1]];
  const links = ends.length / width;
  const each = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 0.5);
  return {
    level: 0,
    geometry,
    dims: 3,
    positions: Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0),
    parts: Uint32Array.of(0, 3),
    objects: Int32Array.of(0),
    ids: BigInt64Array.of(0n),
    links: isPath
      ? undefined
      : {
          width,
          ends: Uint32Array.from(ends),
          columns: named([
            make("weight", 1, [1.5, Number.NaN].slice(0, links)),
            make("normal", 3, [...NORMAL, ...NORMAL].slice(0, 3 * links)),
          ]),
        },
    fragments: undefined,
    vertexColumns: named([
      make("radius", 1, [0.25, 1.5, -2]),
      make("type", 1, [1, 3, 3]),
      make("fa", 1, [0.5, Number.NaN, 1]),
      make("normal", 3, [...NORMAL, ...NORMAL, ...NORMAL]),
      make("uv", 2, each(6)),
      make("color", 3, [0, 0.5, 1, 0, 0.5, 1, 0, 0.5, 1]),
    ]),
    objectColumns: named([make("length", 1, [2.5])]),
    chunk: undefined,
  };
}

const GEOMETRIES = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"] as const;

const writers = kinds.filter(({ readOnly }) => readOnly !== true).map((kind) => [kind.id, kind] as const);

describe("float16", () => {
  const others = writers.filter(([id]) => id !== "trx"); // TRX has float16 itself
  it.each(others)("is in %s as float32 of the same numbers", async (_, kind) => {
    const { file } = await kind.load();
    let files = 0;
    for (const geometry of GEOMETRIES)
      for (const ascii of [false, true]) {
        const of = (make: Make) => written(file, dataWith([batchOf(geometry, make)]), { ascii });
        const expected = await of(singles).catch((error: unknown) => error);
        if (expected instanceof Unsupported) continue;
        if (expected instanceof Error) throw expected;
        expect((await of(halves)).bytes).toEqual((expected as Awaited<ReturnType<typeof of>>).bytes);
        files++;
      }
    expect(files).toBeGreaterThan(0);
  });
});

describe("units", () => {
  const timed: Make = (name, channels, values) => {
    const column = singles(name, channels, values);
    return { ...column, info: { ...column.info, unit: "ms" } };
  };
  const names = ({ vertexColumns, objectColumns, links }: Batch): string[] =>
    [vertexColumns, objectColumns, links?.columns ?? new Map()].flatMap((columns) => [...columns.keys()]);

  it.each(writers)("that %s has no place for are told of each attribute that it keeps", async (_, kind) => {
    const { file } = await kind.load();
    for (const geometry of GEOMETRIES)
      for (const ascii of [false, true]) {
        const of = (make: Make) => written(file, dataWith([batchOf(geometry, make)]), { ascii });
        const plain = await of(singles).catch((error: unknown) => error);
        if (plain instanceof Unsupported) continue;
        const { losses } = (await of(timed)).report;
        const without = (plain as Awaited<ReturnType<typeof of>>).report.losses;
        expect(new Set(losses).size).toBe(losses.length);
        expect(
          losses.filter((loss) => !without.includes(loss)).every((loss) => loss.startsWith("the unit ms of ")),
        ).toBe(true);
        for (const name of names(batchOf(geometry, timed)))
          expect([losses.some((loss) => new RegExp(`\\b${name}\\b`).test(loss)), name]).toEqual([true, name]);
      }
  });

  it("are none of those that the file implies", async () => {
    const { file } = await kinds.find(({ id }) => id === "swc")!.load();
    const batch = batchOf("skeletons", singles);
    const lossesOf = async (unit: string) => {
      const { info, values } = batch.vertexColumns.get("radius")!;
      const vertexColumns = named([{ info: { ...info, unit }, values }]);
      return (await written(file, dataWith([{ ...batch, vertexColumns }]))).report.losses.join();
    };
    expect(await lossesOf("nm")).not.toContain("unit");
    expect(await lossesOf("ms")).toContain("the unit ms of radius");
  });
});
