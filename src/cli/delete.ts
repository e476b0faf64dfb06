/** `octavo delete`: objects go from a store, on every level, as one transaction. */
import { InvalidInput, NotFound } from "../errors.js";
import { editZarrVectors } from "../format/zarr-vectors/index.js";
import { flag } from "./args.js";
import { vectorOptions } from "./get-vectors.js";
import { counted } from "./output.js";
import { findSource, sourceOptions } from "./source.js";
import { vectorsAt } from "./vectors-at.js";
import { verb } from "./verb.js";

const { object, group, where } = vectorOptions;

export const remove = verb({
  about:
    "Their ids stay theirs: they are given to no other object. Where one of them is not there, none goes: exit code 1.",
  options: { ...sourceOptions, object, group, where, "dry-run": flag("say what would happen, and write nothing") },
  examples: [
    ["octavo delete tracts.zv --object 17,23", "two objects"],
    ["octavo delete tracts.zv --where 'object.length < 10' --dry-run", "which ones would go"],
    ["octavo delete cells.zv --group 3", "all members of a group"],
  ],
  async run([url], options, session) {
    const { output, signal } = session;
    if (options.object === undefined && options.group === undefined && options.where === undefined)
      throw new InvalidInput("which objects should go? Say it with --object, --group or --where");
    const source = await findSource(url!, options, session);
    const dataset = await vectorsAt(source, url!);
    const query = { object: options.object, group: options.group, where: options.where };
    const ids: (bigint | number)[] = [];
    const empty: bigint[] = [];
    try {
      for await (const { ids: own, objects } of dataset.select(query).batches({ attributes: [], signal })) {
        const alive = new Set(objects);
        for (const [row, id] of own.entries()) (alive.has(row) ? ids : empty).push(id);
      }
      if (empty.length > 0) throw new NotFound(`there is nothing left to delete of object ${empty.join(", ")}`);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      output.remark(`octavo: ${error.message}`);
      return 1;
    }
    if (!options["dry-run"] && ids.length > 0) {
      const edit = await editZarrVectors(source.store, source.at, { signal });
      edit.delete(ids);
      await edit.commit();
    }
    if (output.json) output.document({ url, dryRun: options["dry-run"], deleted: ids });
    else output.line(`${counted(ids.length, "object")} ${options["dry-run"] ? "would be deleted" : "deleted"}`);
    return 0;
  },
});
