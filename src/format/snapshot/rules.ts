/** The rules that `validate` checks on particles in HDF5. docs/formats/snapshot.md has the same table. */
import type { Finding } from "../../model/format.js";
import { failureWith, type Rule, rule } from "../../model/rules.js";

export const rules = {
  unavailable: rule(1, "error", "the store did not give it: nothing is known about it"),
  opens: rule(1, "error", "the file is damaged, or its header, its datasets and the files beside it do not agree"),
  fields: rule(
    2,
    "warning",
    "a dataset beside the coordinates that is no field of the particles, or cannot be read here",
  ),
  "rows-decode": rule(4, "error", "rows of a field cannot be read"),
  finite: rule(5, "error", "coordinates that are NaN or infinite"),
  "in-box": rule(5, "warning", "coordinates outside of the box that the header tells"),
} as const satisfies { readonly [id: string]: Rule };

export type RuleId = keyof typeof rules;

export const finding = (id: RuleId, where: string, message: string): Finding => ({
  severity: rules[id].severity,
  rule: `snapshot/${id}`,
  where,
  message,
});

export const failure = failureWith<RuleId>(finding);
