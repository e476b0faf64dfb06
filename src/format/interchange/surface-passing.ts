/** Surfaces that are too large to be held, on their way to a store: what their files have in common. */
import { Corrupt, type Unsupported } from "../../errors.js";
import type { Positions } from "../../model/vectors.js";
import type { BatchParts } from "../zarr-vectors/write/write-batch.js";
import { notFinite } from "./finite.js";
import { type Surface, surfaceOutline } from "./surface.js";
import type { FileContent } from "./types.js";

/** Nothing is known of it but what it begins with, and nothing can be asked of it. */
export function passingContent(
  known: Pick<Surface, "version" | "geometry" | "header">,
  refusal: Unsupported,
  passing: NonNullable<FileContent["passing"]>,
): FileContent {
  return {
    ...surfaceOutline(known),
    async index() {
      throw refusal;
    },
    passing,
  };
}

/** Corrupt where a coordinate is none; `place` says where the vertex is. */
export function mustBeFinite(positions: Positions, where: string, place: (vertex: number) => string): void {
  const bad = notFinite(positions);
  if (bad < 0) return;
  throw new Corrupt(`${where}, ${place(Math.floor(bad / 3))}: a vertex has the coordinate ${positions[bad]}`, {
    where,
  });
}

const NONE = new Float32Array();

/** Links between vertices that have come. */
export const lateLinks = (links: NonNullable<BatchParts["links"]>): BatchParts => ({
  positions: NONE,
  parts: Uint32Array.of(0),
  objects: new Int32Array(),
  links,
  late: true,
});
