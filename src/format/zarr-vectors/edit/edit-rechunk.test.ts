/** Chunks of another size, and vertices that move to other chunks: golden stores say the same afterwards, also of links between levels. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { copyOf } from "../../../../test/zarr-vectors-copy.js";
import { toldBetween, toldLevel, toldStore } from "../../../../test/zarr-vectors-told.js";
import { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { openZarrVectors } from "../index.js";
import type { ZarrVectors } from "../read/dataset.js";
import { validateZarrVectors } from "../validate/validate.js";
import { editZarrVectors } from "./edit.js";

const names = readdirSync(join(fixtures("zarr-vectors"), "v0.9.2"));
const REFUSED: { readonly [name: string]: RegExp } = { composite: /several geometries/, mesh_draco: /Draco/ };

/** What lies at each place of a level: "chunk:vertex" → its position. */
async function placesOf(dataset: ZarrVectors, level: number): Promise<Map<string, string>> {
  const source = await dataset.source(level);
  const { count, rank, coords } = await source.chunks();
  const found = new Map<string, string>();
  const all = Array.from({ length: count }, (_, chunk) => chunk);
  for await (const { chunk, positions } of source.tiles(all, { positions: true, vertex: [], fragment: [] }))
    for (let v = 0; v * source.dims < positions.length; v++) {
      const place = `${coords.subarray(chunk * rank, (chunk + 1) * rank).join(".")}:${v}`;
      found.set(place, positions.subarray(v * source.dims, (v + 1) * source.dims).join(","));
    }
  return found;
}

async function everything(store: Store) {
  const dataset = await openZarrVectors(store, Prefix.root);
  const levels = dataset.levels.map(({ level }) => level);
  const places = new Map<number, Map<string, string>>();
  for (const level of levels) places.set(level, await placesOf(dataset, level));
  const between: string[] = [];
  for (const from of levels)
    for (const to of levels)
      if (from !== to)
        for (const link of await toldBetween(dataset, from, to - from)) {
          const [own, ...others] = link.split(" ");
          between.push(`${places.get(from)!.get(own!)} > ${others.map((end) => places.get(to)!.get(end))}`);
        }
  const { levels: _, ...rest } = await toldStore(dataset);
  const told = [];
  for (const level of levels) told.push(await toldLevel(dataset, level));
  return { ...rest, told, between: between.sort() };
}

async function errors(store: Store): Promise<string[]> {
  const found: string[] = [];
  for await (const { severity, rule, message } of validateZarrVectors(store, Prefix.root))
    if (severity === "error") found.push(`${rule} ${message}`);
  return found.sort();
}

describe.each(names)("%s", (name) => {
  it("is cut into smaller chunks, larger ones in shards, and back, or says why not", async () => {
    const store = await copyOf(`v0.9.2/${name}`);
    const { chunkShape } = (await openZarrVectors(store, Prefix.root)).levels[0]!;
    const before = await everything(store);
    const bad = (await errors(store)).map((line) => line.split(" ")[0]);
    for (const by of [0.6, 3, 1]) {
      const edit = await editZarrVectors(store, Prefix.root);
      edit.rechunk(chunkShape!.map((size) => size * by));
      if (by === 3) edit.shard(chunkShape!.map(() => 2));
      if (by === 1) edit.unshard();
      if (REFUSED[name] !== undefined) {
        await expect(edit.commit()).rejects.toThrow(REFUSED[name]);
        return;
      }
      await edit.commit();
      expect((await errors(store)).filter((line) => !bad.includes(line.split(" ")[0]))).toEqual([]);
      const after = await openZarrVectors(store, Prefix.root);
      expect(after.levels[0]!.chunkShape).toEqual(chunkShape!.map((size) => size * by));
      expect(await everything(store)).toEqual(before);
    }
  });

  it("moves the vertices of an object far away and back, with all links to them", async () => {
    const store = await copyOf(`v0.9.2/${name}`);
    const dataset = await openZarrVectors(store, Prefix.root);
    const [id] = await dataset.objectIds();
    if (id === undefined || REFUSED[name] !== undefined) return;
    const before = await everything(store);
    const bad = (await errors(store)).map((line) => line.split(" ")[0]);
    const read = async () => (await openZarrVectors(store, Prefix.root)).select({ object: [id] }).read();
    const { positions } = await read();
    const [size] = dataset.levels[0]!.chunkShape!;
    const home = new Map<number, number>(); // where they come from, by where they go
    for (const step of [1, -1]) {
      const now = (await read()).positions;
      const to = now.map((value) => (step > 0 ? value + 2 * size! : home.get(value)!));
      if (step > 0) for (const [i, value] of to.entries()) home.set(value, now[i]!);
      if (home.size < new Set(positions).size) return; // they fall together by rounding
      const edit = await editZarrVectors(store, Prefix.root, { expand: true });
      const rows = Array.from({ length: now.length / dataset.axes.length }, (_, row) => row);
      edit.moveVertices(id, rows, to);
      await edit.commit();
      expect([...(await read()).positions].sort()).toEqual([...to].sort());
      expect((await errors(store)).filter((line) => !bad.includes(line.split(" ")[0]))).toEqual([]);
    }
    expect(await everything(store)).toEqual(before);
  });
});
