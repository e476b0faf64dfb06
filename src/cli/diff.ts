/** `octavo diff`: do two datasets hold the same data, whatever their formats. */
import { join } from "node:path";
import { inputsOf } from "../convert/inputs.js";
import { diffDatasets } from "../diff/datasets.js";
import { NotFound } from "../errors.js";
import { isTable, kindNamed, refuseTable } from "../format/interchange/kinds.js";
import type { TableOptions } from "../format/interchange/types.js";
import type { Dataset } from "../model/dataset.js";
import { convert as convertTo, open as openDataset, openLocation } from "../node.js";
import { temporary } from "../store/temporary.js";
import { choice, count, list, number, size, type Values, value } from "./args.js";
import { counted } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, skipOption, sourceOptions } from "./source.js";
import { tableOf, tableOptions } from "./table-options.js";
import { type Session, verb } from "./verb.js";

const PARTS = ["ids", "attributes", "groups", "levels"] as const;

const options = {
  ...sourceOptions,
  ...tableOptions,
  ...skipOption,
  tolerance: value("SIZE", "how far coordinates may be apart along an axis (default 0: not at all)", number),
  level: value("N", "compare only this level (default: all)", count),
  ignore: list("PART,…", `do not compare these: ${PARTS.join(", ")}`, (name) => choice(PARTS, "").parse(name)),
  places: value("N", "places that are told of each kind of difference (default 5)", count),
  "max-memory": value("SIZE", "how much may be held while points are sorted (default 256M)", size),
  progress: progressOption,
};

/** What is compared, and whether the options of tables are about it. */
interface Side {
  readonly isTable: boolean;
  open(): Promise<Dataset>;
}

async function sideAt(
  url: string,
  given: Values<typeof options>,
  session: Session,
  table: TableOptions | undefined,
): Promise<Side> {
  try {
    const { match, again } = await findSource(url, given, session, { related: true });
    const own = isTable(match.format);
    return { isTable: own, open: async () => (own && table !== undefined ? await again({ table }) : match).open() };
  } catch (error) {
    if (!(error instanceof NotFound) || url === "-") throw error;
    return folderAt(url, given, session, table); // perhaps a folder of files
  }
}

/** The files of a folder or a pattern as the one dataset that `convert` makes of them. */
async function folderAt(
  url: string,
  given: Values<typeof options>,
  { signal, output }: Session,
  table: TableOptions | undefined,
): Promise<Side> {
  const inputs = await inputsOf(openLocation, [url], { signal, as: given.as });
  const { path, remove } = await temporary.folder();
  process.once("exit", () => void remove());
  const own = inputs.some(({ name }) => isTable(kindNamed(name)?.id ?? ""));
  return {
    isTable: own,
    async open() {
      const to = join(path, "all.zv");
      const work = { signal, as: given.as, skipBad: given["skip-bad"], table: own ? table : undefined };
      const { skipped = [] } = await convertTo([url], to, work);
      for (const problem of skipped) output.remark(`skipped ${problem}`);
      return openDataset(to, { signal });
    },
  };
}

export const diff = verb({
  about:
    "Objects are matched by their ids, points by where they are. Vertices of graphs and meshes may be in another order, paths may not. " +
    "Coordinates are compared in units of A, attributes by what they mean: 1 is 1 in every type. What is said of a table is said " +
    "of A or B, whichever is one. A folder of files, or a quoted pattern, is what convert makes of it. Exit code 0 where both hold the same, 1 where they differ.",
  options,
  examples: [
    ["octavo diff tracts.trk tracts.zv", "is everything there?"],
    ["octavo diff a.zv b.zv --tolerance 0.001", "coordinates may be a thousandth apart"],
    ["octavo diff synapses.csv syn.zv --position px,py,pz", "a table, whose columns have other names"],
  ],
  async run([a, b], given, session) {
    const { output, signal, report: progress } = session;
    const table = tableOf(given);
    const [first, second] = [await sideAt(a!, given, session, table), await sideAt(b!, given, session, table)];
    if (!first.isTable && !second.isTable) refuseTable(table, "", a!);
    const { tolerance, level, ignore, places, "max-memory": maxMemory } = given;
    const work = { tolerance, level, ignore, places, maxMemory, signal, onProgress: progress.update };
    const report = await diffDatasets(await first.open(), await second.open(), work);
    progress.end();
    const { equal, differences, counts, notes, compared } = report;
    if (output.json) output.document(report);
    else {
      for (const { kind, where, message } of differences)
        output.line(`${output.red(kind.padEnd(10))}  ${where}: ${message}`);
      for (const note of notes) output.line(`${output.dim("note".padEnd(10))}  ${note}`);
      const total = Object.values(counts).reduce((sum, own) => sum + own, 0);
      const isArray = compared.levels === 0;
      const vertices = isArray
        ? counted(compared.vertices, "element")
        : counted(compared.vertices, "vertex", "vertices");
      const what = compared.objects > 0 ? `${counted(compared.objects, "object")} with ${vertices}` : vertices;
      const verdict = equal ? output.green("the same") : output.red(counted(total, "difference"));
      output.line(`${verdict}: ${what} compared`);
    }
    return equal ? 0 : 1;
  },
});
