/** `--slice 0:10,:,5`: Python's slices as text. */
import { InvalidInput } from "../errors.js";
import type { AxisSelection, Region } from "../model/array.js";
import { value } from "./args.js";

type Part = AxisSelection | "rest";

export const sliceOption = {
  slice: value(
    "SLICE",
    "of an array: an index or start:stop:step per axis, as in Python: 0:10,:,5 (default: all of it)",
    parseSlice,
  ),
};

/** One entry per axis, "..." for as many whole axes as are left. */
export function parseSlice(text: string): readonly Part[] {
  const parts = text
    .replace(/\s|^\[|\]$/g, "")
    .split(",")
    .map(parseAxis);
  if (parts.filter((part) => part === "rest").length <= 1) return parts;
  throw new InvalidInput(`expected "..." at most once, found ${JSON.stringify(text)}`);
}

function parseAxis(text: string): Part {
  if (text === "...") return "rest";
  if (/^[-+]?\d+$/.test(text)) return integer(text);
  const bounds = text.split(":");
  if (text === "" || bounds.length > 3 || bounds.some((bound) => !/^([-+]?\d+)?$/.test(bound))) {
    throw new InvalidInput(
      `expected an index or start:stop:step for each axis, such as 0:10,:,5, found ${JSON.stringify(text)}`,
    );
  }
  const [start, stop, step] = bounds.map((bound) => (bound === "" ? undefined : integer(bound)));
  return {
    ...(start === undefined ? {} : { start }),
    ...(stop === undefined ? {} : { stop }),
    ...(step === undefined ? {} : { step }),
  };
}

function integer(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new InvalidInput(`expected an integer that a number holds exactly, found ${text}`);
}

/** The region for an array of this many axes. */
export function toRegion(parts: readonly Part[], rank: number): Region {
  const at = parts.indexOf("rest");
  if (at < 0) return parts as Region;
  const fill = Math.max(0, rank - (parts.length - 1));
  return [...parts.slice(0, at), ...Array<null>(fill).fill(null), ...parts.slice(at + 1)] as Region;
}
