/** What a target does not keep: told in every report, and an error where nothing may be lost. */
import { Unsupported } from "../errors.js";
import type { VectorDataset } from "../model/vectors.js";

export interface Strictness {
  /** Nothing may be lost: the first loss is an error, and nothing is left of the target. */
  readonly strict?: boolean | undefined;
}

/** Levels beyond the finest that have something of their own. */
export const coarserLevels = ({ levels }: Pick<VectorDataset, "levels">): number =>
  levels.slice(1).filter(({ sample }) => sample !== true).length;

/** A report with what was damaged and left out, which is a loss. */
export const withSkipped = <R extends { readonly losses: string[] }>(report: R, skipped: readonly string[]) => ({
  ...report,
  losses: [...report.losses, ...(skipped.length > 0 ? [`what is damaged: ${skipped.length} skipped`] : [])],
  skipped: [...skipped],
});

export function refuseLosses({ strict }: Strictness, losses: readonly string[]): void {
  if (strict !== true || losses.length === 0) return;
  const more = losses.length > 1 ? ` (and ${losses.length - 1} more)` : "";
  throw new Unsupported(`this would be lost, and nothing may be: ${losses[0]}${more}`, {
    hint: "Without strict (--strict) the rest is written, and the report says what was lost.",
  });
}

/** Losses of several parts of one dataset: what is the same in all but its numbers is told once, with how many parts it is of. */
export class LossesOfParts {
  readonly #found = new Map<string, { readonly first: string; parts: number; same: boolean }>();

  /** Those of one part. */
  add(losses: readonly string[]): void {
    const patterns = losses.map((loss) => loss.replace(/(?<!\S)-?\d[\d.,e+-]*(?!\S)/g, "#"));
    for (const [i, loss] of losses.entries()) {
      const isOnly = patterns.indexOf(patterns[i]!) === patterns.lastIndexOf(patterns[i]!);
      const key = isOnly ? patterns[i]! : loss; // two of a kind are two things
      const known = this.#found.get(key);
      if (known === undefined) this.#found.set(key, { first: loss, parts: 1, same: true });
      else {
        known.parts++;
        known.same &&= known.first === loss;
      }
    }
  }

  sentences(): string[] {
    return [...this.#found.values()].map(({ first, parts, same }) => {
      if (parts === 1) return first;
      return same
        ? `${first} (in ${parts} parts)`
        : `${first} (and the like in ${parts - 1} more ${parts === 2 ? "part" : "parts"})`;
    });
  }
}
