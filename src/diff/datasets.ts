/** Two datasets of any kind. */
import { InvalidInput } from "../errors.js";
import type { Dataset, GroupDataset, ReadOptions } from "../model/dataset.js";
import { diffArrays } from "./arrays.js";
import type { DiffOptions } from "./index.js";
import { type DiffReport, Findings } from "./report.js";
import { diffVectors } from "./vectors.js";

/** Compares two datasets. */
export async function diffDatasets(a: Dataset, b: Dataset, options: DiffOptions = {}): Promise<DiffReport> {
  const { tolerance = 0, level, ignore = [], places = 5, maxMemory = 256 << 20 } = options;
  if (!(tolerance >= 0)) throw new InvalidInput(`the tolerance should be 0 or more, found ${tolerance}`);
  const findings = new Findings(places);
  const { signal, limits, onProgress } = options;
  const reading = { signal, limits, onProgress };
  if (a.kind === "vectors" && b.kind === "vectors")
    await diffVectors(a, b, findings, { ...reading, tolerance, level, ignore: new Set(ignore), maxMemory });
  else if (a.kind === "array" && b.kind === "array") await diffArrays(a, b, findings, { ...reading, tolerance });
  else if (a.kind === "group" && b.kind === "group") await diffGroups(a, b, "", findings, { ...reading, tolerance });
  else findings.tell("geometry", a.url, () => `${words(a)} in the first, ${words(b)} in the second`);
  return findings.report();
}

const words = ({ kind }: Dataset): string =>
  kind === "vectors" ? "geometry" : `${kind === "array" ? "an" : "a"} ${kind}`;

/** Groups node by node, by name. */
async function diffGroups(
  a: GroupDataset,
  b: GroupDataset,
  path: string,
  findings: Findings,
  options: ReadOptions & { readonly tolerance: number },
): Promise<void> {
  const [own, its] = await Promise.all([a.children(options), b.children(options)]);
  const other = new Map(its?.map(({ name, kind }) => [name, kind]));
  for (const { name, kind } of own ?? []) {
    const where = `${path}${name}`;
    const second = other.get(name);
    other.delete(name);
    if (second === kind) {
      const [one, two] = await Promise.all([a.open(name, options), b.open(name, options)]);
      if (one.kind === "array" && two.kind === "array") await diffArrays(one, two, findings, options);
      else if (one.kind === "group" && two.kind === "group") await diffGroups(one, two, `${where}/`, findings, options);
    } else findings.tell("shape", where, () => `a ${kind} in the first, ${second ?? "nothing"} in the second`);
  }
  for (const [name, kind] of other)
    findings.tell("shape", `${path}${name}`, () => `nothing in the first, a ${kind} in the second`);
}
