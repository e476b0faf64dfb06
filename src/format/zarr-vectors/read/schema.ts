/**
 * What attributes a level has, from the documents of their arrays.
 *
 * | domain   | where                                                  | rows follow                    |
 * |----------|--------------------------------------------------------|--------------------------------|
 * | vertex   | `vertex_attributes/<name>`, to early 0.5 `attributes`  | the vertex buffer of the chunk |
 * | fragment | `fragment_attributes/<name>`                           | the fragment index             |
 * | link     | `link_attributes/<name>/<delta>`                       | the link cells                 |
 * | object   | `object_attributes/<name>`                             | the rows of the object index   |
 * | group    | `group_attributes/<name>`, before `groupings_attributes` | the groups                   |
 */
import type { DataType, FixedDataType } from "../../../bytes/dtype.js";
import type { Json, JsonObject } from "../../../bytes/json.js";
import { Corrupt } from "../../../errors.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { Domain, Schema } from "../../../model/vectors.js";
import { parseNumpyDtype } from "../../zarr/dtype-numpy.js";
import type { Dialect, LevelMeta, LevelNodes } from "../types.js";

/** Where the attributes of a domain lie, below the level. */
export function folderOf(domain: Domain, { names }: Dialect): string {
  switch (domain) {
    case "vertex":
      return names === "old" ? "attributes" : "vertex_attributes";
    case "group":
      return names === "old" ? "groupings_attributes" : "group_attributes";
    default:
      return `${domain}_attributes`;
  }
}

/** The attributes of a level, by domain. Names that cannot be listed are left out; the dataset's notes say so. */
export async function readSchema(nodes: LevelNodes, meta: LevelMeta, options?: ReadOptions): Promise<Schema> {
  const of = async (domain: Domain): Promise<AttributeInfo[]> => {
    const folder = folderOf(domain, nodes.dialect);
    const names = await nodes.children(folder, options);
    const infos = await Promise.all(
      names.map(async (name) => {
        const path = `${folder}/${name}`;
        const attributes = await nodes.attributes(
          domain === "link" ? await linkPath(nodes, path, options) : path,
          options,
        );
        return attributes === undefined ? undefined : attributeInfo(name, attributes, path);
      }),
    );
    return infos.filter((info) => info !== undefined);
  };
  const [vertex, link, fragment, object, group] = await Promise.all([
    of("vertex"),
    of("link"),
    of("fragment"),
    of("object"),
    of("group"),
  ]);
  const chunked = meta.chunkAttribute;
  if (chunked !== undefined) vertex.push(chunkAttributeInfo(chunked.name, chunked.values));
  return { vertex, link, fragment, object, group };
}

/** The array of a link attribute that says its type: the first that is there, below its delta. */
async function linkPath(nodes: LevelNodes, path: string, options?: ReadOptions): Promise<string> {
  const [delta] = await nodes.children(path, options);
  if (delta === undefined) return path;
  const own = await nodes.attributes(`${path}/${delta}`, options);
  if (own?.dtype !== undefined) return `${path}/${delta}`;
  const [offsets] = await nodes.children(`${path}/${delta}`, options);
  return offsets === undefined ? path : `${path}/${delta}/${offsets}`;
}

/** An attribute as its array's document describes it. */
export function attributeInfo(name: string, attributes: JsonObject, where: string): AttributeInfo {
  const channelNames = stringList(attributes.channel_names);
  const categories = attributes.encoding === "dictionary" ? stringList(attributes.categories) : undefined;
  const dtype = namedType(attributes.dtype, where);
  const fill = attributes._FillValue;
  return {
    name,
    dtype,
    channels: channelsOf(attributes, channelNames, where),
    channelNames,
    unit: typeof attributes.unit === "string" ? attributes.unit : undefined,
    description: typeof attributes.description === "string" ? attributes.description : undefined,
    categories,
    absent:
      categories !== undefined
        ? typeof fill === "number" || typeof fill === "bigint"
          ? fill
          : undefined
        : attributes.fill_sentinel_meaning === "absent"
          ? sentinelOf(dtype)
          : undefined,
  };
}

/** row_shape where it is written (it may be empty), else the names of the channels, else one. */
function channelsOf(attributes: JsonObject, names: readonly string[] | undefined, where: string): number {
  const shape = attributes.row_shape ?? (Array.isArray(attributes.shape) ? attributes.shape.slice(1) : undefined);
  const columns = Array.isArray(shape) ? (shape[0] ?? 1) : (attributes.num_channels ?? names?.length ?? 1);
  if (typeof columns !== "number" || !Number.isInteger(columns) || columns < 1 || columns > 2 ** 16)
    throw new Corrupt(`${where} should have a whole number of channels from 1 to 65536, but says ${columns}`, {
      where,
    });
  return columns;
}

const NAMES = /^(bool|(?:u?int|float)(?:8|16|32|64)|complex(?:64|128))$/;

/** numpy's type by its name ("float32") or its code ("<f4", "<U5"). */
export function namedType(value: Json | undefined, where: string): FixedDataType {
  const name = typeof value === "string" ? NAMES.exec(value)?.[1] : undefined;
  if (name === undefined) return parseNumpyDtype(value, where);
  if (name === "bool") return { kind: "bool", size: 1 };
  const [, kind, bits] = /^([a-z]+)(\d+)$/.exec(name)!;
  return parseNumpyDtype(`<${{ int: "i", uint: "u", float: "f", complex: "c" }[kind!]}${Number(bits) / 8}`, where);
}

/** What stands for "no value" in the dense arrays of objects: NaN, the smallest signed, the largest unsigned, "". */
export function sentinelOf(dtype: DataType): number | bigint | string | undefined {
  switch (dtype.kind) {
    case "float":
      return Number.NaN;
    case "int":
      return dtype.size === 8 ? -(2n ** 63n) : -(2 ** (8 * dtype.size - 1));
    case "uint":
      return dtype.size === 8 ? 2n ** 64n - 1n : 2 ** (8 * dtype.size) - 1;
    case "bytes":
    case "utf32":
    case "string":
      return "";
    default:
      return undefined;
  }
}

/** The attribute by which a level is chunked has no array: its values are in the level's document. */
export function chunkAttributeInfo(name: string, values: readonly Json[]): AttributeInfo {
  if (values.every((value) => typeof value === "string"))
    return { name, dtype: { kind: "uint", size: 4, endian: "little" }, channels: 1, categories: values as string[] };
  const whole = values.every((value) => typeof value === "bigint" || Number.isInteger(value));
  return {
    name,
    dtype: whole ? { kind: "int", size: 8, endian: "little" } : { kind: "float", size: 8, endian: "little" },
    channels: 1,
  };
}

const stringList = (value: Json | undefined): readonly string[] | undefined =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? (value as string[]) : undefined;
