/** `pyramid`: coarser levels for the store at an address. */
import type { Location, LocationOptions } from "../store/open.js";
import type { PyramidReport } from "./build.js";
import type { PyramidOptions } from "./plan.js";

export type { PyramidLevel, PyramidReport } from "./build.js";
export type { Choice as PyramidChoice, PyramidOptions } from "./plan.js";

/** `pyramid` for the addresses that `openLocation` understands. */
export function pyramider(openLocation: (url: string, options?: LocationOptions) => Promise<Location>) {
  return async (url: string, options: PyramidOptions & LocationOptions = {}): Promise<PyramidReport> => {
    const { store, at } = await openLocation(url, options);
    return (await import("./build.js")).buildPyramid(store, at, options);
  };
}
