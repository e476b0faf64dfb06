/**
 * What a `.ptree` file says of itself, as JSON.
 *
 * | member     | is                                                                                                       |
 * |------------|----------------------------------------------------------------------------------------------------------|
 * | ptree      | 1                                                                                                        |
 * | count      | number of particles                                                                                      |
 * | levels     | [{ bits, count }]: of the sample, from coarse to fine, those of coarser levels included (sample.ts)        |
 * | blocks     | [of all particles, of the sample]                                                                         |
 * | pages      | { offset } of the tables of blocks, those of all particles first                                          |
 * | tree       | { offset, bytes, xxh3, box } of the packed tree, header included; the checksum in 16 digits, the box again |
 * | particles  | { offset, sample, type: "float32" or "float64" }: x, y, z of a block, then the u32 numbers they had before |
 * | attributes | [{ name, offset, sample, type, channels, unit?, description? }]: any numbers, `channels` for each particle |
 * | about      | whatever its owner keeps with it                                                                          |
 *
 * `offset` is where the first block of all particles begins, `sample` where that of the sample does.
 */
import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import type { NumericType } from "../../../codec/numeric.js";
import { Corrupt, Unsupported } from "../../../errors.js";
import { TreeBox, triple } from "../box.js";
import { SUM_BYTES } from "./blocks.js";
import type { SampleLevel } from "./sample.js";

/** The parts of a file: all particles, and those of the sample again. */
export const ALL = 0;
export const SAMPLE = 1;
/** One of them. */
export type Part = typeof ALL | typeof SAMPLE;

/** Values of all particles, block after block, and of the sample. */
export interface FileColumn {
  readonly name: string;
  /** Where the values begin, of each part. */
  readonly offsets: readonly [all: number, sample: number];
  readonly dtype: NumericType;
  readonly channels: number;
  /** Bytes for each particle. */
  readonly bytes: number;
  readonly unit?: string | undefined;
  readonly description?: string | undefined;
}

/** What the head of a file says of the rest. */
export interface Description {
  readonly count: number;
  /** From coarse to fine. */
  readonly levels: readonly SampleLevel[];
  readonly blocks: readonly [all: number, sample: number];
  readonly pages: { readonly offset: number };
  readonly tree: { readonly offset: number; readonly bytes: number; readonly sum: bigint; readonly box: TreeBox };
  /** Positions, with the numbers that particles had before behind those of each block. */
  readonly particles: FileColumn;
  readonly attributes: readonly FileColumn[];
  readonly about: JsonObject;
}

/** The name by which the number that a particle had before is an attribute. */
export const ORIGINAL = "original";
export const ORDER_TYPE: NumericType = { kind: "uint", size: 4, endian: "little" };

/** How many particles a part has. */
export const countOf = ({ count, levels }: Pick<Description, "count" | "levels">, part: Part): number =>
  part === ALL ? count : (levels.at(-1)?.count ?? 0);

/** The column of positions and numbers. */
export const particlesColumn = (size: number, offsets: FileColumn["offsets"]): FileColumn => ({
  name: "particles",
  dtype: { kind: "float", size, endian: "little" } as NumericType,
  channels: 3,
  bytes: 3 * size + ORDER_TYPE.size,
  offsets,
});

