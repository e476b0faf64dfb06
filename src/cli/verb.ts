/** What a verb is: one file declares one, and one line of verbs.ts makes it known. */
import { flag, type Options, type Values } from "./args.js";
import type { Output } from "./output.js";
import type { Report } from "./progress.js";

/** 0 done, valid, equal · 1 invalid, different, not there · 2 the call is wrong · 3 unreadable · 4 interrupted */
export type ExitCode = 0 | 1 | 2 | 3 | 4;

/** What a running verb has beside its arguments. */
export interface Session {
  readonly output: Output;
  /** Aborted by Ctrl-C; every call that waits gets it. */
  readonly signal: AbortSignal;
  readonly report: Report;
}

export interface Verb<T extends Options = Options> {
  /** A paragraph, where the line in verbs.ts is not enough. */
  readonly about?: string;
  readonly options: T;
  /** The only words that can be its operand, for completion. */
  readonly words?: readonly string[];
  /** Three of them: what to type, and what that does. */
  readonly examples: readonly (readonly [command: string, does: string])[];
  run(operands: readonly string[], options: Values<T & typeof common>, session: Session): Promise<ExitCode>;
}

/** What every verb understands. */
export const common = {
  quiet: flag("no progress, no remarks", "q"),
  verbose: flag("explain; show stack traces", "v"),
  "no-color": flag("no colours, as with NO_COLOR"),
  help: flag("this text", "h"),
};

/** Checks a declaration against the exact type of its table, then forgets that type, for the list of verbs. */
export function verb<const T extends Options>(declared: Verb<T>): Verb {
  return declared as unknown as Verb;
}
