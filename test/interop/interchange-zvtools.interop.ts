/**
 * zarr-vectors-tools 0.3.0 both ways: stores that it makes of files are those that Octavo makes of them, but for what it leaves out, and
 * files that it makes of Octavo's stores are the files that they once were.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { VectorDataset } from "../../src/model/vectors.js";
import { convert as convertTo, diff, open } from "../../src/node.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("zarr-vectors-tools");
const folder = mkdtempSync(join(tmpdir(), "octavo-zvtools-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
const convert: typeof convertTo = (from, to, options) => convertTo(from, to, { durability: "none", ...options });
const zvtools = (...runs: readonly (readonly string[])[]): void =>
  void runPeer("zarr-vectors-tools", "ic_zvtools.py", "convert", JSON.stringify(runs));

const FILES = ["a.trk", "points.ply", "mesh.obj", "points.csv", "cell.swc"];
const CHUNKS = ["--chunk-shape", "50,50,50"];

/** What differs, in words. */
const differences = async (a: string, b: string, options: Parameters<typeof diff>[2] = {}): Promise<string[]> =>
  (await diff(at(a), at(b), { places: 3, ...options })).differences.map(({ kind, message }) => `${kind}: ${message}`);

describe.skipIf(reason !== undefined)(`zarr-vectors-tools${reason === undefined ? "" : `: ${reason}`}`, () => {
  beforeAll(async () => {
    runPeer("zarr-vectors-tools", "ic_zvtools.py", "write", folder);
    for (const name of [...FILES, "mesh.ply"]) await convert(at(name), at(`${name}.zv`), { chunkShape: [50, 50, 50] });
    zvtools(
      ...[...FILES, "mesh.ply"].map((name) => [
        at(name),
        at(`${name}.theirs`),
        ...CHUNKS,
        ...(name === "a.trk" ? ["--apply-affine"] : []),
      ]),
    );
  });

  it.each(FILES)("%s: its store is the one that Octavo makes", async (name) => {
    const found = await differences(`${name}.zv`, `${name}.theirs`, { tolerance: 1e-4 });
    expect(found.filter((told) => !told.startsWith("attributes") && !told.startsWith("values"))).toEqual([]);
  });

  it("a mesh of PLY has no faces in its store, and has them in Octavo's", async () => {
    const [own, theirs] = await Promise.all([open(at("mesh.ply.zv")), open(at("mesh.ply.theirs"))]);
    expect((own as VectorDataset).geometries).toEqual(["mesh"]);
    expect((theirs as VectorDataset).geometries).toEqual(["points"]);
    expect((await (own as VectorDataset).select().read()).links!.ends.length).toBe(120);
  });

  it.each([
    ["a.trk", ["--attribute", "fa", "--object-attribute", "w"]],
    ["points.ply", ["--attribute", "heat"]],
    ["mesh.obj", []],
    ["cell.swc", []],
  ])("%s through Octavo's store and the file that it makes of it is the file again", async (name, more) => {
    zvtools([at(`${name}.zv`), at(`back-${name}`), ...more]);
    const found = await differences(name, `back-${name}`, { tolerance: 1e-4, ignore: ["ids"] });
    expect(found.filter((told) => !told.includes("node_id"))).toEqual([]); // which it numbers anew
  });

  it("points.csv comes back with the columns dim0, dim1, dim2 and six decimals", async () => {
    zvtools([at("points.csv.zv"), at("back-points.csv"), "--attribute", "heat"]);
    const back = await open(at("back-points.csv"), { table: { position: ["dim0", "dim1", "dim2"] } });
    const options = { tolerance: 1e-6, ignore: ["attributes"] } as const;
    expect((await diff(await open(at("points.csv")), back, options)).differences).toEqual([]);
  });
});
