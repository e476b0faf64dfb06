/** `--level` of an array: one of its scales. */
import { InvalidInput } from "../errors.js";
import type { ArrayDataset } from "../model/dataset.js";

export function levelOf(array: ArrayDataset, level: number | undefined): ArrayDataset {
  if (level === undefined) return array;
  const found = (array.levels ?? [array])[level];
  if (found !== undefined) return found;
  const levels = array.levels?.length ?? 1;
  throw new InvalidInput(
    `${array.url} has ${levels === 1 ? "level 0 only" : `the levels 0 to ${levels - 1}`}, found ${level}`,
  );
}
