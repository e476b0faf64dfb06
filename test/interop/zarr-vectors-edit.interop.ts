/**
 * Edits of Zarr Vectors stores beside zarr-vectors 0.9.2: what Octavo has edited the reference reads equal and finds valid, and
 * whatever the two do to a store one after the other, Octavo's answers are those of a store written anew with what is there.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { editZarrVectors } from "../../src/format/zarr-vectors/edit/edit.js";
import { openZarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { Geometry } from "../../src/model/vectors.js";
import { fileStore } from "../../src/store/file.js";
import { memoryStore } from "../../src/store/memory.js";
import {
  anyThing,
  at,
  DIMS,
  diceOf,
  editAtRandom,
  findings,
  listThings,
  storeOf,
  type Thing,
  type Things,
} from "../zarr-vectors-edits.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("zarr-vectors-0.9");
const folder = mkdtempSync(join(tmpdir(), "octavo-zv-edit-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Dump {
  readonly dump: { readonly levels: { readonly "0": Level } };
  readonly validate_level5: { readonly ok: boolean; readonly errors: string[] };
}
interface Numbers {
  readonly data: readonly (readonly number[])[];
}
interface Level {
  readonly metadata: { readonly zarr_vectors_level: { readonly vertex_count: number } };
  readonly chunks: {
    readonly [chunk: string]: {
      readonly vertices_by_fragment: readonly Numbers[];
      readonly vertex_attributes?: { readonly mark: readonly { readonly data: readonly number[] }[] };
    };
  };
  readonly object_manifests: readonly (readonly (readonly [readonly number[], number])[])[];
  readonly object_id_table: { readonly data: readonly number[] };
  readonly object_attributes?: { readonly weight: { readonly data: { readonly data: readonly number[] } } };
  readonly links?: {
    readonly "0": { readonly records: readonly (readonly (readonly [readonly number[], number])[])[] };
  };
}

/** The objects that the reference sees, with the links that are stored. */
function thingsIn(level: Level): Things {
  const things: Things = new Map();
  const markAt = new Map<string, number>(); // of entry "chunk:row"
  for (const [chunk, { vertex_attributes: attributes }] of Object.entries(level.chunks))
    for (const [row, mark] of (attributes?.mark ?? []).flatMap(({ data }) => data).entries())
      markAt.set(`${chunk}:${row}`, mark);
  const owner = new Map<number, bigint>();
  const weights = level.object_attributes?.weight.data.data;
  for (const [row, manifest] of level.object_manifests.entries()) {
    if (manifest.length === 0) continue;
    const pieces = manifest.map(([chunk, fragment]) => {
      const { vertices_by_fragment: vertices, vertex_attributes: attributes } = level.chunks[chunk.join(".")]!;
      return { positions: vertices[fragment]!.data, marks: attributes?.mark[fragment]?.data ?? [] };
    });
    const id = BigInt(level.object_id_table.data[row]!);
    const marks = pieces.flatMap(({ marks }) => marks);
    for (const mark of marks) owner.set(mark, id);
    things.set(id, {
      positions: pieces.flatMap(({ positions }) => positions),
      marks,
      links: [],
      weight: weights?.[row] ?? 0,
    });
  }
  for (const record of level.links?.["0"].records ?? []) {
    const marks = record.map(([chunk, row]) => markAt.get(`${chunk.join(".")}:${row}`)!);
    const thing = things.get(owner.get(marks[0]!)!);
    if (thing !== undefined) (thing.links as number[][]).push(marks.map((mark) => thing.marks.indexOf(mark)));
  }
  return things;
}

const dumpOf = (path: string): Dump => JSON.parse(runPeer("zarr-vectors-0.9", "zv_dump.py", path));
const pathOf = (name: string): string => join(folder, name, at);

const without = (things: Things): Things => new Map([...things].map(([id, thing]) => [id, { ...thing, links: [] }]));

describe.skipIf(reason !== undefined)("after Octavo's edits", () => {
  const kinds: readonly Geometry[] = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"];
  it.each(kinds.flatMap((kind) => [[kind, "none"] as const, [kind, 2] as const]))(
    "%s are read equal and valid, shards %s",
    async (geometry, sharding) => {
      const name = `${geometry}-${sharding}`;
      const store = fileStore(join(folder, name), { durability: "none" });
      const dice = diceOf(name.length + geometry.length);
      let [marks, largest] = [0, 5n];
      const thing = (): Thing => anyThing(geometry, dice, () => marks++);
      const things: Things = new Map(Array.from({ length: 6 }, (_, i) => [BigInt(i), thing()]));
      await storeOf(store, geometry, things, { sharding });
      for (let round = 0; round < 6; round++) await editAtRandom(store, geometry, things, dice, thing, () => ++largest);
      const { dump, validate_level5: validation } = dumpOf(pathOf(name));
      expect(validation.errors).toEqual([]);
      // The links of paths and skeletons that follow from the order of vertices are not stored.
      const whole = geometry === "graph" || geometry === "mesh";
      const seen = thingsIn(dump.levels["0"]);
      expect(listThings(geometry, whole ? seen : without(seen))).toEqual(
        listThings(geometry, whole ? things : without(things)),
      );
      const vertices = [...things.values()].reduce((sum, { positions }) => sum + positions.length, 0);
      expect(dump.levels["0"].metadata.zarr_vectors_level.vertex_count).toBe(vertices);
    },
  );
});

