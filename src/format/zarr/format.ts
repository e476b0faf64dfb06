/**
 * Zarr as a format, apart from what creates and changes it: a page that opens data reaches this file and not those, and a
 * bundler leaves them out even where something that is loaded later needs them.
 */
import type { Format } from "../../model/format.js";
import { detectZarr, openZarr } from "./open.js";

/** Zarr as a format: what `open` and `detect` ask. */
export const zarr: Format = {
  id: "zarr",
  name: "Zarr",
  detect: detectZarr,
  open: openZarr,
  async *validate(store, at, options) {
    yield* (await import("./validate.js")).validateZarr(store, at, options);
  },
};
