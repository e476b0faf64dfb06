/** `octavo diff`: do two datasets hold the same data, whatever their formats. */
import { diffDatasets } from "../diff/datasets.js";
import { isTable, refuseTable } from "../format/interchange/kinds.js";
import { choice, count, list, number, size, value } from "./args.js";
import { counted } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, type Source, skipOption, sourceOptions } from "./source.js";
import { tableOf, tableOptions } from "./table-options.js";
import { verb } from "./verb.js";

const PARTS = ["ids", "attributes", "groups", "levels"] as const;

export const diff = verb({
  about:
    "Objects are matched by their ids, points by where they are. Vertices of graphs and meshes may be in another order, paths may not. " +
    "Coordinates are compared in units of A, attributes by what they mean: 1 is 1 in every type. What is said of a table is said " +
    "of A or B, whichever is one. Exit code 0 where both hold the same, 1 where they differ.",
  options: {
    ...sourceOptions,
    ...tableOptions,
    ...skipOption,
    tolerance: value("SIZE", "how far coordinates may be apart along an axis (default 0: not at all)", number),
    level: value("N", "compare only this level (default: all)", count),
    ignore: list("PART,…", `do not compare these: ${PARTS.join(", ")}`, (name) => choice(PARTS, "").parse(name)),
    places: value("N", "places that are told of each kind of difference (default 5)", count),
    "max-memory": value("SIZE", "how much may be held while points are sorted (default 256M)", size),
    progress: progressOption,
  },
  examples: [
    ["octavo diff tracts.trk tracts.zv", "is everything there?"],
    ["octavo diff a.zv b.zv --tolerance 0.001", "coordinates may be a thousandth apart"],
    ["octavo diff synapses.csv syn.zv --position px,py,pz", "a table, whose columns have other names"],
  ],
  async run([a, b], given, session) {
    const { output, signal, report: progress } = session;
    const [first, second] = [await findSource(a!, given, session, RELATED), await findSource(b!, given, session, RELATED)];
    const table = tableOf(given);
    const hasTable = [first, second].some(({ match }) => isTable(match.format));
    if (!hasTable) refuseTable(table, first.match.format, a!);
    const open = async (source: Source) =>
      (table !== undefined && isTable(source.match.format) ? await source.again({ table }) : source.match).open();
    const { tolerance, level, ignore, places, "max-memory": maxMemory } = given;
    const options = { tolerance, level, ignore, places, maxMemory, signal, onProgress: progress.update };
    const report = await diffDatasets(await open(first), await open(second), options);
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
