/** Everything that can keep Neuroglancer from showing what is at an address: the data as `validate` sees them, and how they come. */
import { OctavoError } from "../../../errors.js";
import type { Finding, FormatOptions } from "../../../model/format.js";
import type { Location } from "../../../store/open.js";
import { readInfo } from "../info.js";
import { webAddressOf } from "./address.js";
import { checkDrawn, rangedFile } from "./drawn.js";
import { clientFinding } from "./rules.js";
import { checkServing, type ServingOptions } from "./serving.js";

/** Formats that Neuroglancer reads. */
const READ = ["precomputed", "zarr"];

/** What is found at `url`, which has been opened as data of a format. */
export async function* checkForNeuroglancer(
  url: string,
  { store, at }: Pick<Location, "store" | "at">,
  format: string,
  options: FormatOptions & Pick<ServingOptions, "origin" | "fetch"> = {},
): AsyncGenerator<Finding> {
  const { signal, limits, origin, fetch } = options;
  if (!READ.includes(format))
    yield clientFinding("format", url, `${format} is not among what it reads`, "octavo convert … --to precomputed");
  let ranged: { ranged: string | undefined; needsRanges: boolean } = { ranged: undefined, needsRanges: false };
  if (format === "precomputed") {
    const place = await readInfo(store, at, { signal, limits });
    if (place !== undefined) {
      yield* checkDrawn(place, { signal, limits });
      ranged = await rangedFile(place, { signal }).catch((error: unknown) => {
        if (error instanceof OctavoError) return ranged; // `validate` says what is wrong
        throw error;
      });
    }
  }
  const base = webAddressOf(url);
  if (base === undefined) yield clientFinding("not-served", url, "it is on no web server");
  else if (format === "precomputed")
    yield* checkServing(
      { base: `${base}${at === "" ? "" : `/${at.slice(0, -1)}`}`, ...ranged },
      { signal, origin, fetch },
    );
}

/** What the format only warns of is an error to whoever wants to see the data. */
export const forNeuroglancer = (found: Finding): Finding =>
  found.rule === "precomputed/undrawn" ? { ...found, severity: "error" } : found;
