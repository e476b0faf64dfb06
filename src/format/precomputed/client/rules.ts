/**
 * What can keep Neuroglancer, a web page, from showing data: how they are served, and what they are. docs/formats/neuroglancer.md
 * has this table; a test compares them.
 */
import type { Finding } from "../../../model/format.js";
import { type Rule, rule } from "../../../model/rules.js";

export const clientRules = {
  "not-served": rule(1, "info", "the data are on no web server, so that how they are served was not looked at"),
  reached: rule(1, "error", "the server does not answer, or not with what was asked for"),
  redirect: rule(1, "warning", "the server sends readers elsewhere, once for every request"),
  region: rule(1, "error", "the bucket is in another region than the address says"),
  https: rule(1, "warning", "an address of http, which a page of https may not read"),
  cors: rule(1, "error", "the server does not let pages of other origins read (Access-Control-Allow-Origin)"),
  preflight: rule(1, "warning", "the server refuses to be asked for ranges first, as some browsers do (OPTIONS)"),
  expose: rule(1, "warning", "pages do not see the headers by which they check ranges (Access-Control-Expose-Headers)"),
  range: rule(1, "error", "the server does not give the range of bytes that it is asked for"),
  encoding: rule(1, "error", "the server compresses what is asked for by ranges (Content-Encoding)"),
  missing: rule(1, "error", "the server does not say 404 or 403 of what is not there"),
  format: rule(1, "error", "Neuroglancer does not read this format"),
  attribute: rule(2, "error", "a vertex attribute that no shader can have, by its name or its numbers"),
  "id-zero": rule(2, "warning", "something has the id 0, which Neuroglancer does not show"),
  linked: rule(3, "error", "an info names something that is not there, or something else"),
  codec: rule(2, "error", "an encoding of volumes that Neuroglancer does not know"),
} as const satisfies { readonly [id: string]: Rule };

export type ClientRule = keyof typeof clientRules;

export function clientFinding(id: ClientRule, where: string, message: string, fix?: string): Finding {
  const { severity } = clientRules[id];
  return { severity, rule: `neuroglancer/${id}`, where, message, ...(fix !== undefined && { fix }) };
}
