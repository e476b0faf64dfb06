/** `octavo shard`: the bare map from uint64 ids to bytes under skeletons, meshes, annotations and volumes. */
import { InvalidInput } from "../errors.js";
import {
  compactValues,
  openValues,
  repairValues,
  type ValueReader,
  verifyValues,
} from "../format/precomputed/index.js";
import type { Finding } from "../model/format.js";
import { choice, flag, id, list, text, type Values, value } from "./args.js";
import { bytesText, counted } from "./output.js";
import { progressOption } from "./progress.js";
import { pack, unpack } from "./shard-files.js";
import { mapAt, type Map as ShardMap } from "./shard-place.js";
import { openSink } from "./sink.js";
import { findPlace, type Place, sourceOptions } from "./source.js";
import { type ExitCode, type Session, verb } from "./verb.js";

const { json, "forbidden-is-missing": forbiddenIsMissing } = sourceOptions;

const options = {
  json,
  "forbidden-is-missing": forbiddenIsMissing,
  key: text("KEY", "which map of an info with several: by_id, a relationship, a scale"),
  sharding: text("JSON", "the sharding, where there is no info; for pack: instead of a chosen one"),
  id: list("ID", "get: the value of this id; several with commas", id),
  range: value("FROM:TO", "ls, unpack: ids from FROM up to, not including, TO", rangeOf),
  count: flag("ls: how many there are, and nothing else"),
  output: text("FILE", "get: where the value goes; standard output unless told", "o"),
  encoding: choice(["raw", "gzip"], "pack: of the values; chosen unless told"),
  level: choice(["1", "2", "3", "4", "5"], "verify: 1 names · 2 indexes · 3 ranges · 4 values (default 5)"),
  repair: flag("verify: write again what holds everything, but not as it should"),
  "drop-unreferenced": flag("compact: leave out bytes that no index names; a mesh would lose its fragments"),
  "dry-run": flag("verify --repair: say what would happen, and write nothing"),
  overwrite: flag("pack, unpack, get: replace what is there"),
  progress: progressOption,
};
export type ShardOptions = Values<typeof options>;

export const shard = verb({
  about:
    "ACTION is ls, get, pack, unpack, verify or compact. pack FROM TO makes shards of a folder of files that are named by their " +
    "ids, and chooses how; unpack FROM TO is the way back. Exit code 1 where an id is not there, or verify finds errors.",
  options,
  words: ["ls", "get", "pack", "unpack", "verify", "compact"],
  examples: [
    ["octavo shard ls https://host/skeletons --range 0:1000000", "ids, without touching values"],
    ["octavo shard get annotations --key by_id --id 42 -o 42.bin", "one value"],
    ["octavo shard pack values/ sharded/", "a folder of files, made into shards"],
  ],
  async run([action = "", url = "", target], options, session) {
    const two = action === "pack" || action === "unpack";
    if (two !== (target !== undefined))
      throw new InvalidInput(two ? `octavo shard ${action} needs FROM and TO` : `octavo shard ${action} takes one URL`);
    if (action === "pack") return pack(url, target!, options, session);
    const run = { ls, get, verify, compact }[action];
    if (run === undefined && action !== "unpack")
      throw new InvalidInput(`expected ls, get, pack, unpack, verify or compact, found ${JSON.stringify(action)}`);
    const place = await findPlace(url, { ...options, as: undefined }, session);
    const map = await mapAt(place, url, options.key, options.sharding, session.signal);
    if (run !== undefined) return run(place, map, url, options, session);
    return unpack(await readerOf(place, map, session), url, target!, options, session);
  },
});

type Action = (place: Place, map: ShardMap, url: string, options: ShardOptions, session: Session) => Promise<ExitCode>;

const readerOf = ({ store }: Place, { at, sharding }: ShardMap, { signal }: Session): Promise<ValueReader> =>
  openValues(store, at, sharding, { signal });

