/** `octavo split`: a dataset becomes a folder of datasets. */
import { FORMATS } from "../convert/options.js";
import type { SplitOptions } from "../convert/split.js";
import { InvalidInput } from "../errors.js";
import { split as splitInto } from "../node.js";
import { choice, flag, nearest, size, sizes, value } from "./args.js";
import { countsText } from "./get-vectors.js";
import { counted } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, skipOption, sourceOptions } from "./source.js";
import { tableOf, tableOptions } from "./table-options.js";
import { vectorsAt } from "./vectors-at.js";
import { verb } from "./verb.js";

const WAYS = ["group", "object", "box"] as const;

export const split = verb({
  about:
    "OUTDIR gets one dataset for each group, value of an attribute (of objects; of points also their own), object, or box of a grid that begins at 0. What is in no group " +
    "is in ungrouped, what is in several is in each; an object is in the box of its first vertex, and whole, unless --clip cuts " +
    "it. Names are those of groups, values and ids, as far as file systems allow. All of them are there in the end, or none.",
  options: {
    ...sourceOptions,
    ...tableOptions,
    ...skipOption,
    by: value("WHAT", "group, attribute:NAME, object or box", byWhat),
    size: value("X,Y,Z", "of boxes: their sides", sizes),
    clip: flag("of boxes: cut objects at their faces"),
    to: { ...choice(FORMATS, "the format of the parts (default zarr-vectors)"), value: "FORMAT" },
    "max-memory": value("SIZE", "how much may be held at once (default 256M)", size),
    strict: flag("nothing may be lost: a loss is an error, and nothing is written"),
    overwrite: flag("replace what is in OUTDIR under the names of the parts"),
    "dry-run": flag("say what would be written, and write nothing"),
    progress: progressOption,
  },
  examples: [
    ["octavo split tracts.zv bundles --by group --to trk", "a file for each bundle"],
    ["octavo split cells.zv types --by attribute:type", "a store for each type of cell"],
    ["octavo split cells.zv boxes --by box --size 100,100,50", "by where they begin"],
  ],
  async run([url, folder], given, session) {
    const { output, signal, report: progress } = session;
    if (given.by === undefined)
      throw new InvalidInput("by what? --by is missing", { hint: "--by group, attribute:NAME, object or box" });
    const dataset = await vectorsAt(
      await findSource(url!, given, session, { table: tableOf(given), related: true }),
      url!,
    );
    const report = await splitInto(dataset, folder!, {
      by: given.by,
      size: given.size,
      clip: given.clip || undefined,
      to: given.to,
      maxMemory: given["max-memory"],
      strict: given.strict,
      overwrite: given.overwrite,
      dryRun: given["dry-run"],
      signal,
      onProgress: progress.update,
    });
    progress.end();
    if (output.json) {
      output.document(report);
      return 0;
    }
    const { outputs, losses, notes } = report;
    for (const { name, vertices, objects } of outputs) output.line(`${name}: ${countsText({ vertices, objects })}`);
    for (const loss of losses) output.line(`${output.yellow("loss")} ${loss}`);
    for (const note of notes) output.line(`${output.dim("note")} ${note}`);
    if (given["dry-run"]) {
      output.line(`${counted(outputs.length, "part")}, nothing written`);
      return 0;
    }
    const verdict = losses.length === 0 ? output.green("nothing was lost") : "what was lost is told above";
    output.line(`${counted(outputs.length, "part")} written, ${verdict}`);
    return 0;
  },
});

function byWhat(given: string): SplitOptions["by"] {
  const way = WAYS.find((known) => known === given);
  if (way !== undefined) return way;
  if (/^attribute:./.test(given)) return given as `attribute:${string}`;
  const words = [...WAYS, "attribute:NAME"];
  throw new InvalidInput(`expected ${words.join(", ")}, found ${JSON.stringify(given)}`, nearest(given, words));
}
