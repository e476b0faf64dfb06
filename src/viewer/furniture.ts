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

/** What the colours of a layer mean: of numbers a palette between two, of kinds of things one each. */
export interface Meaning {
  readonly title: string;
  readonly colours: readonly number[];
  /** The lowest and the highest value, or the kinds, in the order of the colours. */
  readonly texts: readonly string[];
  readonly numbers: boolean;
}

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

const inkOn = (background: number): string => cssOf(((background >> 8) & 255) < 128 ? 0xd5dbe3 : 0x2a3038);

/** Words with a halo, so that they can be read over data. */
function textOn(background: number, x: number, y: number, words: string, fill: string): SVGElement {
  const halo = { stroke: cssOf(background), "stroke-width": 3, "paint-order": "stroke" };
  const node = svg("text", { x, y, fill, ...halo });
  node.textContent = words;
  return node;
}

export function drawFurniture(overlay: SVGSVGElement, furniture: Furniture): void {
  const { camera, width, height, background, axes, bar: wanted } = furniture;
  const { right, up } = basisOf(camera);
  const ink = inkOn(background);
  const halo = cssOf(background); // around lines too
  const parts: SVGElement[] = [];
  const line = (x1: number, y1: number, x2: number, y2: number, stroke: string): void => {
    const ends = { x1, y1, x2, y2, "stroke-linecap": "round" };
    parts.unshift(svg("line", { ...ends, stroke: halo, "stroke-width": 5, "stroke-opacity": 0.8 }));
    parts.push(svg("line", { ...ends, stroke, "stroke-width": 2 }));
  };
  const text = (x: number, y: number, words: string, fill: string): void => {
    parts.push(textOn(background, x, y, words, fill));
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

const KINDS = 12; // that a legend has room for
const [ROW, WIDE, MARGIN] = [18, 150, 16];

/** One legend beneath the other, in the upper right corner. */
function legendsOf(meanings: readonly Meaning[], background: number, width: number): SVGElement[] {
  const [x, ink] = [width - WIDE - MARGIN, inkOn(background)];
  let y = MARGIN + 10;
  return meanings.flatMap(({ title, colours, texts, numbers }) => {
    const parts = [textOn(background, x, y, title, ink)];
    if (numbers) {
      const step = WIDE / colours.length;
      for (const [i, colour] of colours.entries())
        parts.push(svg("rect", { x: x + i * step, y: y + 7, width: step + 0.5, height: 10, fill: cssOf(colour) }));
      const [low = "", high = ""] = texts;
      const last = textOn(background, x + WIDE, y + 31, high, ink);
      last.setAttribute("text-anchor", "end");
      parts.push(textOn(background, x, y + 31, low, ink), last);
      y += 31;
    } else
      for (const [i, text] of texts.slice(0, KINDS).entries()) {
        y += ROW;
        parts.push(svg("rect", { x, y: y - 9, width: 10, height: 10, fill: cssOf(colours[i]!) }));
        parts.push(textOn(background, x + 16, y, text.length > 22 ? `${text.slice(0, 21)}…` : text, ink));
      }
    y += 2 * ROW;
    return parts;
  });
}

/** As a picture of its own, with what the colours mean, which the page has beside it. */
export async function pictureOf(
  overlay: SVGSVGElement,
  { width, height, background, meanings }: Pick<Furniture, "width" | "height" | "background"> & { meanings: Meaning[] },
): Promise<HTMLImageElement> {
  const copy = overlay.cloneNode(true) as SVGSVGElement;
  copy.append(...legendsOf(meanings, background, width));
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
