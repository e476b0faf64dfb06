/** `split`: a dataset becomes a folder of datasets, one for each group, value of an attribute, object, or box of a grid. */
import type { Dataset } from "../model/dataset.js";
import type { VectorDataset } from "../model/vectors.js";
import type { OpenOptions } from "../open.js";
import type { Location, LocationOptions } from "../store/open.js";
import type { converter } from "./index.js";
import type { ConvertToOptions } from "./options.js";

/** By what, and what the parts shall be. */
export interface SplitOptions
  extends Omit<ConvertToOptions, "query" | "slice" | "resume" | "part" | "finish" | "skipBad" | "link"> {
  readonly by: "group" | "object" | "box" | `attribute:${string}`;
  /** Of boxes: their sides. Boxes lie one after the other from the origin; their lower faces belong to them. */
  readonly size?: readonly number[] | undefined;
  /** Of boxes: objects are cut at their faces; without, an object is where its first vertex is. */
  readonly clip?: boolean | undefined;
  /** On: nothing is written, and `outputs` is what would be; the counts of what is not cut may be more than there is. */
  readonly dryRun?: boolean | undefined;
}

/** What came of it. */
export interface SplitReport {
  readonly outputs: readonly { readonly name: string; readonly vertices: number; readonly objects: number }[];
  /** Sentences about what is in none of them. */
  readonly losses: readonly string[];
  /** Sentences about what is in several of them. */
  readonly notes: readonly string[];
}

type Opener<T, O> = (url: string, options?: O) => Promise<T>;

/** `split` for the addresses that `open` and `openLocation` understand, by what `convert` does with a part of a dataset. */
export function splitter(
  open: Opener<Dataset, OpenOptions>,
  openLocation: Opener<Location, LocationOptions>,
  convert: ReturnType<typeof converter>,
) {
  return async (source: VectorDataset | string, folder: string, options: SplitOptions): Promise<SplitReport> => {
    const dataset = typeof source === "string" ? await open(source, { ...options, related: true }) : source;
    return (await import("./split-into.js")).splitInto(dataset, folder, options, { openLocation, convert });
  };
}
