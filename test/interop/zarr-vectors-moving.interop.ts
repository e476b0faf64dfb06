/**
 * docs/moving-from-zarr-vectors-py.md: the Python calls of the page are made with zarr-vectors 0.9.2 (zv_moving.py) and answer what
 * Octavo's calls beside them answer; the places where the page says that they differ are not asked for here.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createZarrVectors,
  editZarrVectors,
  openZarrVectors,
  type ZarrVectors,
} from "../../src/format/zarr-vectors/index.js";
import type { Query } from "../../src/model/vectors.js";
import { convert } from "../../src/node.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { folderOf } from "../zarr-vectors-copy.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("zarr-vectors-0.9");
const folder = mkdtempSync(join(tmpdir(), "octavo-moving-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stores = {
  cells: "v0.9.2/pyramid_points_objects_sparse",
  kinds: "v0.9.2/points_categorical",
  paths: "v0.9.2/polylines_2d",
  lines: "v0.9.2/lines_3d",
  graph: "v0.9.2/graph_2d",
  surfaces: "v0.9.2/mesh_two_objects",
  planes: "v0.9.2/parametric",
  tracts: "v0.3/streamlines_3d",
} as const;
const at = (name: string): string => join(folder, `${name}.zarrvectors`);
const opened = (name: string): Promise<ZarrVectors> => openZarrVectors(fileStore(at(name)));

/** Each part of an answer as a list of places. */
async function partsOf(name: string, query: Query = {}): Promise<number[][][]> {
  const { positions, parts, dims } = await (await opened(name)).select(query).read();
  return Array.from({ length: parts.length - 1 }, (_, p) =>
    Array.from({ length: parts[p + 1]! - parts[p]! }, (_, v) => {
      const from = dims * (parts[p]! + v);
      return [...positions.subarray(from, from + dims)];
    }),
  );
}
const sorted = <T>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
const placesOf = async (name: string, query?: Query): Promise<number[][]> =>
  sorted((await partsOf(name, query)).flat());

describe.skipIf(reason !== undefined)(`the calls of the page${reason === undefined ? "" : ` (${reason})`}`, () => {
  let python: { readonly [call: string]: unknown };

  beforeAll(async () => {
    for (const [name, path] of Object.entries(stores)) cpSync(folderOf(path), at(name), { recursive: true });
    for (const name of ["made", "edited"]) {
      const writer = await createZarrVectors(fileStore(at(name)), Prefix.root, {
        geometry: "streamlines",
        chunkShape: 50,
        bounds: { min: [0, 0, 0], max: [100, 100, 100] },
      });
      await writer.add({
        positions: Float32Array.of(1, 2, 3, 60, 2, 3, 5, 5, 5, 5, 60, 5, 5, 60, 60),
        parts: Uint32Array.of(0, 2, 5),
        objects: Int32Array.of(0, 1),
        ids: BigInt64Array.of(10n, 11n),
      });
      await writer.commit();
    }
    const edit = await editZarrVectors(fileStore(at("edited")));
    edit.append({ positions: Float32Array.of(7, 7, 7, 9, 9, 9), ids: BigInt64Array.of(12n) });
    edit.delete([11]);
    edit.moveVertices(10, [1], Float32Array.of(70, 2, 3));
    await edit.commit();
    await convert(at("tracts"), at("upgraded"));
    python = JSON.parse(runPeer("zarr-vectors-0.9", "zv_moving.py", folder));
  });

  const calls: { readonly [call: string]: () => Promise<unknown> } = {
    "ds.format_version": async () => (await opened("cells")).version,
    "ds.axes": async () => (await opened("cells")).axes.map(({ name }) => name),
    "ds.levels": async () => (await opened("cells")).levels.map(({ vertices }) => vertices),
    attribute_names: async () => (await (await opened("cells")).schema()).object.map(({ name }) => name).sort(),
    "objects.ids": async () => {
      const ds = await opened("cells");
      return [[...(await ds.objectIds(0))].map(Number), [...(await ds.objectIds(1))].map(Number)];
    },
    groups: async () => Array.from(await (await opened("cells")).groupMembers(1), Number).sort((a, b) => a - b),
    read_points: () => placesOf("cells"),
    "read_points bbox": () => placesOf("cells", { box: [0, 0, 0, 50, 50, 50], clip: "vertices" }),
    "read_points object_ids": () => placesOf("cells", { object: [3, 5] }),
    "read_points group_ids": () => placesOf("cells", { group: [1] }),
    "select near": () => placesOf("cells", { sphere: [50, 50, 50, 20], clip: "vertices" }),
    texts: async () => {
      const { vertexColumns } = await (await opened("kinds")).select().read({ attributes: ["kind"] });
      const { info, values } = vertexColumns.get("kind")!;
      return Array.from(values as Uint8Array, (code) => info.categories![code]).sort();
    },
    read_polylines: () => partsOf("paths"),
    "read_polylines object_ids": () => partsOf("paths", { object: [2] }),
    read_lines: () => partsOf("lines"),
    read_graph: async () => (await (await opened("graph")).select().read()).links!.ends.length / 2,
    read_mesh: async () => (await (await opened("surfaces")).select().read()).links!.ends.length / 3,
    read_parametric_objects: async () =>
      (await (await opened("planes")).parametric())!.objects.map(({ type, name, coefficients }) => [
        type,
        name,
        coefficients,
      ]),
    made: () => partsOf("made"),
    edited: () => partsOf("edited"),
    validate: async () => ({ made: true, edited: true, upgraded: true }),
    upgraded: async () => (await (await opened("upgraded")).objectIds()).length,
  };

  it("are all made on both sides", () => {
    expect(Object.keys(python)).toEqual(Object.keys(calls));
  });

  /** In no order that either side promises. */
  const unordered = ["read_points", "read_lines"];
  it("select near: it looks in the chunk that holds the place, and finds a part", async () => {
    const [ours, theirs] = [await calls["select near"]!(), python["select near"] as unknown[]];
    expect(ours).toEqual(expect.arrayContaining(theirs));
    expect(ours).toHaveLength(5);
    expect(theirs).toHaveLength(1);
  });
  it.each(Object.keys(calls).filter((call) => call !== "select near"))("%s", async (call) => {
    const loose = unordered.some((name) => call.startsWith(name));
    const [ours, theirs] = [await calls[call]!(), python[call]];
    if (loose) expect(sorted(ours as unknown[])).toEqual(sorted(theirs as unknown[]));
    else expect(ours).toEqual(theirs);
  });
});