const ls: Action = async (place, map, url, { range, count }, session) => {
  const { output, signal } = session;
  const reader = await readerOf(place, map, session);
  const all: bigint[] = [];
  let values = 0;
  for await (const ids of reader.ids({ range, order: "id", signal })) {
    values += ids.length;
    if (count) continue;
    if (output.json) all.push(...ids);
    else await output.bytes(`${ids.join("\n")}\n`);
  }
  if (output.json) output.document({ url, sharding: map.sharding, values, ...(!count && { ids: all }) });
  else if (count) output.line(`${values}`);
  return 0;
};

const get: Action = async (place, map, url, options, session) => {
  const { output, signal } = session;
  const ids = options.id ?? [];
  if (ids.length === 0) throw new InvalidInput("which value? Say it with --id");
  if (ids.length > 1 && !output.json) throw new InvalidInput("several values are printed with --json, or unpacked");
  const reader = await readerOf(place, map, session);
  const found = await Promise.all(ids.map((id) => reader.get(id, { signal })));
  const missing = ids.filter((_, i) => found[i] === undefined);
  if (missing.length > 0) output.remark(`octavo: ${url} has no ${missing.join(", ")}`);
  if (output.json) {
    const values = ids.map((id, i) => ({ id, base64: found[i] && Buffer.from(found[i]).toString("base64") }));
    output.document({ url, values, missing });
  } else if (found[0] !== undefined) {
    const sink = await openSink(options.output ?? "-", options.overwrite, session);
    await sink.write(found[0]);
    await sink.commit();
  }
  return missing.length > 0 ? 1 : 0;
};

const verify: Action = async ({ store }, { at, sharding }, url, options, session) => {
  const { output, signal, report } = session;
  const level = Number(options.level ?? "5") as 1 | 2 | 3 | 4 | 5;
  const findings: Finding[] = [];
  const dryRun = options["dry-run"];
  const repaired = options.repair ? await repairValues(store, at, sharding, { dryRun, signal }) : undefined;
  if (repaired !== undefined) findings.push(...repaired.left);
  else
    for await (const finding of verifyValues(store, at, sharding, { level, signal, onProgress: report.update }))
      findings.push(finding);
  report.end();
  const errors = findings.filter(({ severity }) => severity === "error").length;
  if (output.json)
    output.document({ url, valid: errors === 0, findings, ...(repaired && { dryRun, fixed: repaired.fixed }) });
  else {
    for (const { where, message } of repaired?.fixed ?? [])
      output.line(`${output.green(dryRun ? "would" : "fixed")}    ${where}: ${message}`);
    for (const { severity, where, message, rule, fix } of findings) {
      const paint = { error: output.red, warning: output.yellow, info: output.dim }[severity];
      output.line(`${paint(severity.padEnd(7))}  ${where}: ${message}  ${output.dim(rule)}`);
      if (fix !== undefined) output.line(`         ${output.dim(`fix: ${fix}`)}`);
    }
    output.line(errors === 0 ? output.green("valid") : `${output.red("invalid")}: ${counted(errors, "error")}`);
  }
  return errors === 0 ? 0 : 1;
};

const compact: Action = async ({ store }, { at, sharding }, url, options, { output, signal }) => {
  const unreferenced = options["drop-unreferenced"] ? "drop" : "keep";
  const done = await compactValues(store, at, sharding, { unreferenced, signal });
  if (output.json) output.document({ url, ...done });
  else
    output.line(
      `${counted(done.values, "value")} in ${counted(done.files, "shard")}: ${bytesText(done.bytes)}, before ${bytesText(done.before)}`,
    );
  return 0;
};

/** "10:20", ":20", "10:" */
function rangeOf(given: string): { readonly from?: bigint; readonly to?: bigint } {
  const [, from, to] = /^(\d{0,20}):(\d{0,20})$/.exec(given) ?? [];
  if (from === undefined || to === undefined)
    throw new InvalidInput(`expected a range of ids such as 10:20, found ${JSON.stringify(given)}`);
  return { ...(from !== "" && { from: BigInt(from) }), ...(to !== "" && { to: BigInt(to) }) };
}
