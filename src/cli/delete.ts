/** `octavo delete`: objects go from a store, on every level, as one transaction. */
import { InvalidInput } from "../errors.js";
import { editZarrVectors } from "../format/zarr-vectors/index.js";
import { flag } from "./args.js";
import { vectorOptions } from "./get-vectors.js";
import { countText } from "./output.js";
import { findSource, sourceOptions } from "./source.js";
import { vectorsAt } from "./vectors-at.js";
import { verb } from "./verb.js";

const { object, group, where } = vectorOptions;

export const remove = verb({
  about: "Their ids stay theirs: they are given to no other object.",
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
    for await (const batch of dataset.select(query).batches({ attributes: [], signal })) ids.push(...batch.ids);
    if (!options["dry-run"] && ids.length > 0) {
      const edit = await editZarrVectors(source.store, source.at, { signal });
      edit.delete(ids);
      await edit.commit();
    }
    if (output.json) output.document({ url, dryRun: options["dry-run"], deleted: ids });
    else output.line(`${countText(ids.length)} objects ${options["dry-run"] ? "would be" : "are"} deleted`);
    return 0;
  },
});
