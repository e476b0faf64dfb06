/**
 * Precomputed as a format, apart from what writes it: a page that opens data reaches this file, and what it opens is loaded when
 * there is some.
 */
import { withLimits } from "../../limits.js";
import type { Format } from "../../model/format.js";
import { Key } from "../../store/key.js";

/** Precomputed as a format. */
export const precomputed: Format = {
  id: "precomputed",
  name: "Neuroglancer precomputed",
  async detect(store, at, options = {}) {
    const { signal, get = store.get.bind(store) } = options;
    const bytes = await get(Key.join(at, "info"), { signal, most: withLimits(options.limits).metadataBytes });
    return bytes && (await import("./open.js")).matchOf(store, at, bytes, options);
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
