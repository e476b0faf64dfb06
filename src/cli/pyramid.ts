/** `octavo pyramid`: the coarser levels of a store, built or built again. */
import { InvalidInput } from "../errors.js";
import type { ZarrVectors } from "../format/zarr-vectors/index.js";
import { buildPyramid, type PyramidLevel } from "../pyramid/build.js";
import { type Choice, type PyramidOptions, planLevels } from "../pyramid/plan.js";
import { createPool } from "../worker/pool.js";
import { choice, count, flag, number, size, type Values, value } from "./args.js";
import { countText, table } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, sourceOptions } from "./source.js";
import { verb } from "./verb.js";

const CHOICES = ["even", "length", "coverage", "group"] as const;

/** What a pyramid shall be; `convert` has the same. */
export const pyramidOptions = {
  factor: value("N", "how much coarser each level is than the one before (default 2)", number),
  error: value("SIZE", "how far vertices of level 1 may be from what stays; of points, the side of its bins", number),
  keep: value("SHARE", "the share of objects that each level keeps (default 1; of streamlines 0.5)", number),
  by: value(
    "WHICH",
    `which objects stay on coarser levels: ${CHOICES.join(", ")} or weight:NAME, an attribute (default even)`,
    byWhat,
  ),
  "thinned-attributes": choice(
    ["pick", "mean"],
    "of points on coarser levels: of the one that stays (default), or the mean of all that it is for",
  ),
  "cross-links": flag("links from every vertex to the one that stands for it on the next level, and back"),
};

/** What these options say, by the names of the library. */
export const pyramidGiven = (given: Values<typeof pyramidOptions>): PyramidOptions => ({
  factor: given.factor,
  error: given.error,
  keep: given.keep,
  by: given.by,
  attributes: given["thinned-attributes"],
  crossLinks: given["cross-links"],
});

function byWhat(given: string): Choice {
  if (given.startsWith("weight:")) return { weight: given.slice(7) };
  return choice(CHOICES, "").parse(given);
}

export const pyramid = verb({
  about:
    "Points are thinned evenly by bins, paths and the branches of skeletons and graphs lose vertices that are not needed, meshes lose " +
    "faces; no vertex that goes was further from what stays than the level's error. Branch points, ends, groups, ids and " +
    "attributes stay. All levels appear at once, or none.",
  options: {
    json: sourceOptions.json,
    levels: value("N", "how many coarser levels (default: until about 65,000 vertices are left)", count),
    ...pyramidOptions,
    attributes: choice(["pick", "mean"], "a shorter name for --thinned-attributes"),
    "max-memory": value("SIZE", "how much may be held at once (default 512M)", size),
    progress: progressOption,
    "dry-run": flag("say what the levels would be, and write nothing"),
  },
  examples: [
    ["octavo pyramid tracts.zv", "as many levels as it takes to see everything at once"],
    ["octavo pyramid tracts.zv --levels 3 --error 0.1 --by length", "0.1, 0.2, 0.4; the longest half stays"],
    ["octavo pyramid cells.zv --dry-run", "what would be built"],
  ],
  async run([url], given, session) {
    const { output, signal, report: progress } = session;
    const place = await findSource(url!, { ...given, as: undefined, "forbidden-is-missing": false }, session);
    if (place.format.id !== "zarr-vectors")
      throw new InvalidInput(`${url} is a ${place.match.summary}, and levels are built in Zarr Vectors stores`, {
        where: url!,
        hint: "Convert it first: octavo convert.",
      });
    const { levels, attributes, "thinned-attributes": thinned = attributes, "max-memory": maxMemory } = given;
    if (attributes !== undefined && attributes !== thinned)
      throw new InvalidInput("--attributes and --thinned-attributes are the same, and differ: give one of them");
    const options = {
      ...pyramidGiven({ ...given, "thinned-attributes": thinned }),
      levels,
      maxMemory,
      signal,
      onProgress: progress.update,
      pool: createPool(),
    };
    if (given["dry-run"]) {
      const plans = await planLevels((await place.match.open()) as ZarrVectors, options);
      if (output.json) output.document({ dryRun: true, levels: plans });
      else {
        for (const [i, plan] of plans.entries())
          output.line(`level ${i + 1}: error ${short(plan.error)}, ${short(100 * plan.share)} % of the objects`);
        output.line("nothing was written");
      }
      return 0;
    }
    const report = await buildPyramid(place.store, place.at, options);
    progress.end();
    if (output.json) output.document(report);
    else for (const line of levelsTable(report.levels)) output.line(line);
    return 0;
  },
});

/** What came of each level, for people. */
export function levelsTable(levels: readonly PyramidLevel[]): string[] {
  const rows = levels.map(({ level, vertices, objects, allowed, error }) => [
    `${level}`,
    countText(vertices),
    countText(objects),
    short(allowed),
    short(error),
  ]);
  return table([["level", "vertices", "objects", "allowed", "error"], ...rows], [0, 1, 2, 3, 4]);
}

const short = (size: number): string => `${Number(size.toPrecision(3))}`;
