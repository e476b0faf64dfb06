/** The levels of a pyramid against each other. */
import type { Finding, ValidateOptions } from "../../../model/format.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import { Delta, type LevelLinks, linksBetween } from "../read/link-levels.js";
import type { CheckedLevel } from "./validate-level.js";
import { attempt, failure, finding, isFinding, setting } from "./validate-rules.js";

export async function* checkPyramid(
  opened: OpenedStore,
  checked: readonly CheckedLevel[],
  options: ValidateOptions,
): AsyncGenerator<Finding> {
  const { levels, root, url } = opened;
  const depth = options.level ?? 5;
  const gap = levels.findIndex((level, i) => level !== i);
  if (gap >= 0)
    yield finding("levels", url, `levels should be numbered from 0 without a gap, found ${levels.join(", ")}`);
  if (depth < 2) return;
  const lost = root.levels?.filter((level) => !levels.includes(level)) ?? [];
  const more = root.levels === undefined ? [] : levels.filter((level) => !root.levels!.includes(level));
  if (lost.length > 0)
    yield finding("multiscales", url, `multiscales names level ${lost.join(", ")}, which is not there`);
  if (more.length > 0) yield finding("multiscales", url, `multiscales does not name level ${more.join(", ")}`);
  const byNumber = new Map(checked.map((level) => [level.meta.level, level]));
  for (const level of checked) {
    const parent = byNumber.get(level.meta.parentLevel ?? -1);
    if (parent !== undefined) yield* checkParent(level, parent);
    if (depth >= 5) yield* checkIds(level, parent, byNumber.get(0));
    if (depth >= 4) yield* checkLinksBetween(level, byNumber);
  }
}

function* checkParent(level: CheckedLevel, parent: CheckedLevel): Generator<Finding> {
  const [a, b] = [level.meta, parent.meta];
  const axis = a.binShape.findIndex((size, i) => size < b.binShape[i]!);
  const binned = b.level > 0 || b.binShape.some((size, i) => size !== b.chunkShape[i]); // else its chunks stand for bins
  if (axis >= 0 && binned)
    yield finding(
      "bins-grow",
      level.at(""),
      `level ${a.level} has bins of [${a.binShape}], its parent ${b.level} of [${b.binShape}]`,
    );
  if (level.depth >= 5 && parent.known.every((each) => each === 1) && level.vertexCount > parent.vertexCount)
    yield finding(
      "vertex-count-grows",
      level.at(""),
      `level ${a.level} has ${level.vertexCount} vertices, its parent ${b.level} only ${parent.vertexCount}`,
    );
}

/** A level that keeps ids has those of its parent, row by row; one that was numbered anew names objects of level 0. */
function* checkIds(
  level: CheckedLevel,
  parent: CheckedLevel | undefined,
  finest: CheckedLevel | undefined,
): Generator<Finding> {
  const { meta, ids, at } = level;
  const where = at("object_index");
  if (meta.level === 0 || ids === undefined) return;
  if (meta.preservesObjectIds && parent?.ids !== undefined) {
    const kept = parent.ids;
    const row = ids.findIndex((id, i) => id !== kept[i]);
    if (ids.length !== kept.length)
      yield finding(
        "ids-stable",
        where,
        `the level keeps the ids of level ${parent.meta.level}, which has ${kept.length}, but has ${ids.length}`,
      );
    else if (row >= 0)
      yield finding(
        "ids-stable",
        `${where}, row ${row}`,
        `the level keeps the ids of level ${parent.meta.level}, but has ${ids[row]} for ${kept[row]}`,
      );
  } else if (finest?.ids !== undefined) {
    const there = new Set(finest.ids);
    const lost = ids.find((id) => !there.has(id));
    if (lost !== undefined)
      yield finding("ids-stable", where, `the level has object ${lost}, which level 0 does not have`);
  }
}

/** Links to other levels end at vertices there. */
async function* checkLinksBetween(
  level: CheckedLevel,
  byNumber: ReadonlyMap<number, CheckedLevel>,
): AsyncGenerator<Finding> {
  const { nodes, options, at, opened, meta, depth } = level;
  const families = nodes.dialect.crossLinks === "flat" ? ["links", "cross_chunk_links"] : ["links"];
  const names = new Set<string>();
  for (const family of families) {
    const found = await attempt("array", at(family), () => nodes.children(family, options));
    if (!isFinding(found)) for (const name of found) names.add(name);
  }
  for (const name of names) {
    const delta = Delta.parse(name);
    const other = delta ? byNumber.get(meta.level + delta) : undefined;
    if (!delta || other === undefined) continue;
    let records = 0;
    try {
      for await (const links of linksBetween(opened, meta.level, delta, options)) {
        records += links.vertices.length / links.width;
        if (depth >= 5) yield* checkEnds(level, other, links);
      }
    } catch (error) {
      yield failure("links-decode", at(`links/${name}`), error);
      continue;
    }
    const said = (await nodes.attributes(`links/${name}`, options))?.num_physical_records;
    if (depth >= 5 && typeof said === "number" && said !== records)
      yield finding(
        "link-count",
        at(`links/${name}`),
        `num_physical_records is ${said}, but there are ${records}`,
        setting(`${meta.path}/links/${name}`, "write the number of links", {
          num_links: records,
          num_physical_records: records,
        }),
      );
  }
}

function* checkEnds(
  level: CheckedLevel,
  other: CheckedLevel,
  { path, width, rank, chunks, vertices }: LevelLinks,
): Generator<Finding> {
  let [wrong, first] = [0, ""];
  for (let end = 0; end < vertices.length; end++) {
    const { table, entries, known, meta } = end % width === 0 ? level : other;
    const chunk = table.find(chunks, end * rank);
    if (chunk >= 0 && (known[chunk] === 0 || vertices[end]! < entries[chunk]!)) continue;
    if (wrong++ > 0) continue;
    const place = chunks.subarray(end * rank, (end + 1) * rank).join(".");
    first = `${vertices[end]} of the ${chunk < 0 ? "absent" : entries[chunk]} in chunk ${place} of level ${meta.level}`;
  }
  if (wrong > 0) yield finding("link-ends", level.at(path), `${wrong} ends of links are no vertices: ${first}`);
}
