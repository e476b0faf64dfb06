/**
 * What a format's table of rules is made of: each rule of `validate` has the level from which on it is checked, how bad it is,
 * and what it says. The documentation of a format has its table; a test compares them.
 */
import { OctavoError } from "../errors.js";
import { isNotGiven } from "../store/failure.js";
import type { Finding, Severity } from "./format.js";

export interface Rule {
  readonly level: 1 | 2 | 3 | 4 | 5;
  readonly severity: Severity;
  readonly says: string;
}

export const rule = (level: Rule["level"], severity: Severity, says: string): Rule => ({ level, severity, says });

/** What went wrong as a finding of one rule, or of "unavailable"; errors that are not Octavo's pass through. */
export const failureWith =
  <Id extends string>(finding: (id: Id | "unavailable", where: string, message: string) => Finding) =>
  (id: Id, where: string, error: unknown): Finding => {
    if (!(error instanceof OctavoError)) throw error;
    if (isNotGiven(error)) return { ...finding("unavailable", error.where ?? where, error.message), unchecked: true };
    return finding(id, where, error.message);
  };
