/** Attributes: what they are, and their values as columns. */
import type { DataType } from "../bytes/dtype.js";
import type { NumericArray } from "../codec/types.js";

/** What is known of an attribute. */
export interface AttributeInfo {
  readonly name: string;
  /** Of one value; of the codes where there are `categories`. */
  readonly dtype: DataType;
  /** Values per row. */
  readonly channels: number;
  readonly channelNames?: readonly string[] | undefined;
  readonly unit?: string | undefined;
  readonly description?: string | undefined;
  /** The value that stands for "none"; NaN does so in every float. */
  readonly absent?: number | bigint | string | undefined;
  /** Strings by code: the values are numbers into this list. */
  readonly categories?: readonly string[] | undefined;
}

/** What is lost of an attribute where units have no place: a sentence, or none. */
export const lostUnit = ({ name, unit }: AttributeInfo): string[] =>
  unit === undefined || unit === "" ? [] : [`the unit ${unit} of ${name}, of which only the numbers are kept`];

/** The values of an attribute, `channels` of them for each row. Bool is 0 and 1, float16 its bits. */
export interface Column {
  readonly info: AttributeInfo;
  readonly values: NumericArray | readonly string[];
}
