/** `octavo merge`: datasets of one kind become one. */
import type { ConvertReport } from "../convert/arrays.js";
import type { ManyOptions } from "../convert/feed-many.js";
import { feedFrom } from "../convert/index.js";
import { type Input, inputsOf } from "../convert/inputs.js";
import { type ConvertToOptions, FORMATS } from "../convert/options.js";
import { merge as mergeTo, openLocation } from "../node.js";
import { createPool } from "../worker/pool.js";
import { choice, flag, size, value } from "./args.js";
import { pyramidOption, tell, toStdout } from "./convert.js";
import { explainConversion } from "./convert-plan.js";
import { progressOption } from "./progress.js";
import { skipOption, sourceOptions } from "./source.js";
import { tableOf, tableOptions } from "./table-options.js";
import { type Session, verb } from "./verb.js";

const { type: _, ...reading } = sourceOptions;

/** What comes through a pipe is put into a file first. */
const pathOf = async (source: string, as: string | undefined, session: Session): Promise<string> =>
  source === "-" ? (await import("./stdin.js")).spooled(as, session) : source;

/** Into a pipe. */
async function merged(
  inputs: readonly Input[],
  options: ConvertToOptions & Pick<ManyOptions, "merge">,
  session: Session,
): Promise<ConvertReport> {
  const skipped: string[] = [];
  const onBad = options.skipBad === true ? ({ message }: Error): void => void skipped.push(message) : undefined;
  return { ...(await toStdout(inputs, { ...options, onBad }, session)), ...(onBad && { skipped }) };
}

export const merge = verb({
  about:
    "OUT has the objects of all, every attribute that any of them has (absent where another lacks it) and their groups, of which those with " +
    "the same name become one. Coarser levels stay behind unless --pyramid builds them again. The inputs may be of any format, " +
    "folders or quoted patterns; their geometry and axes must be the same. To add to a store that is there: octavo append. - is a pipe: --as and --to say what comes and goes.",
  options: {
    ...reading,
    ...tableOptions,
    to: { ...choice(FORMATS, "the format of OUT (default: as it is called, else zarr-vectors)"), value: "FORMAT" },
    ids: choice(
      ["keep", "new"] as const,
      "keep ids, of which none may be there twice, or give new ones, 0, 1, 2 … (default: keep, unless the inputs are all files without)",
    ),
    pyramid: pyramidOption,
    "max-memory": value("SIZE", "how much may be held at once (default 256M)", size),
    strict: flag("nothing may be lost: a loss is an error, and nothing is written"),
    ...skipOption,
    overwrite: flag("replace what is at OUT"),
    "dry-run": flag("say what would happen, and write nothing"),
    progress: progressOption,
  },
  examples: [
    ["octavo merge day1.zv day2.zv all.zv --pyramid", "two stores as one, with coarser levels"],
    ["octavo merge left.trk right.trk whole.trk", "files as a file"],
    ["octavo merge 'subjects/*.zv' all.zv --ids new", "of stores that all count from 0"],
  ],
  async run(operands, given, session) {
    const { output, signal, report: progress } = session;
    const to = operands.at(-1)!;
    const sources = await Promise.all(operands.slice(0, -1).map((source) => pathOf(source, given.as, session)));
    const { pyramid } = given;
    const opening = {
      as: given.as,
      table: tableOf(given),
      forbiddenIsMissing: given["forbidden-is-missing"],
      signal,
    };
    const work = {
      ...opening,
      to: given.to,
      pyramid: pyramid === undefined || pyramid === true ? pyramid : { levels: pyramid },
      maxMemory: given["max-memory"],
      strict: given.strict,
      skipBad: given["skip-bad"],
      overwrite: given.overwrite,
      onProgress: progress.update,
    };
    if (given["dry-run"]) {
      const inputs = await inputsOf(openLocation, sources, opening);
      const merging = { ...work, merge: given.ids ?? ("any" as const) };
      await feedFrom(inputs, undefined, merging); // refuses what cannot be one
      return (await explainConversion(inputs, to, merging, session)) ? 0 : 2;
    }
    const report =
      to === "-"
        ? await merged(await inputsOf(openLocation, sources, opening), { ...work, merge: given.ids ?? "any" }, session)
        : await mergeTo(sources, to, { ...work, ids: given.ids, pool: createPool() });
    progress.end();
    if (output.json && to !== "-") output.document(report);
    else tell(report, to, to === "-" ? output.remark : output.line, output);
    for (const problem of report.skipped ?? []) output.remark(`skipped ${problem}`);
    return 0;
  },
});
