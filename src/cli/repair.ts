/** `octavo repair`: what follows from the rest of a dataset is written again, as one transaction. */
import { Unsupported } from "../errors.js";
import type { Finding } from "../model/format.js";
import { flag } from "./args.js";
import { counted } from "./output.js";
import { findSource, sourceOptions } from "./source.js";
import { verb } from "./verb.js";

export const repair = verb({
  about:
    "Rebuilds directories of chunks, counts, owners of fragments, bounds and torn transactions; data that are lost stay lost. " +
    "Exit code 1 where errors are left.",
  options: { ...sourceOptions, "dry-run": flag("say what would happen, and write nothing") },
  examples: [
    ["octavo repair tracts.zv --dry-run", "what would be written again"],
    ["octavo repair tracts.zv", "write it, together or not at all"],
    ["octavo repair tracts.zv --json", "what was repaired, and what is left"],
  ],
  async run([url], options, session) {
    const { output, signal } = session;
    const { format, store, at, match } = await findSource(url!, options, session);
    if (format.repair === undefined)
      throw new Unsupported(`${url} is a ${match.summary}, of which nothing can be repaired`, { where: url! });
    const dryRun = options["dry-run"];
    const { fixed, left } = await format.repair(store, at, { dryRun, signal });
    const errors = left.filter(({ severity }) => severity === "error");
    if (output.json) output.document({ url, dryRun, fixed, left });
    else {
      const show = (word: string, { where, message, fix }: Finding): void =>
        output.line(`${word}  ${where}: ${message}${fix === undefined ? "" : `  ${output.dim(fix)}`}`);
      for (const finding of fixed) show(output.green(dryRun ? "would" : "fixed"), finding);
      for (const finding of errors) show(output.red("left "), finding);
      const done = `${fixed.length} ${dryRun ? "could be repaired" : "repaired"}`;
      output.line(
        fixed.length + errors.length === 0 ? "nothing to repair" : `${done}, ${counted(errors.length, "error")} left`,
      );
    }
    return errors.length === 0 ? 0 : 1;
  },
});
