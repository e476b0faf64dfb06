/**
 * Coarser geometry is some of the finer one: vertices that stay where they are, joined anew. So every attribute of a vertex goes
 * along as it is, ids stay, and how far the finer geometry is from the coarser can be said.
 */
import type { Batch } from "../model/vectors.js";

/** What stays of a batch. */
export interface Coarse {
  /** The vertices that stay, ascending. */
  readonly rows: Uint32Array;
  /** The links between them, as numbers into `rows`, and for each the link of the batch whose attributes it has. */
  readonly links?: { readonly ends: Uint32Array; readonly from: Uint32Array } | undefined;
  /** How far what was left out is from what stays, at most, where that was measured. */
  readonly error: number;
}

/** The geometry of a batch that coarsening looks at: what a worker is sent. */
export interface Fine extends Pick<Batch, "geometry" | "positions" | "dims" | "parts" | "objects"> {
  readonly links?: FineLinks | undefined;
}

/** `named`: links have attributes, so that it matters which one stays. */
export interface FineLinks extends Pick<NonNullable<Batch["links"]>, "width" | "ends"> {
  readonly named: boolean;
}
