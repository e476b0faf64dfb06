/** What the documents of a store say of each other, before anything but documents is read. */
import type { Finding } from "../../../model/format.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import { CAPABILITIES, isWhole } from "../nodes/parse-root.js";
import { compareVersions, NEWEST } from "../nodes/version.js";
import { geometryOf } from "../read/geometry.js";
import type { LevelMeta, LevelNodes, LinksConvention, RootMeta } from "../types.js";
import { finding } from "./validate-rules.js";

/** Which conventions a kind of geometry can be stored by; the others by any. */
const CONVENTIONS: { readonly [type: string]: readonly LinksConvention[] } = {
  line: ["implicit_sequential"],
  polyline: ["implicit_sequential"],
  streamline: ["implicit_sequential"],
  graph: ["explicit"],
  skeleton: ["implicit_sequential_with_branches", "explicit"],
  mesh: ["explicit"],
};
export function* checkRoot({ root, url }: OpenedStore, depth: number): Generator<Finding> {
  const from092 = compareVersions(root.version, "0.9.2") >= 0;
  if (from092 && root.attributes.ome === undefined)
    yield finding("ome-absent", url, `the root of a store of version ${root.version} should have an ome node`);
  if (depth < 2) return;
  if (compareVersions(root.version, NEWEST) > 0)
    yield finding("version", url, `the store says version ${root.version}, the newest that is known is ${NEWEST}`);
  yield* checkKinds(root, url);
  const unknown = root.capabilities.filter((name) => !CAPABILITIES.includes(name));
  if (unknown.length > 0) yield finding("capabilities", url, `nobody knows the capabilities ${unknown.join(", ")}`);
  yield* checkAxes(root, url);
}

function* checkKinds({ geometryTypes, linksConvention }: RootMeta, url: string): Generator<Finding> {
  if (geometryTypes.length === 0) yield finding("geometry-types", url, "the root names no kind of geometry");
  for (const type of geometryTypes) {
    if (geometryOf(type) === undefined) yield finding("geometry-types", url, `the root names the unknown kind ${type}`);
    const right = CONVENTIONS[type];
    // A composite store has one convention for several kinds.
    if (geometryTypes.length === 1 && right !== undefined && !right.includes(linksConvention))
      yield finding(
        "links-convention",
        url,
        `a ${type} store should have the links convention ${right.join(" or ")}, found ${linksConvention}`,
      );
  }
}

const ORDER = ["time", "channel"];

function* checkAxes({ axes }: RootMeta, url: string): Generator<Finding> {
  if (new Set(axes.map(({ name }) => name)).size < axes.length)
    yield finding("axes", url, `axes should have different names, found ${axes.map(({ name }) => name).join(", ")}`);
  const rank = (type: string): number =>
    type === "space" ? ORDER.length + 1 : ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length;
  const wrong = axes.findIndex(({ type }, i) => i > 0 && rank(type) < rank(axes[i - 1]!.type));
  if (wrong >= 0)
    yield finding(
      "axes",
      url,
      `axes should be in the order time, channel, others, space, found ${axes.map(({ type }) => type).join(", ")}`,
    );
}

/** The document of a level against the root's, and against what lies below it. */
export function* checkLevelDocument(
  { root, url, levels }: OpenedStore,
  meta: LevelMeta,
  { dialect }: LevelNodes,
): Generator<Finding> {
  const where = `${url}/${meta.path}`;
  const old = dialect.container !== "cells";
  if (old !== compareVersions(root.version, "0.9.0") < 0 && compareVersions(root.version, NEWEST) <= 0)
    yield finding(
      "version",
      where,
      `the store says version ${root.version}, but the level is laid out as those ${old ? "before 0.9" : "from 0.9 on"}`,
    );
  const own = meta.attributes.zarr_vectors_level as { readonly level?: unknown } | undefined;
  if (own?.level !== meta.level)
    yield finding(
      "level-metadata",
      where,
      `the document of level ${meta.level} says that it is level ${String(own?.level)}`,
    );
  const { parentLevel: parent } = meta;
  if (
    meta.level === 0 ? parent !== undefined : parent === undefined || parent >= meta.level || !levels.includes(parent)
  )
    yield finding(
      "level-metadata",
      where,
      `level ${meta.level} has ${parent === undefined ? "no parent" : `level ${parent} as its parent`}, which is ${meta.level === 0 ? "the finest itself" : "no finer level that is there"}`,
    );
  const { chunkShape, binShape } = meta;
  const fills = chunkShape.every((size, axis) => binShape[axis]! > size || isWhole(size / binShape[axis]!));
  if (!fills)
    yield finding(
      "bins",
      where,
      `bins of [${binShape}] do not fill the chunks of [${chunkShape}] of level ${meta.level}`,
    );
  const shares = ["shared_fragments", "shared_vertex_groups"].some((name) => root.capabilities.includes(name));
  if (meta.sharedFragments && !shares && meta.level === 0)
    yield finding("capabilities", where, "the level shares fragments, which the root does not say");
}
