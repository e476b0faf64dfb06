/** Every golden store of 0.9.2 is edited: an object goes from all levels, and comes again under another id; all others stay. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { copyOf } from "../../../../test/zarr-vectors-copy.js";
import { Unsupported } from "../../../errors.js";
import type { Batch } from "../../../model/vectors.js";
import { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { openZarrVectors } from "../index.js";
import { validateZarrVectors } from "../validate/validate.js";
import { editZarrVectors } from "./edit.js";

const names = readdirSync(join(fixtures("zarr-vectors"), "v0.9.2"));
/** What is read and not edited. */
const REFUSED: { readonly [name: string]: RegExp } = {
  composite: /several geometries/,
  mesh_draco: /Draco/,
};

/** Each object of each level, its vertices in no order, with attributes and links. */
async function everything(store: Store): Promise<Map<string, string>> {
  const dataset = await openZarrVectors(store, Prefix.root);
  const found = new Map<string, string>();
  for (const { level } of dataset.levels) {
    const batch = await dataset.select({ level }).read();
    for (let row = -1; row < batch.ids.length; row++) {
      const text = objectText(batch, row);
      if (text !== "[] []") found.set(`${level}/${row < 0 ? "-" : batch.ids[row]}`, text);
    }
  }
  return found;
}

function objectText({ dims, positions, parts, objects, links, vertexColumns }: Batch, row: number): string {
  const vertex = (v: number): string => {
    const values = [...vertexColumns].map(
      ([name, { info, values }]) =>
        `${name}=${Array.from({ length: info.channels }, (_, c) => String(values[v * info.channels + c]))}`,
    );
    return `${positions.subarray(v * dims, (v + 1) * dims).join(",")} ${values}`;
  };
  const own = new Set<number>();
  for (let p = 0; p < objects.length; p++)
    for (let v = parts[p]!; objects[p] === row && v < parts[p + 1]!; v++) own.add(v);
  const ends: string[] = [];
  const width = links?.width ?? 1;
  for (let l = 0; l * width < (links?.ends.length ?? 0); l++) {
    const link = [...links!.ends.subarray(l * width, (l + 1) * width)];
    if (link.every((end) => own.has(end))) ends.push(link.map(vertex).join(" - "));
  }
  return `${JSON.stringify([...own].map(vertex).sort())} ${JSON.stringify(ends.sort())}`;
}

async function errors(store: Store): Promise<string[]> {
  const found: string[] = [];
  for await (const { severity, rule } of validateZarrVectors(store, Prefix.root))
    if (severity === "error") found.push(rule);
  return found.sort();
}

describe.each(names)("%s", (name) => {
  it("is edited, or says why not", async () => {
    const store = await copyOf(`v0.9.2/${name}`);
    const dataset = await openZarrVectors(store, Prefix.root);
    const before = await everything(store);
    const bad = await errors(store);
    const ids = await dataset.objectIds();
    const edit = await editZarrVectors(store, Prefix.root);
    const id = ids[0];
    const batch = await dataset.select(id === undefined ? { limit: 3 } : { object: [id] }).read();
    if (id !== undefined) edit.delete([id]);
    const { ids: _, objects: __, ...rest } = batch;
    edit.append(rest);
    if (REFUSED[name] !== undefined) {
      await expect(edit.commit()).rejects.toThrow(REFUSED[name]);
      return;
    }
    const committed = await edit.commit();
    expect(await errors(store)).toEqual(bad);
    const after = await everything(store);
    const added = id === undefined ? "-" : String(committed.ids[0]![0]);
    if (id !== undefined) expect(after.get(`0/${added}`)).toBe(before.get(`0/${id}`));
    for (const map of [before, after])
      for (const key of [...map.keys()]) if (key.endsWith(`/${id}`) || key === `0/${added}`) map.delete(key);
    expect(after).toEqual(before);
  });
});

it("a store before 0.9 says that it must be converted", async () => {
  const store = await copyOf("v0.7.0-vlen/streamlines_3d");
  const edit = await editZarrVectors(store, Prefix.root);
  edit.delete([0]);
  await expect(edit.commit()).rejects.toThrow(Unsupported);
});
