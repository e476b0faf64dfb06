/** What is drawn at random comes back from each kind of file as it was, as far as that kind can hold it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { written } from "../../../test/interchange.js";
import { dataWith, plain, readFrom } from "../../../test/surfaces.js";
import type { Batch } from "../../model/vectors.js";
import { file as freesurfer } from "./freesurfer.js";
import { file as gifti } from "./gifti.js";
import { file as gltf } from "./gltf.js";
import { file as ply } from "./ply.js";
import { file as stl } from "./stl.js";
import { column, columns } from "./surface.js";
import { file as vtk } from "./vtk.js";
import { file as vtp } from "./vtp.js";

const float = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

/** Meshes with some objects each, in some batches. */
const drawn = fc
  .record({
    sizes: fc.array(fc.array(fc.integer({ min: 3, max: 7 }), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 3,
    }),
    numbers: fc.array(float, { minLength: 40, maxLength: 40 }),
    double: fc.boolean(),
    big: fc.bigInt({ min: 0n, max: (1n << 59n) - 1n }),
  })
  .map(({ sizes, numbers, double, big }): Batch[] => {
    let id = big;
    return sizes.map((list, b) => {
      const parts = Uint32Array.from([
        0,
        ...list.map((_, i) => list.slice(0, i + 1).reduce((sum, size) => sum + size, 0)),
      ]);
      const count = parts.at(-1)!;
      const draw = (length: number, from: number) =>
        Float32Array.from({ length }, (_, i) => numbers[(i + from + b) % 40]!);
      const positions = draw(3 * count, 0);
      const ends = Uint32Array.from(list.flatMap((size, i) => [0, 1, 2, size - 1, 1, 0].map((end) => end + parts[i]!)));
      return {
        level: 0,
        geometry: "mesh",
        dims: 3,
        positions: double ? Float64Array.from(positions) : positions,
        parts,
        objects: Int32Array.from(list, (_, i) => i),
        ids: BigInt64Array.from(list, () => id++),
        links: { width: 3, ends, columns: columns(column("q", Int16Array.from(ends.filter((_, i) => i % 3 === 0)))) },
        fragments: undefined,
        vertexColumns: columns(
          column("normal", draw(3 * count, 7), 3),
          column("heat", draw(count, 3)),
          column("n", Int32Array.from(draw(count, 1))),
        ),
        objectColumns: columns(),
        chunk: undefined,
      };
    });
  });

/** All batches as one. */
function together(batches: readonly Batch[]) {
  const all = batches.map(plain);
  let vertices = 0;
  const firsts = all.map(({ positions }) => {
    vertices += positions.length / 3;
    return vertices - positions.length / 3;
  });
  const values = (pick: (batch: ReturnType<typeof plain>) => { [name: string]: { values: unknown[] } }, name: string) =>
    all.flatMap((batch) => pick(batch)[name]?.values ?? []);
  return {
    positions: all.flatMap(({ positions }) => positions),
    links: all.flatMap(({ links }, i) => links.map((end) => end + firsts[i]!)),
    parts: [0, ...all.flatMap(({ parts }, i) => parts.slice(1).map((end) => end + firsts[i]!))],
    ids: all.flatMap(({ ids }) => ids),
    normal: values(({ vertexColumns }) => vertexColumns, "normal"),
    heat: values(({ vertexColumns }) => vertexColumns, "heat"),
    n: values(({ vertexColumns }) => vertexColumns, "n"),
    q: values(({ linkColumns }) => linkColumns, "q"),
  };
}
type All = ReturnType<typeof together>;

const FLOATS: readonly (keyof All)[] = ["positions", "links"];
const NUMBERS: readonly (keyof All)[] = [...FLOATS, "normal", "heat", "n"];
describe("surfaces, drawn", () => {
  it.each([
    ["PLY", ply, false, [...NUMBERS, "q"]],
    ["PLY as text", ply, true, [...NUMBERS, "q"]],
    ["VTK", vtk, false, [...NUMBERS, "q", "parts", "ids"]],
    ["VTK as text", vtk, true, [...NUMBERS, "q", "parts", "ids"]],
    ["VTP", vtp, false, [...NUMBERS, "q", "parts", "ids"]],
    ["VTP as text", vtp, true, [...NUMBERS, "q", "parts", "ids"]],
    ["glTF", gltf, false, [...FLOATS, "normal", "heat", "parts", "ids"]],
    ["GIFTI", gifti, false, [...NUMBERS, "q", "parts", "ids"]],
    ["FreeSurfer", freesurfer, false, FLOATS],
  ] as const)("%s holds what it can", async (_, file, ascii, kept) => {
    await fc.assert(
      fc.asyncProperty(drawn, async (batches) => {
        const { bytes, report } = await written(file, dataWith(batches), { ascii });
        const all = together(batches);
        expect(report).toMatchObject({ vertices: all.positions.length / 3, objects: all.ids.length });
        const found = together([await readFrom(file, bytes)]);
        const one = all.ids.length === 1; // whose id is in no file but glTF
        for (const name of kept)
          if (!(one && name === "ids" && file !== gltf)) expect(found[name], name).toEqual(all[name]);
      }),
      { numRuns: 40 },
    );
  });

  it.each([true, false])("STL has every corner of every face (text: %s)", async (ascii) => {
    const corners = ({ positions, links }: All) => links.flatMap((end) => positions.slice(3 * end, 3 * end + 3));
    await fc.assert(
      fc.asyncProperty(drawn, async (batches) => {
        const { bytes } = await written(stl, dataWith(batches), { ascii });
        expect(corners(together([await readFrom(stl, bytes)]))).toEqual(corners(together(batches)));
      }),
      { numRuns: 40 },
    );
  });
});