/** From JSON, and to it. */
export const Description = {
  /** Corrupt where what it names lies beyond the end. */
  parse(json: Json, end: number, where: string): Description {
    const wrong = (what: string): Corrupt => new Corrupt(`the description of ${where} ${what}`, { where });
    const object = (value: Json | undefined, what: string): JsonObject => {
      if (!isJsonObject(value)) throw wrong(`should have an object as ${what}`);
      return value;
    };
    const list = (value: Json | undefined, what: string): readonly Json[] => {
      if (!Array.isArray(value)) throw wrong(`should have a list of ${what}`);
      return value as readonly Json[];
    };
    const whole = (value: Json | undefined, what: string): number => {
      if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
        throw wrong(`should have a whole number as ${what}`);
      return value;
    };
    const text = (value: Json | undefined, what: string): string | undefined => {
      if (value !== undefined && typeof value !== "string") throw wrong(`should have a text as ${what}`);
      return value;
    };
    const all = object(json, "all of it");
    if (all.ptree !== 1)
      throw new Unsupported(`${where} has version ${String(all.ptree)}; ptree files of version 1 are read`, { where });
    const count = whole(all.count, "count");
    const levels = list(all.levels, "levels").map((one): SampleLevel => {
      const { bits, count } = object(one, "a level");
      return { bits: whole(bits, "the bits of a level"), count: whole(count, "the count of a level") };
    });
    const ascending = levels.every(
      (level, i) => level.count > (levels[i - 1]?.count ?? 0) && level.bits >= (levels[i - 1]?.bits ?? 0),
    );
    if (!ascending || countOf({ count, levels }, SAMPLE) > count)
      throw wrong("should have levels of more and more particles");
    const [blocks = 0, sampled = 0] = list(all.blocks, "blocks").map((number) => whole(number, "a number of blocks"));
    const place = (column: JsonObject, name: string, bytes: number): FileColumn["offsets"] => {
      const offsets = [
        whole(column.offset, `the offset of ${name}`),
        whole(column.sample, `the sample of ${name}`),
      ] as const;
      for (const part of [ALL, SAMPLE] as const) {
        const until = offsets[part] + bytes * countOf({ count, levels }, part) + [blocks, sampled][part]! * SUM_BYTES;
        if (offsets[part] % 8 !== 0 || until > end)
          throw wrong(`puts ${name} at ${offsets[part]}, up to ${until} of ${end}`);
      }
      return offsets;
    };
    const particles = object(all.particles, "particles");
    const float = typeOf(text(particles.type, "the type of particles"));
    if (float?.kind !== "float" || float.size < 4) throw wrong("should have positions of float32 or float64");
    const unplaced = particlesColumn(float.size, [0, 0]);
    const attributes = list(all.attributes, "attributes").map((one): FileColumn => {
      const column = object(one, "an attribute");
      const name = text(column.name, "the name of an attribute") ?? "";
      const channels = whole(column.channels, `the channels of ${name}`);
      const dtype = typeOf(text(column.type, `the type of ${name}`));
      if (dtype === undefined || channels < 1 || channels > 65536)
        throw wrong(`has no type and channels that can be for ${name}`);
      const [unit, description] = [
        text(column.unit, `the unit of ${name}`),
        text(column.description, `what ${name} is`),
      ];
      const bytes = dtype.size * channels;
      return {
        name,
        dtype,
        channels,
        bytes,
        offsets: place(column, name, bytes),
        ...(unit !== undefined && { unit }),
        ...(description !== undefined && { description }),
      };
    });
    if (new Set([ORIGINAL, ...attributes.map(({ name }) => name)]).size <= attributes.length)
      throw wrong("has two attributes of one name");
    const tree = object(all.tree, "tree");
    const [offset, bytes] = [whole(tree.offset, "the offset of the tree"), whole(tree.bytes, "the bytes of the tree")];
    const sum = text(tree.xxh3, "the checksum of the tree") ?? "";
    if (offset + bytes > end || !/^[0-9a-f]{16}$/.test(sum))
      throw wrong(`puts the tree at ${offset}, up to ${offset + bytes} of ${end}`);
    const corner = list(tree.box, "the box").map(Number);
    const box = { origin: triple(corner), size: triple(corner.slice(3)) };
    const fault = TreeBox.fault(box);
    if (fault !== undefined) throw wrong(`has a box that ${fault}`);
    return {
      count,
      levels,
      blocks: [blocks, sampled],
      pages: { offset: whole(object(all.pages, "pages").offset, "the offset of pages") },
      tree: { offset, bytes, sum: BigInt(`0x${sum}`), box },
      particles: { ...unplaced, offsets: place(particles, "particles", unplaced.bytes) },
      attributes,
      about: isJsonObject(all.about) ? all.about : {},
    };
  },

  /** As it is stored. */
  format({ count, levels, blocks, pages, tree, particles, attributes, about }: Description): JsonObject {
    const plain = ({ offsets: [offset, sample], dtype }: FileColumn) => ({
      offset,
      sample,
      type: `${dtype.kind}${8 * dtype.size}`,
    });
    return {
      ptree: 1,
      count,
      levels: levels.map((level) => ({ ...level })),
      blocks: [...blocks],
      pages: { ...pages },
      tree: {
        offset: tree.offset,
        bytes: tree.bytes,
        xxh3: tree.sum.toString(16).padStart(16, "0"),
        box: [...tree.box.origin, ...tree.box.size],
      },
      particles: plain(particles),
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
