/**
 * Fragments of a level cut anew, with what follows from it. A path or a skeleton says by the order of vertices in a fragment how
 * they go on; where a fragment falls into pieces that has to be said by links, and where pieces come together the links between
 * them may say it no more.
 */
import { geometryOf } from "../read/geometry.js";
import { attributeInfo } from "../read/schema.js";
import { takeColumn } from "./edit-columns.js";
import type { At, CutPlan, Place } from "./edit-cut.js";
import { linkAttributes, linkDescription, linksWithin } from "./edit-families.js";
import type { LevelEdit } from "./edit-level.js";
import { putLinks } from "./edit-put.js";
import { linksOf } from "./edit-relink.js";

/** Vertices that followed each other in a fragment, where they are now, and where the second one was. */
export interface Step {
  readonly before: At;
  readonly after: At;
  readonly was: At;
}

/** What the order of vertices in a fragment says. */
export interface Sequence {
  /** Vertices follow each other along a path, are children of those before them, or just lie beside each other. */
  readonly kind: "path" | "tree" | "set";
  readonly follows: CutPlan["follows"];
  /** A link that says nothing more: both of its ends follow each other in one fragment. */
  says(ends: readonly (Place | undefined)[]): boolean;
  /** Links in the place of steps within fragments that there are no more. */
  putSteps(steps: readonly Step[]): Promise<void>;
}

const key = ({ chunk, entry }: At): string => `${chunk}:${entry}`;

export async function sequenceOf(level: LevelEdit): Promise<Sequence> {
  const { tree, meta, rank } = level;
  const geometry = geometryOf(tree.opened.root.geometryTypes[0]);
  const path = geometry === "lines" || geometry === "polylines" || geometry === "streamlines";
  const names = await linkAttributes(tree, meta.path);
  const branches = geometry === "skeletons" && tree.opened.root.linksConvention !== "explicit";
  const parents = branches ? await parentsOf(level) : new Map<string, string[]>();

  return {
    kind: path ? "path" : branches ? "tree" : "set",
    follows: path ? () => true : branches ? (before, after) => `${parents.get(key(after))}` === key(before) : undefined,
    says: ([a, b]) => path && names.length === 0 && a !== undefined && a.fragment === b?.fragment,
    async putSteps(steps) {
      const told = steps.filter(({ was }) => !parents.has(key(was)));
      if (told.length === 0 || !(path || branches)) return;
      const ends = told.flatMap(({ before, after }) => (path ? [before, after] : [after, before])); // child, then parent
      const columns = new Map<string, Uint8Array>();
      for (const name of names) {
        const info = attributeInfo(name, (await linkDescription(tree, meta.path, name))!, `link_attributes/${name}`);
        columns.set(name, takeColumn({ info }, undefined, told.length, "link"));
      }
      await putLinks(level, 2, ends, columns);
    },
  };

  /** The parents that links give to vertices. */
  async function parentsOf({ tree, meta }: LevelEdit): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>();
    if ((await tree.group(`${meta.path}/links/0`)) === undefined) return found;
    const family = await linksWithin(tree, meta, 2, rank);
    for await (const { count, given } of linksOf(tree, family))
      for (let link = 0; link < count; link++) {
        const [child, parent] = given(link).map(key) as [string, string];
        found.set(child, [...(found.get(child) ?? []), parent]);
      }
    return found;
  }
}

/** A row of each fragment attribute, for fragments that come from none; only bins do, and they have no attributes but owners. */
export const noRows = ({ chunks, ownersAt }: LevelEdit): Uint8Array[] =>
  chunks.fragmentAttributes.map(({ width }, i) => new Uint8Array(width).fill(i === ownersAt ? 0xff : 0));
