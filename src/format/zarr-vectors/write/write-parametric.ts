/** The planes, lines and spheres of a new store, outside of all levels; where they lie is said in read/parametric.ts. */
import type { JsonObject } from "../../../bytes/json.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { InvalidInput } from "../../../errors.js";
import { ndarray } from "../../../model/elements.js";
import type { Parametric, ParametricObject } from "../../../model/vectors.js";
import { Blobs } from "../payload/blobs.js";
import { Groups } from "../payload/groups.js";
import type { Plan } from "./description.js";
import type { Arrays07 } from "./write-07-arrays.js";
import type { Arrays } from "./write-arrays.js";
import { groupDocument } from "./write-documents.js";
import { tablesOf, writeGroupBlobs, writeTables } from "./write-index.js";

const WHOLE = 2 ** 31;

/** `arrays` are below `parametric`; in 0.7.0 the second is the same. */
export async function writeParametric(
  plan: Plan,
  { arrays, old }: { readonly arrays: Arrays; readonly old: Arrays07 | undefined },
  { objects, columns, groups }: Parametric,
): Promise<void> {
  const types = typesOf(objects);
  const numbers = new Map(types.map(({ name }, number) => [name, number]));
  const width = 1 + objects.reduce((most, { coefficients }) => Math.max(most, coefficients.length), 0);
  const rows = new Float64Array(objects.length * width);
  for (const [i, { type, coefficients }] of objects.entries())
    rows.set([numbers.get(type)!, ...coefficients], i * width);
  const said = { num_objects: objects.length };
  await arrays.table("objects", ndarray([objects.length, width], rows), 0, WHOLE, {
    zv_array: "parametric_objects",
    ...said,
    max_row_length: width,
    dtype: "float64",
  });
  const names = objects.map(({ name }) => name);
  if (names.some((name) => name !== undefined)) {
    const texts = names.map((name = "") => encodeUtf8(name, "a name of a parametric object"));
    if (old !== undefined) {
      await old.blob("names/data", encodeUtf8(names.join("\0"), "the names of parametric objects"), 1);
      await arrays.document("names", groupDocument({ zv_array: "parametric_names", ...said }));
    } else {
      const blobs = Blobs.of(texts);
      const chunk = (from: number, to: number, size: number) => Blobs.encodeChunk(blobs, from, to, size);
      await arrays.blobs("names", objects.length, chunk, { zv_array: "parametric_names", ...said });
    }
  }
  await writeTables(plan, arrays, "object", tablesOf(columns, objects.length));
  if (groups.length > 0) await writeGroupBlobs(arrays, Groups.of(groups.map((members) => BigInt64Array.from(members))));
  const listed = types.map(({ name, coefficients }, number): [string, JsonObject] => [
    `${number}`,
    { name, coefficients },
  ]);
  await arrays.document("", groupDocument({ parametric_types: Object.fromEntries(listed) }));
}

/** Those of the reference, which has them in every store; then others. */
const KNOWN = [
  { name: "plane", coefficients: ["A", "B", "C", "D"] },
  { name: "line", coefficients: ["x0", "y0", "z0", "dx", "dy", "dz"] },
  { name: "sphere", coefficients: ["cx", "cy", "cz", "r"] },
];

/** What the objects are, by number. */
function typesOf(objects: readonly ParametricObject[]): { name: string; coefficients: readonly string[] }[] {
  const types = new Map<string, readonly string[]>(KNOWN.map(({ name, coefficients }) => [name, coefficients]));
  for (const { type, coefficients, coefficientNames } of objects) {
    if (coefficients.length !== coefficientNames.length)
      throw new InvalidInput(
        `a ${type} should have ${coefficientNames.length} coefficients, found ${coefficients.length}`,
      );
    types.set(type, coefficientNames);
  }
  return [...types].map(([name, coefficients]) => ({ name, coefficients }));
}
