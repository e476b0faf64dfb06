/** `octavo tree`: octrees over particles, built, asked and verified. */
import { InvalidInput } from "../errors.js";
import { validateTree } from "../format/packed-tree/index.js";
import type { Finding } from "../model/format.js";
import { count, flag, number, numbers, size, text, type Values, value } from "./args.js";
import { counted } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, skipOption, sourceOptions } from "./source.js";
import { build } from "./tree-build.js";
import { boxOf, placeAt } from "./tree-place.js";
import { query } from "./tree-query.js";
import { type ExitCode, type Session, verb } from "./verb.js";

const { json, type, "forbidden-is-missing": forbiddenIsMissing } = sourceOptions;

const options = {
  json,
  type,
  "forbidden-is-missing": forbiddenIsMissing,
  box: value("X,Y,Z,X,Y,Z", "build: the tree's box; query: what is in this one. Lower corner, upper corner", numbers),
  sphere: value("X,Y,Z,R", "query: what is in this ball: centre, radius", numbers),
  nearest: value("X,Y,Z,K", "query: the K particles nearest to a place", numbers),
  within: value("D", "query --nearest: no farther than this", number),
  periodic: value("X,Y,Z", "query: the lengths after which space repeats", numbers),
  positions: text("FILE", "of a packed tree alone: the .npy file of its particles, in its order"),
  tree: flag("query: numbers in the order of the tree, instead of those before"),
  slices: flag("query: ranges of the tree's order: start, stop, and 1 where it is inside in part"),
  limit: value("N", "query: at most so many", count),
  count: flag("query: how many, and nothing else"),
  threshold: value("N", "build: nodes of more particles are divided (default 400)", count),
  "max-memory": value("SIZE", "build: how much may be held at once; without it, all particles are", size),
  "skip-bad": { ...skipOption["skip-bad"], help: `build: ${skipOption["skip-bad"].help}` },
  overwrite: flag("build: replace what is there"),
  progress: progressOption,
};
export type TreeOptions = Values<typeof options>;

export const tree = verb({
  about:
    "ACTION is build, query or verify. build FROM… TO makes a .ptree file, or with another ending the bytes of a packed tree, from .npy, " +
    "arrays of n × 3 or one for each axis in a group, snapshots, tables, or any dataset of points, one after the other where there are " +
    "several; from a packed tree and its --positions. query asks a .ptree file and reads what it must; --slices also packed trees alone. " +
    "Exit code 1 where verify finds errors.",
  options,
  words: ["build", "query", "verify"],
  examples: [
    ["octavo tree build *.npy gas.ptree --max-memory 512M", "a file with tree and particles"],
    ["octavo tree query gas.ptree --sphere 0.5,0.5,0.5,0.1 --count", "how many are in a ball"],
    ["octavo tree verify packed.bin", "every node of a packed tree"],
  ],
  async run([action = "", ...rest], options, session) {
    if (action !== "build" && action !== "query" && action !== "verify")
      throw new InvalidInput(`expected build, query or verify, found ${JSON.stringify(action)}`);
    refuseOthers(action, options);
    if (action === "build" ? rest.length < 2 : rest.length !== 1)
      throw new InvalidInput(
        action === "build" ? "octavo tree build needs FROM and TO" : `octavo tree ${action} takes one URL`,
      );
    if (action === "build") return build(rest.slice(0, -1), rest.at(-1)!, options, session);
    const url = rest[0]!;
    if (action === "verify") return verify(url, options, session);
    return query(await placeAt(url, options, session), options, session);
  },
});

/** Options that only one of the actions has. */
const OWN = {
  build: ["threshold", "max-memory", "skip-bad", "overwrite"],
  query: ["sphere", "nearest", "within", "periodic", "tree", "slices", "limit", "count"],
} as const;

/** What would do nothing is a mistake of the call. */
function refuseOthers(action: string, options: TreeOptions): void {
  for (const [owner, names] of Object.entries(OWN))
    for (const name of names)
      if (owner !== action && options[name] !== undefined && options[name] !== false)
        throw new InvalidInput(`--${name} is an option of octavo tree ${owner}, and this is ${action}`);
  if (action === "verify" && options.positions !== undefined)
    throw new InvalidInput("--positions is an option of octavo tree build and query, and this is verify");
}

async function verify(url: string, options: TreeOptions, session: Session): Promise<ExitCode> {
  const { output, signal, report } = session;
  const findings: Finding[] = [];
  const place = await placeAt(url, options, session);
  const { store, file } = place;
  if (file !== undefined && (place.kind === "tree" || (place.kind === "other" && options.box !== undefined)))
    findings.push(...validateTree((await store.get(file, { signal }))!, { where: url, box: boxOf(options) }));
  else {
    const source = await findSource(url, { ...options, as: undefined }, session);
    const how = { file: source.file, signal, onProgress: report.update };
    for await (const one of source.format.validate(source.store, source.at, how)) findings.push(one);
  }
  report.end();
  const errors = findings.filter(({ severity }) => severity === "error").length;
  if (output.json) output.document({ url, valid: errors === 0, findings });
  else {
    for (const { severity, where, message, rule } of findings)
      output.line(`${severity.padEnd(7)}  ${where}: ${message}  ${output.dim(rule)}`);
    output.line(errors === 0 ? output.green("valid") : `${output.red("invalid")}: ${counted(errors, "error")}`);
  }
  return errors === 0 ? 0 : 1;
}
