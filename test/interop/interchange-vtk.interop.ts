/** Polydata both ways: what VTK itself writes, Octavo reads to the same numbers, and VTK reads what Octavo makes of it, at once and after a store, as the original. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { VectorDataset } from "../../src/model/vectors.js";
import { convert as convertTo, diff, open } from "../../src/node.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("vtk");
const folder = mkdtempSync(join(tmpdir(), "octavo-vtk-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
const convert: typeof convertTo = (from, to, options) => convertTo(from, to, { durability: "none", ...options });

type Values = readonly [type: string, values: readonly number[]];
interface Said {
  readonly points: Values;
  readonly cells: { readonly [kind: string]: readonly (readonly number[])[] };
  readonly point: { readonly [name: string]: Values };
  readonly cell: { readonly [name: string]: Values };
}
const ask = (names: readonly string[]): { readonly [name: string]: Said } =>
  JSON.parse(runPeer("vtk", "ic_vtk.py", "read", ...names.map(at)));

const KINDS = ["lines", "polys", "verts"];
const NAMES = KINDS.flatMap((kind) => [
  ...["bin", "text", "new"].map((name) => `${kind}-${name}.vtk`),
  ...["ascii", "binary", "appended"].map((name) => `${kind}-${name}.vtp`),
]);

describe.skipIf(reason !== undefined)(`polydata, VTK${reason === undefined ? "" : `: ${reason}`}`, () => {
  let said: { readonly [name: string]: Said } = {};
  beforeAll(() => {
    runPeer("vtk", "ic_vtk.py", "write", folder);
    said = ask(NAMES);
  });

  it.each(NAMES)("%s is read as VTK reads it", async (name) => {
    const { points, cells, point, cell } = said[name]!;
    const { positions, parts, links, vertexColumns, objectColumns } = await ((await open(at(name))) as VectorDataset)
      .select()
      .read();
    expect([...positions]).toEqual(points[1]);
    for (const [own, [, values]] of Object.entries(point))
      expect([own, [...vertexColumns.get(own)!.values]]).toEqual([own, values]);
    const faces = cells.polys!;
    if (faces.length > 0) expect([...links!.ends]).toEqual(faces.flat());
    const lines = cells.lines!;
    if (lines.length > 0)
      expect(lines.map((_, i) => parts[i + 1]! - parts[i]!)).toEqual(lines.map((own) => own.length));
    const of = faces.length > 0 ? links!.columns : objectColumns;
    for (const [own, [, values]] of Object.entries(cell)) expect([...of.get(own)!.values]).toEqual(values);
  });

  it.each(KINDS)("%s: what Octavo writes, at once and after a store, VTK reads as the original", async (kind) => {
    const original = `${kind}-bin.vtk`;
    await convert(at(original), at(`${kind}.zv`));
    const made: string[] = [];
    for (const [from, name, ascii] of [
      [original, "direct.vtk", false],
      [original, "direct.vtp", false],
      [original, "direct-text.vtk", true],
      [original, "direct-text.vtp", true],
      [`${kind}.zv`, "stored.vtk", false],
      [`${kind}.zv`, "stored.vtp", false],
    ] as const) {
      const { losses } = await convert(at(from), at(`${kind}-${name}`), { ascii });
      expect([name, losses]).toEqual([name, []]);
      expect((await diff(at(original), at(`${kind}-${name}`))).differences).toEqual([]);
      if (from === original) made.push(`${kind}-${name}`); // a store has its vertices in an order of its own
    }
    for (const [name, { cells, ...found }] of Object.entries(ask(made))) {
      const { cells: wanted, ...expected } = said[original]!;
      expect([name, found]).toEqual([name, expected]);
      if (kind !== "verts") expect([name, cells]).toEqual([name, wanted]);
    }
  });
});
