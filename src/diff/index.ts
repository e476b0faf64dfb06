/** `diff`: do two datasets hold the same data, whatever their formats. */
import type { Dataset, ReadOptions } from "../model/dataset.js";
import type { OpenOptions } from "../open.js";
import type { DiffReport } from "./report.js";

export type { Difference, DiffReport, Kind as DifferenceKind } from "./report.js";

/** What may differ. */
export interface DiffOptions extends ReadOptions {
  /** How far coordinates (and elements that are floats) may be apart; 0 unless told. */
  readonly tolerance?: number | undefined;
  /** Only this level. */
  readonly level?: number | undefined;
  /** What is not compared. Without ids, objects are matched by their order; without levels, only the finest is compared. */
  readonly ignore?: readonly ("ids" | "attributes" | "groups" | "levels")[] | undefined;
  /** Places that are told of each kind of difference; 5 unless told. */
  readonly places?: number | undefined;
  /** Bytes that may be held at once, roughly; 256 MiB unless told otherwise. */
  readonly maxMemory?: number | undefined;
}

/** `diff` for the addresses that `open` understands. */
export function differ(open: (url: string, options?: OpenOptions) => Promise<Dataset>) {
  return async (a: Dataset | string, b: Dataset | string, options: DiffOptions = {}): Promise<DiffReport> => {
    const opened = (side: Dataset | string) =>
      typeof side === "string" ? open(side, { ...options, related: true }) : side;
    const { diffDatasets } = await import("./datasets.js");
    return diffDatasets(await opened(a), await opened(b), options);
  };
}
