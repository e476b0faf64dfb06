/** `octavo append`: the objects of other datasets are added to a store, all of them or none. */

import { InvalidInput } from "../errors.js";
import { editZarrVectors } from "../format/zarr-vectors/index.js";
import type { VectorDataset } from "../model/vectors.js";
import { choice, flag } from "./args.js";
import { countsText } from "./get-vectors.js";
import { findSource, skipOption, sourceOptions } from "./source.js";
import { vectorsAt } from "./vectors-at.js";
import { verb } from "./verb.js";

export const append = verb({
  about: "Attributes that the store has must be there in what is added, or have a value that stands for none.",
  options: {
    ...sourceOptions,
    ...skipOption,
    ids: choice(["keep", "new"] as const, "keep the ids that objects have, or give new ones (default new)"),
    expand: flag("what lies outside the grid makes it grow; else it is refused"),
  },
  examples: [
    ["octavo append all.zv day2.zv", "the objects of one store to another, under new ids"],
    ["octavo append all.zv a.zv b.zv --ids keep", "of two stores, under the ids they have"],
    ["octavo append all.zv far.zv --expand", "also where they lie outside of its grid"],
  ],
  async run([url, ...from], options, session) {
    const { output, signal } = session;
    const target = await findSource(url!, options, session);
    const there = await vectorsAt(target, url!);
    const edit = await editZarrVectors(target.store, target.at, { signal, expand: options.expand });
    let vertices = 0;
    for (const other of from) {
      const dataset = await vectorsAt(await findSource(other, { ...options, as: undefined }, session), other);
      checkKinds(dataset, other, there, url!);
      for await (const batch of dataset.select().batches({ signal })) {
        if (batch.repeats !== true) vertices += batch.positions.length / batch.dims;
        edit.append(batch, { newIds: options.ids !== "keep" });
      }
    }
    const { ids } = await edit.commit();
    const added = ids.flatMap((list) => [...list]);
    if (output.json) output.document({ url, vertices, appended: added });
    else output.line(`${countsText({ vertices, objects: added.length })} appended`);
    return 0;
  },
});

const PATHS = ["lines", "polylines", "streamlines"];

/** Streamlines to a mesh is a slip, whatever the numbers may allow. */
function checkKinds(from: VectorDataset, other: string, to: VectorDataset, url: string): void {
  const [one, own] = [from.geometries[0], to.geometries[0]];
  if (one === own || (PATHS.includes(one ?? "") && PATHS.includes(own ?? ""))) return;
  throw new InvalidInput(`${other} holds ${one ?? "nothing known"}, and ${url} ${own ?? "nothing known"}`);
}
