/** What a target does not keep: told in every report, and an error where nothing may be lost. */
import { Unsupported } from "../errors.js";

export interface Strictness {
  /** Nothing may be lost: the first loss is an error, and nothing is left of the target. */
  readonly strict?: boolean | undefined;
}

export function refuseLosses({ strict }: Strictness, losses: readonly string[]): void {
  if (strict !== true || losses.length === 0) return;
  const more = losses.length > 1 ? ` (and ${losses.length - 1} more)` : "";
  throw new Unsupported(`this would be lost, and nothing may be: ${losses[0]}${more}`, {
    hint: "Without strict the rest is written, and the report says what was lost.",
  });
}