describe.skipIf(reason !== undefined)("whatever the two have done", () => {
  /** Positions only: the reference drops attributes in silence. */
  const listed = (things: Things): string[] =>
    [...things]
      .map(([id, { positions }]) => `${id}: ${positions.map((at) => at.map(Math.fround).join(",")).join(" ")}`)
      .sort();
  async function seenBy(store: Parameters<typeof openZarrVectors>[0], box?: readonly number[]): Promise<string[]> {
    const { ids, objects, parts, positions } = await (await openZarrVectors(store, at))
      .select(box === undefined ? {} : { box })
      .read();
    const lines = Array.from(ids, (id): [bigint, number[][]] => [BigInt(id), []]);
    for (let p = 0; p < objects.length; p++)
      for (let v = parts[p]!; objects[p]! >= 0 && v < parts[p + 1]!; v++)
        lines[objects[p]!]![1].push([...positions.subarray(v * DIMS, (v + 1) * DIMS)]);
    return lines
      .filter(([, own]) => own.length > 0)
      .map(([id, own]) => `${id}: ${own.map((at) => at.join(",")).join(" ")}`)
      .sort();
  }

  it.each([1, 2, 3])("queries stay exact, %i", async (seed) => {
    const dice = diceOf(77 * seed);
    const name = `mixed-${seed}`;
    const store = fileStore(join(folder, name), { durability: "none" });
    const thing = (): Thing => ({ ...anyThing("streamlines", dice, () => 0), weight: 0 });
    const bare = (things: Things) => {
      const all = [...things];
      const parts = [0];
      for (const [, { positions }] of all) parts.push(parts.at(-1)! + positions.length);
      return {
        positions: Float32Array.from(all.flatMap(([, { positions }]) => positions.flat())),
        parts: Uint32Array.from(parts),
        ids: BigInt64Array.from(all, ([id]) => id),
        objects: Int32Array.from(all.keys()),
      };
    };
    const first: Things = new Map(Array.from({ length: 8 }, (_, i) => [BigInt(i), thing()]));
    const { createZarrVectors } = await import("../../src/format/zarr-vectors/write/write.js");
    const writer = await createZarrVectors(store, at, {
      geometry: "streamlines",
      dims: DIMS,
      chunkShape: 10,
      bounds: { min: [0, 0, 0], max: [39.875, 39.875, 39.875] },
    });
    await writer.add(bare(first));
    await writer.commit();
    let truth = first;
    for (let round = 0; round < 5; round++) {
      const ids = [...truth.keys()].map(Number);
      const object = ids[dice(ids.length)]!;
      const operations = [
        { op: "add_object", vertices: thing().positions },
        { op: "remove_object", object, atomic: dice(2) === 0 },
        { op: "add_vertex", pos: [dice(39), dice(39), dice(39)], object },
      ];
      runPeer("zarr-vectors-0.9", "zv_edit.py", pathOf(name), JSON.stringify([operations[dice(3)]]));
      truth = thingsIn(dumpOf(pathOf(name)).dump.levels["0"]);
      expect(await seenBy(store)).toEqual(listed(truth));
      const edit = await editZarrVectors(store, at);
      const alive = [...truth.keys()];
      if (dice(2) === 0) edit.delete([alive[dice(alive.length)]!]);
      const more = thing();
      const { ids: _, objects: __, ...batch } = bare(new Map([[0n, more]]));
      edit.append(batch);
      await edit.commit();
      const after = dumpOf(pathOf(name));
      expect(after.validate_level5.errors).toEqual([]);
      expect((await findings(store)).filter((line) => line.startsWith("error"))).toEqual([]);
      truth = thingsIn(after.dump.levels["0"]);
      expect(listed(truth).some((line) => line.endsWith(more.positions.map((at) => at.join(",")).join(" ")))).toBe(
        true,
      );
      expect(await seenBy(store)).toEqual(listed(truth));
      const anew = memoryStore();
      await storeOf(
        anew,
        "streamlines",
        new Map([...truth].map(([id, own]) => [id, { ...own, marks: own.positions.map(() => 0) }])),
      );
      for (let i = 0; i < 5; i++) {
        const corner = Array.from({ length: DIMS }, () => dice(40));
        const box = [...corner, ...corner.map((from) => from + dice(12))];
        expect(await seenBy(store, box)).toEqual(await seenBy(anew, box));
      }
    }
  });
});
