/** What a page shows, as the part of its address behind "#": whoever has the address sees the same. */
import type { Camera } from "../../scene/camera.js";
import type { LayerLook } from "../stage.js";

export interface State {
  readonly layers: readonly { readonly url: string; readonly look: LayerLook; readonly hidden?: boolean | undefined }[];
  readonly camera?: Camera | undefined;
  /** In which the camera is; that of the first layer unless told. */
  readonly unit?: string | undefined;
  readonly theme?: "dark" | "light" | undefined;
}

/** 64-bit ids have no place in JSON: they are text with an n, as in JavaScript. */
export const writeState = (state: State): string =>
  `#${encodeURIComponent(JSON.stringify(state, (_, value) => (typeof value === "bigint" ? `${value}n` : value)))}`;

/** What an address says: a state behind "#", or data as `?url=…`. Undefined where it is damaged. */
export function readState({ hash, search }: { readonly hash: string; readonly search: string }): State | undefined {
  const urls = new URLSearchParams(search).getAll("url");
  if (hash.length < 2) return { layers: urls.map((url) => ({ url, look: {} })) };
  try {
    const id = (text: unknown): bigint => BigInt(String(text).replace(/n$/, ""));
    const ids = (key: string, value: unknown): unknown =>
      key === "object" && Array.isArray(value)
        ? value.map(id)
        : key === "highlight" && !Array.isArray(value)
          ? id(value)
          : value;
    const state = JSON.parse(decodeURIComponent(hash.slice(1)), ids) as Partial<State>;
    if (!Array.isArray(state.layers)) return undefined;
    const layers = state.layers.filter((layer) => typeof layer?.url === "string" && typeof layer.look === "object");
    return { ...state, layers };
  } catch {
    return undefined;
  }
}
