/**
 * The segment of a path that says where the other endpoints of links are: `links/0/+1.+1.0_0.0.-1` has links of three endpoints,
 * the first in the chunk of the cell, the second one chunk on in x and y, the third one chunk back in z. Links of one endpoint
 * have the segment `self`.
 */
import { Corrupt } from "../../../errors.js";

const SELF = "self";
const OFFSET = /^(?:0|[+-][1-9]\d{0,9})$/; // one spelling for each number, so that two segments never mean the same

export const LinkOffsets = {
  /** For each endpoint but the first the distance in chunks, `dims` numbers each. */
  parse(segment: string, width: number, dims: number, where: string): readonly (readonly number[])[] {
    const parts = segment === SELF ? [] : segment.split("_").map((part) => part.split("."));
    const right =
      parts.length === width - 1 &&
      parts.every(
        (part) =>
          part.length === dims && part.every((text) => OFFSET.test(text) && Number(text) === (Number(text) | 0)),
      );
    if (!right)
      throw new Corrupt(
        `${where} should have ${width - 1} offsets of ${dims} numbers such as "+1.0_0.-2" in its name, found ${JSON.stringify(segment.slice(0, 80))}`,
        { where },
      );
    return parts.map((part) => part.map(Number));
  },

  format: (offsets: readonly (readonly number[])[]): string =>
    offsets.length === 0
      ? SELF
      : offsets.map((offset) => offset.map((n) => (n > 0 ? `+${n}` : `${n}`)).join(".")).join("_"),

  /** All endpoints in one chunk. */
  isIntra: (offsets: readonly (readonly number[])[]): boolean =>
    offsets.every((offset) => offset.every((n) => n === 0)),
};
