/** What is drawn over the data: axes and a scale bar; with perspective that is true around the target. */
import { basisOf, type Camera } from "../scene/camera.js";
import { cssOf } from "../scene/palette.js";
import { scaleBarOf } from "../scene/scale-bar.js";

const SVG = "http://www.w3.org/2000/svg";
const AXES = [
  ["x", "#e0564f"],
  ["y", "#57b35a"],
  ["z", "#5b8def"],
] as const;

export interface Furniture {
  readonly camera: Camera;
  readonly width: number;
  readonly height: number;
  /** 0xRRGGBB. */
  readonly background: number;
  /** Names of the axes; x, y and z where they have none. */
  readonly axes: readonly (string | undefined)[];
  /** In units of the scene; none where nothing is shown. */
  readonly bar: { readonly unit: string | undefined } | undefined;
}

export function overlayOn(): SVGSVGElement {
  const overlay = document.createElementNS(SVG, "svg");
  overlay.setAttribute("aria-hidden", "true");
  overlay.style.cssText =
    "position:absolute;inset:0;width:100%;height:100%;pointer-events:none;font:12px system-ui,sans-serif";
  return overlay;
}

export function drawFurniture(overlay: SVGSVGElement, furniture: Furniture): void {
  const { camera, width, height, background, axes, bar: wanted } = furniture;
  const { right, up } = basisOf(camera);
  const dark = ((background >> 8) & 255) < 128;
  const ink = cssOf(dark ? 0xd5dbe3 : 0x2a3038);
  const parts: SVGElement[] = [];
  const line = (x1: number, y1: number, x2: number, y2: number, stroke: string): void => {
    parts.push(svg("line", { x1, y1, x2, y2, stroke, "stroke-width": 2, "stroke-linecap": "round" }));
  };
  const text = (x: number, y: number, words: string, fill: string): void => {
    const node = svg("text", { x, y, fill });
    node.textContent = words;
    parts.push(node);
  };
  const [cx, cy, reach] = [46, height - 46, 26];
  for (const [k, [name, colour]] of AXES.entries()) {
    const [dx, dy] = [right[k]! * reach, -up[k]! * reach];
    line(cx, cy, cx + dx, cy + dy, colour);
    text(cx + dx * 1.35 - 3, cy + dy * 1.35 + 4, axes[k] || name, colour);
  }
  const bar = wanted && scaleBarOf(height / camera.span, Math.min(200, width / 4), wanted.unit);
  if (bar !== undefined) {
    const [x, y] = [100, height - 26];
    line(x, y, x + bar.pixels, y, ink);
    for (const end of [x, x + bar.pixels]) line(end, y - 5, end, y, ink);
    text(x, y - 10, camera.perspective ? `${bar.text} at the centre` : bar.text, ink);
  }
  overlay.replaceChildren(...parts);
}

/** As a picture of its own. */
export async function pictureOf(
  overlay: SVGSVGElement,
  { width, height }: { width: number; height: number },
): Promise<HTMLImageElement> {
  const copy = overlay.cloneNode(true) as SVGSVGElement;
  for (const [name, value] of [["xmlns", SVG] as const, ["width", width] as const, ["height", height] as const])
    copy.setAttribute(name, String(value));
  const image = new Image(width, height);
  image.src = `data:image/svg+xml,${encodeURIComponent(copy.outerHTML)}`;
  await image.decode();
  return image;
}

function svg(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}
