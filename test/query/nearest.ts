/** The k nearest things of an answer, each measured to everything that it consists of. */
import { distance2ToSegment, distance2ToTriangle } from "../../src/query/nearest.js";
import { type Answer, counts, type Found, type Item, isPath } from "./found.js";
import type { PlainLevel } from "./plain.js";

/** The k nearest items. */
export function nearestOf(
  level: PlainLevel,
  items: readonly Item[],
  links: Answer["links"],
  clips: boolean,
  nearest: readonly number[],
): Item[] {
  const { dims } = level;
  const point = nearest.slice(0, dims);
  const flat = level.geometry === "points" ? items.flatMap(single) : items;
  const counted = (found: Found): boolean => clips || found.thing.satisfies[found.at[0]]!;
  const distance = (...ends: Found[]): number => {
    const at = Float64Array.from(ends.flatMap(({ position }) => position));
    if (ends.length < 3) return distance2ToSegment(point, at, dims, 0, ends.length - 1);
    let best = Number.POSITIVE_INFINITY;
    for (let k = 1; k + 1 < ends.length; k++) best = Math.min(best, distance2ToTriangle(point, at, dims, 0, k, k + 1));
    return best;
  };
  const ranked = flat.map((item, i) => {
    let best = Number.POSITIVE_INFINITY;
    const own = new Set(item.parts.flat());
    for (const part of item.parts) {
      for (const [k, found] of part.entries()) {
        if (!counted(found)) continue;
        best = Math.min(best, distance(found));
        if (isPath(level) && k > 0 && counted(part[k - 1]!)) best = Math.min(best, distance(part[k - 1]!, found));
      }
    }
    for (const { ends, link } of links) {
      if (!ends.some((end) => own.has(end))) continue;
      const { thing } = ends[0]!;
      const number = thing.links.findIndex((one) => one.link === link && (link >= 0 || one.ends[0] === ends[0]!.at[0]));
      if (!clips && !counts(thing, thing.links[number]!.ends, number)) continue;
      best = Math.min(best, distance(...ends));
    }
    return { item, best, i };
  });
  const best = ranked
    .filter(({ best }) => best < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.best - b.best || a.i - b.i)
    .slice(0, nearest[dims]!)
    .map(({ item }) => item);
  return level.geometry === "points" ? regrouped(best) : best;
}

/** Points of one object are one item again. */
function regrouped(items: readonly Item[]): Item[] {
  const rows = new Set(items.map(({ row }) => row).filter((row) => row >= 0));
  const ofRow = (row: number): Item => {
    const own = items.filter((item) => item.row === row).sort((a, b) => a.order - b.order);
    return { row, parts: [own.flatMap(({ parts }) => parts.flat())], order: 0 };
  };
  return [...Array.from(rows, ofRow), ...items.filter(({ row }) => row < 0)];
}

const single = (item: Item): Item[] =>
  item.parts.flat().map((found, i) => ({ row: item.row, parts: [[found]], order: item.order + i / 1e6 }));
