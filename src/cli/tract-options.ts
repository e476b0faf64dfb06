/** Options of streamlines: images that say where they are, and files with values of them. */
import type { TractOptions } from "../convert/tracts.js";
import { InvalidInput } from "../errors.js";
import { choice, flag, text, type Values } from "./args.js";

/** May be given several times; a name is taken as it is, with its commas. */
const several = <T>(name: string, help: string, parse: (given: string) => T) => ({
  value: name,
  help,
  parse: (given: string): readonly T[] => [parse(given)],
  repeats: true as const,
});

const asGiven = (given: string): string => given;

export const tractOptions = {
  reference: text(
    "IMAGE",
    "of streamlines: the image (.nii, .nii.gz) that they are about, such as that of a TRK from a TCK",
  ),
  invalid: choice(
    ["keep", "drop", "fail"] as const,
    "what becomes of streamlines that leave --reference, or the image that their TRK or TRX names; they are counted before work starts (default: keep)",
  ),
  include: several("MASK", "only streamlines with a vertex in this mask (.nii, .nii.gz); in each, of several", asGiven),
  exclude: several("MASK", "no streamlines with a vertex in this mask; in any, of several", asGiven),
  "ends-only": flag("of masks: only the first and the last vertex count"),
  attach: several(
    "NAME=FILE",
    "values for each streamline or each vertex (.txt, .tsf, .npy) as an attribute, such as w=weights.txt",
    attachment,
  ),
};

function attachment(given: string): readonly [string, string] {
  const [, name = "", file = ""] = /^([^=]+)=(.+)$/s.exec(given) ?? [];
  if (name === "") throw new InvalidInput(`expected NAME=FILE such as w=weights.txt, found ${JSON.stringify(given)}`);
  return [name, file];
}

/** What was said of streamlines. */
export function tractsGiven(given: Values<typeof tractOptions>): TractOptions {
  const { reference, invalid, include, exclude, attach } = given;
  const endsOnly = given["ends-only"] || undefined;
  return { reference, invalid, include, exclude, endsOnly, attach: attach && Object.fromEntries(attach) };
}
