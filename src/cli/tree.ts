/** `octavo tree`: octrees over particles, built, asked and verified. */
import { InvalidInput, NotFound, Unsupported } from "../errors.js";
import { isMagic, MAGIC } from "../format/packed-tree/file/magic.js";
import {
  countIn,
  nearestParticles,
  openParticleFile,
  type PackedTree,
  packedTree,
  parseTree,
  particlesIn,
  slicesIn,
  type TreeRegion,
  type Triple,
  validateTree,
} from "../format/packed-tree/index.js";
import type { Finding } from "../model/format.js";
import { type Key, Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import { count, flag, number, numbers, size, type Values, value } from "./args.js";
import { counted } from "./output.js";
import { progressOption } from "./progress.js";
import { findPlace, sourceOptions } from "./source.js";
import { build } from "./tree-build.js";
import { type ExitCode, type Session, verb } from "./verb.js";

const { json, "forbidden-is-missing": forbiddenIsMissing } = sourceOptions;

const options = {
  json,
  "forbidden-is-missing": forbiddenIsMissing,
  box: value("X,Y,Z,X,Y,Z", "build: the tree's box; query: what is in this one. Lower corner, upper corner", numbers),
  sphere: value("X,Y,Z,R", "query: what is in this ball: centre, radius", numbers),
  nearest: value("X,Y,Z,K", "query: the K particles nearest to a place", numbers),
  within: value("D", "query --nearest: no farther than this", number),
  periodic: value("X,Y,Z", "query: the lengths after which space repeats", numbers),
  tree: flag("query: numbers in the order of the tree, instead of those before"),
  slices: flag("query: ranges of the tree's order: start, stop, and 1 where it is inside in part"),
  count: flag("query: how many, and nothing else"),
  threshold: value("N", "build: nodes of more particles are divided (default 400)", count),
  "max-memory": value("SIZE", "build: how much may be held at once; without it, all particles are", size),
  overwrite: flag("build: replace what is there"),
  progress: progressOption,
};
export type TreeOptions = Values<typeof options>;

export const tree = verb({
  about:
    "ACTION is build, query or verify. build FROM… TO makes a .ptree file, or with another ending the bytes of a packed tree, from .npy, an " +
    "array of n × 3, or any dataset of points, one after the other where there are several. query asks a .ptree file; --slices also packed trees alone. Exit code 1 where verify finds errors.",
  options,
  words: ["build", "query", "verify"],
  examples: [
    ["octavo tree build *.npy gas.ptree --max-memory 512M", "a file with tree and particles"],
    ["octavo tree query gas.ptree --sphere 0.5,0.5,0.5,0.1 --count", "how many are in a ball"],
    ["octavo tree verify packed.bin", "every node of a packed tree"],
  ],
  async run([action = "", ...rest], options, session) {
    if (action === "build" ? rest.length < 2 : rest.length !== 1)
      throw new InvalidInput(
        action === "build" ? "octavo tree build needs FROM and TO" : `octavo tree ${action} takes one URL`,
      );
    if (action === "build") return build(rest.slice(0, -1), rest.at(-1)!, options, session);
    const url = rest[0]!;
    if (action !== "query" && action !== "verify")
      throw new InvalidInput(`expected build, query or verify, found ${JSON.stringify(action)}`);
    const { store, file } = await findPlace(url, { ...options, as: undefined }, session);
    if (file === undefined) throw new NotFound(`${url} is not there, or no file`, { where: url });
    const place = { store, file, url, isFile: await beginsAsFile(store, file, url, session) };
    return action === "query" ? query(place, options, session) : verify(place, session);
  },
});

interface Place {
  readonly store: Store;
  readonly file: Key;
  readonly url: string;
  /** A .ptree file; else the bytes of a packed tree. */
  readonly isFile: boolean;
}

async function beginsAsFile(store: Store, file: Key, url: string, { signal }: Session): Promise<boolean> {
  const stat = await store.stat(file, { signal });
  if (stat === undefined) throw new NotFound(`${url} is not there`, { where: url });
  if (stat.size < MAGIC.length) return false;
  return isMagic((await store.get(file, { signal, range: { offset: 0, length: MAGIC.length } }))!, 0);
}

async function treeAt({ store, file, url, isFile }: Place, { signal }: Session): Promise<PackedTree> {
  if (isFile) return (await openParticleFile(store, file, { signal })).tree({ signal });
  return parseTree((await store.get(file, { signal }))!, { where: url });
}

async function query(place: Place, options: TreeOptions, session: Session): Promise<ExitCode> {
  const { output, signal } = session;
  const { box, sphere, nearest, within, periodic } = options;
  if ([box, sphere, nearest].filter((one) => one !== undefined).length !== 1)
    throw new InvalidInput("which particles? Say it with one of --box, --sphere and --nearest");
  const region = (box === undefined ? { sphere } : { box }) as TreeRegion;
  if (options.slices) {
    if (nearest !== undefined) throw new InvalidInput("--slices are of a box or a sphere");
    const found = slicesIn(await treeAt(place, session), region);
    const slices = Array.from({ length: found.length / 3 }, (_, i) => [...found.subarray(3 * i, 3 * i + 3)]);
    if (output.json) output.document({ url: place.url, slices });
    else for (const slice of slices) output.line(slice.join(" "));
    return 0;
  }
  if (!place.isFile)
    throw new Unsupported(`${place.url} is a packed tree without its particles, which answers with --slices only`);
  const opened = await openParticleFile(place.store, place.file, { signal });
  const particles = await opened.particles({ signal });
  const asked = {
    numbers: options.tree ? ("tree" as const) : ("original" as const),
    ...(periodic !== undefined && { periodic: periodic as unknown as Triple }),
  };
  if (nearest !== undefined) {
    if (nearest.length !== 4)
      throw new InvalidInput(`--nearest should be a place and a number, found ${nearest.join(",")}`);
    const found = nearestParticles(particles, nearest.slice(0, 3), nearest[3]!, { ...asked, within });
    const list = [...found.numbers].map((number, i) => ({ number, distance: found.distances[i]! }));
    if (output.json)
      output.document({ url: place.url, ...(options.count ? { particles: list.length } : { nearest: list }) });
    else if (options.count) output.line(`${list.length}`);
    else for (const { number, distance } of list) output.line(`${number} ${distance}`);
    return 0;
  }
  if (options.count) {
    const particlesThere = countIn(particles, region, asked);
    if (output.json) output.document({ url: place.url, particles: particlesThere });
    else output.line(`${particlesThere}`);
    return 0;
  }
  const found = particlesIn(particles, region, asked);
  if (output.json) output.document({ url: place.url, particles: found.length, numbers: [...found] });
  else if (found.length > 0) await output.bytes(`${found.join("\n")}\n`);
  return 0;
}

async function verify({ store, file, url, isFile }: Place, session: Session): Promise<ExitCode> {
  const { output, signal, report } = session;
  const findings: Finding[] = [];
  if (isFile)
    for await (const finding of packedTree.validate(store, Prefix.root, { file, signal, onProgress: report.update }))
      findings.push(finding);
  else findings.push(...validateTree((await store.get(file, { signal }))!, { where: url }));
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
