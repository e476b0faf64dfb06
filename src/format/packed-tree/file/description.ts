/**
 * What a `.ptree` file says of itself, as JSON.
 *
 * | member     | is                                                                                                  |
 * |------------|-----------------------------------------------------------------------------------------------------|
 * | ptree      | 1                                                                                                   |
 * | count      | number of particles                                                                                 |
 * | tree       | { offset, bytes } of the packed tree                                                                 |
 * | positions  | { offset, type: "float32" or "float64" }: x, y, z                                                   |
 * | order      | { offset, type: "uint32" }: the number that each particle had before                                |
 * | attributes | [{ name, offset, type, channels, unit?, description? }]: any numbers, `channels` for each particle   |
 * | about      | whatever its owner keeps with it                                                                     |
 */
import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import type { NumericType } from "../../../codec/numeric.js";
import { Corrupt, Unsupported } from "../../../errors.js";
import { type Blocks, type Span, SUM_BYTES } from "./plan.js";

/** Values of all particles, block after block. */
export interface FileColumn {
  readonly name: string;
  readonly offset: number;
  readonly dtype: NumericType;
  readonly channels: number;
  readonly unit?: string | undefined;
  readonly description?: string | undefined;
}

/** What the head of a file says of the rest. */
export interface Description {
  readonly count: number;
  readonly tree: { readonly offset: number; readonly bytes: number };
  readonly positions: FileColumn;
  readonly order: FileColumn;
  readonly attributes: readonly FileColumn[];
  readonly about: JsonObject;
}

/** The name by which the number that a particle had before is an attribute. */
export const ORIGINAL = "original";

export const rowBytes = ({ dtype, channels }: Pick<FileColumn, "dtype" | "channels">): number => dtype.size * channels;

/** Where a block of a column lies, its checksum included. */
export function blockSpan(column: FileColumn, { starts }: Blocks, block: number): Span {
  const size = rowBytes(column);
  const [start, stop] = [starts[block]!, starts[block + 1]!];
  return { offset: column.offset + start * size + block * SUM_BYTES, length: (stop - start) * size + SUM_BYTES };
}

/** From JSON, and to it. */
export const Description = {
  /** Corrupt where it does not fit the blocks, or what it names lies beyond the end. */
  parse(json: Json, blocks: Blocks, end: number, where: string): Description {
    const wrong = (what: string): Corrupt => new Corrupt(`the description of ${where} ${what}`, { where });
    if (!isJsonObject(json)) throw wrong("should be an object");
    if (json.ptree !== 1)
      throw new Unsupported(`${where} has version ${String(json.ptree)}; ptree files of version 1 are read`, { where });
    const whole = (value: Json | undefined, what: string): number => {
      if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
        throw wrong(`should have a whole number as ${what}`);
      return value;
    };
    const text = (value: Json | undefined, what: string): string | undefined => {
      if (value !== undefined && typeof value !== "string") throw wrong(`should have a text as ${what}`);
      return value;
    };
    const count = whole(json.count, "count");
    if (count !== blocks.starts[blocks.count])
      throw wrong(`says ${count} particles, and its blocks have ${blocks.starts[blocks.count]}`);
    const column = (value: Json | undefined, name: string, fixed?: number): FileColumn => {
      if (!isJsonObject(value)) throw wrong(`should have an object as ${name}`);
      const channels = fixed ?? whole(value.channels, `the channels of ${name}`);
      const dtype = typeOf(text(value.type, `the type of ${name}`));
      if (dtype === undefined || channels < 1 || channels > 65536)
        throw wrong(`has no type and channels that can be for ${name}`);
      const offset = whole(value.offset, `the offset of ${name}`);
      const [unit, description] = [text(value.unit, `the unit of ${name}`), text(value.description, `what ${name} is`)];
      const bytes = count * dtype.size * channels + blocks.count * SUM_BYTES;
      if (offset % 8 !== 0 || offset + bytes > end)
        throw wrong(`puts ${name} at ${offset}, up to ${offset + bytes} of ${end}`);
      return {
        name,
        offset,
        dtype,
        channels,
        ...(unit !== undefined && { unit }),
        ...(description !== undefined && { description }),
      };
    };
    const positions = column(json.positions, "positions", 3);
    const order = column(json.order, "order", 1);
    if (positions.dtype.kind !== "float" || positions.dtype.size < 4)
      throw wrong("should have positions of float32 or float64");
    if (order.dtype.kind !== "uint" || order.dtype.size !== 4) throw wrong("should have an order of uint32");
    const list = json.attributes;
    if (!Array.isArray(list)) throw wrong("should have a list of attributes");
    const attributes = (list as readonly Json[]).map((one) =>
      column(one, (isJsonObject(one) && text(one.name, "the name of an attribute")) || "an attribute without a name"),
    );
    if (new Set([ORIGINAL, ...attributes.map(({ name }) => name)]).size <= attributes.length)
      throw wrong("has two attributes of one name");
    const tree = isJsonObject(json.tree) ? json.tree : {};
    const [offset, bytes] = [whole(tree.offset, "the offset of the tree"), whole(tree.bytes, "the bytes of the tree")];
    if (offset + bytes > end) throw wrong(`puts the tree at ${offset}, up to ${offset + bytes} of ${end}`);
    return {
      count,
      tree: { offset, bytes },
      positions,
      order,
      attributes,
      about: isJsonObject(json.about) ? json.about : {},
    };
  },

  /** As it is stored. */
  format({ count, tree, positions, order, attributes, about }: Description): JsonObject {
    const plain = ({ offset, dtype }: FileColumn) => ({ offset, type: `${dtype.kind}${8 * dtype.size}` });
    return {
      ptree: 1,
      count,
      tree: { ...tree },
      positions: plain(positions),
      order: plain(order),
      attributes: attributes.map((column) => ({
        name: column.name,
        ...plain(column),
        channels: column.channels,
        ...(column.unit !== undefined && { unit: column.unit }),
        ...(column.description !== undefined && { description: column.description }),
      })),
      about,
    };
  },
};

function typeOf(text: string | undefined): NumericType | undefined {
  const [, kind, bits] = /^(int|uint|float)(8|16|32|64)$/.exec(text ?? "") ?? [];
  if (kind === undefined || (kind === "float" && bits === "8")) return undefined;
  return { kind, size: Number(bits) / 8, endian: "little" } as NumericType;
}
