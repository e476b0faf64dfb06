/**
 * Precomputed as a format, apart from what writes it: a page that opens data reaches this file, and what it opens is loaded when
 * there is some.
 */
import type { Format } from "../../model/format.js";
import { readInfo } from "./info.js";

/** Precomputed as a format. */
export const precomputed: Format = {
  id: "precomputed",
  name: "Neuroglancer precomputed",
  async detect(store, at, options) {
    const place = await readInfo(store, at, options);
    if (place === undefined) return undefined;
    const kind = (await import("./open.js")).kindOf(place);
    return (
      kind && {
        format: "precomputed",
        version: "1",
        summary: `Neuroglancer precomputed, ${kind.name}`,
        open: async () => (await kind.load()).open(place, options),
      }
    );
  },
  async open(store, at, options) {
    const { findKind } = await import("./open.js");
    const { kind, place } = await findKind(store, at, options);
    return kind.open(place, options);
  },
  async *validate(store, at, options) {
    const { findKind } = await import("./open.js");
    const { kind, place } = await findKind(store, at, options);
    yield* kind.validate(place, options);
  },
  async repair(store, at, options) {
    const { findKind } = await import("./open.js");
    const { kind, place } = await findKind(store, at, options);
    return (await kind.repair?.(place, options)) ?? { fixed: [], left: [] };
  },
};
