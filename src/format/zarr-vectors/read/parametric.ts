/**
 * Parametric objects: planes, lines and spheres as coefficients, outside of all levels.
 *
 * | node                              | holds                                                                                |
 * |-----------------------------------|--------------------------------------------------------------------------------------|
 * | `parametric` attributes           | `parametric_types`: by number, a name and the names of its coefficients               |
 * | `parametric/objects`              | float64 [n, 1 + most]: the number of the type, its coefficients, zeros                |
 * | `parametric/names`                | a text for each; before 0.9 one blob with a zero byte or a line feed between them     |
 * | `object_attributes`, `groups`     | as in a level                                                                         |
 */
import { isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { decodeUtf8 } from "../../../bytes/text.js";
import { Corrupt } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { typed } from "../../../model/elements.js";
import type { Parametric, ParametricObject } from "../../../model/vectors.js";
import type { LevelNodes } from "../types.js";
import { denseColumns } from "./object-columns.js";
import { membersOf, readGroups } from "./read-groups.js";

export async function readParametric(nodes: LevelNodes, options?: ReadOptions): Promise<Parametric> {
  const attributes = (await nodes.attributes("", options)) ?? {};
  const types = typesOf(attributes);
  const rows = await readRows(nodes, options);
  const names = await readNames(nodes, rows.count, options);
  const objects = Array.from({ length: rows.count }, (_, i): ParametricObject => {
    const number = rows.values[i * rows.width]!;
    const type = types.get(number);
    if (type === undefined || type.coefficients.length > rows.width - 1)
      throw new Corrupt(`parametric object ${i} is of type ${number}, which is not described`, { where: "parametric" });
    const from = i * rows.width + 1;
    return {
      type: type.name,
      name: names?.[i],
      coefficients: [...rows.values.subarray(from, from + type.coefficients.length)],
      coefficientNames: type.coefficients,
    };
  });
  const all = Uint32Array.from({ length: rows.count }, (_, row) => row);
  const columns = await denseColumns(
    nodes,
    "object_attributes",
    await nodes.children("object_attributes", options),
    all,
    rows.count,
    options,
  );
  const groups = await readGroups(nodes, options);
  return {
    objects,
    columns,
    groups: Array.from({ length: groups?.count ?? 0 }, (_, group) => membersOf(groups!, group)!),
  };
}

function typesOf({
  parametric_types: types,
}: JsonObject): Map<number, { name: string; coefficients: readonly string[] }> {
  const out = new Map<number, { name: string; coefficients: readonly string[] }>();
  for (const [number, type] of Object.entries(isJsonObject(types) ? types : {})) {
    const { name, coefficients } = isJsonObject(type) ? type : ({} as JsonObject);
    if (
      typeof name !== "string" ||
      !Array.isArray(coefficients) ||
      !coefficients.every((own) => typeof own === "string")
    )
      throw new Corrupt(`parametric type ${number} should have a name and coefficients`, { where: "parametric" });
    out.set(Number(number), { name, coefficients: coefficients as string[] });
  }
  return out;
}

async function readRows(
  nodes: LevelNodes,
  options?: ReadOptions,
): Promise<{ count: number; width: number; values: Float64Array }> {
  const attributes = await nodes.attributes("objects", options);
  if (attributes === undefined) return { count: 0, width: 1, values: new Float64Array() };
  const array = await nodes.dense("objects", options);
  const read = array && (await array.read(undefined, undefined, options));
  const blob = read === undefined ? await nodes.blob("objects/data", options) : undefined;
  const values =
    read !== undefined
      ? typed(read)
      : typed({
          shape: [(blob?.length ?? 0) / 8],
          dtype: { kind: "float", size: 8, endian: "little" },
          data: blob ?? new Uint8Array(),
        });
  const width = array?.shape[1] ?? attributes.max_row_length;
  if (!(values instanceof Float64Array) || typeof width !== "number" || !(width >= 1) || values.length % width !== 0)
    throw new Corrupt("parametric/objects should be rows of float64", { where: "parametric/objects" });
  return { count: values.length / width, width, values };
}

async function readNames(
  nodes: LevelNodes,
  count: number,
  options?: ReadOptions,
): Promise<readonly string[] | undefined> {
  const array = await nodes.vlen("names", options);
  const texts =
    array !== undefined
      ? (await array.read(0, array.length, options)).map((bytes) => decodeUtf8(bytes, "a name of parametric/names"))
      : splitNames(await nodes.blob("names/data", options));
  if (texts !== undefined && texts.length !== count)
    throw new Corrupt(`parametric/names has ${texts.length} names for ${count} objects`, { where: "parametric/names" });
  return texts;
}

const splitNames = (blob: Uint8Array | undefined): string[] | undefined =>
  blob && decodeUtf8(blob, "parametric/names").split(/[\0\n]/);
