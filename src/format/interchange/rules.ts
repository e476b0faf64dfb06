/** The rules that `validate` checks on files of other software. docs/formats/interchange.md has the same table. */
import type { Finding } from "../../model/format.js";
import { failureWith, type Rule, rule } from "../../model/rules.js";

export const rules = {
  unavailable: rule(1, "error", "the store did not give it: nothing is known about it"),
  opens: rule(1, "error", "the file is not what its name says, or its header is damaged"),
  pieces: rule(3, "error", "the file ends early, or its counts do not agree with what is there"),
  counts: rule(3, "warning", "the file says something else about itself than what is there"),
  decodes: rule(4, "error", "a part of the file cannot be read"),
  finite: rule(5, "error", "coordinates that are NaN or infinite"),
} as const satisfies { readonly [id: string]: Rule };

export type RuleId = keyof typeof rules;

export const finding = (id: RuleId, where: string, message: string): Finding => ({
  severity: rules[id].severity,
  rule: `interchange/${id}`,
  where,
  message,
});

export const failure = failureWith<RuleId>(finding);
