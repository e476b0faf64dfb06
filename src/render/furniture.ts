/** What a picture says besides: how long things are, and what the colours mean. */
import type { AttributeInfo } from "../model/attributes.js";
import { mixed } from "../scene/palette.js";
import { scaleBarOf, shown, unitText } from "../scene/scale-bar.js";
import type { Picture } from "./frame.js";
import { drawText, fill, widthOf } from "./text.js";

/** Letters of this picture are so many times seven pixels high. */
const scaleOf = ({ width, height }: Picture): number => Math.max(1, Math.round(Math.min(width, height) / 400));

/** Readable on this background. */
function inkOn(background: number): number {
  const light = 0.3 * (background >> 16) + 0.59 * ((background >> 8) & 255) + 0.11 * (background & 255);
  return mixed(background, light > 128 ? 0x000000 : 0xffffff, 0.8);
}

export function drawScaleBar(
  picture: Picture,
  pixelsPerUnit: number,
  unit: string | undefined,
  background: number,
): void {
  const bar = scaleBarOf(pixelsPerUnit, picture.width / 4, unit);
  if (bar === undefined) return;
  const [scale, ink] = [scaleOf(picture), inkOn(background)];
  const [x, y] = [12 * scale, picture.height - 12 * scale];
  fill(picture, x, y, Math.max(1, Math.round(bar.pixels)), scale, ink);
  for (const end of [x, x + Math.round(bar.pixels) - scale]) fill(picture, end, y - 3 * scale, scale, 4 * scale, ink);
  drawText(picture, bar.text, x, y - 14 * scale, scale, ink);
}

interface Numbers {
  readonly steps: Uint32Array;
  readonly low: number;
  readonly high: number;
}

const MOST = 12; // kinds of things that a legend has room for

export function drawLegend(
  picture: Picture,
  { name, unit }: AttributeInfo,
  of: Numbers | ReadonlyMap<string, number>,
  background: number,
): void {
  const [scale, ink] = [scaleOf(picture), inkOn(background)];
  const title = unit === undefined ? name : `${name} (${unitText(unit)})`;
  const rows = "steps" in of ? [] : [...of].slice(0, MOST);
  const texts = "steps" in of ? [shown(of.high), shown(of.low)] : rows.map(([kind]) => shortened(kind));
  const wide = Math.max(widthOf(title, scale), 14 * scale + Math.max(...texts.map((text) => widthOf(text, scale))));
  const [x, y] = [picture.width - wide - 12 * scale, 12 * scale];
  drawText(picture, title, x, y, scale, ink);
  const top = y + 14 * scale;
  if (!("steps" in of)) {
    for (const [i, [kind, colour]] of rows.entries()) {
      fill(picture, x, top + 12 * i * scale, 8 * scale, 8 * scale, colour);
      drawText(picture, shortened(kind), x + 14 * scale, top + 12 * i * scale, scale, ink);
    }
    return;
  }
  const high = 80 * scale;
  for (let row = 0; row < high; row++)
    fill(picture, x, top + row, 8 * scale, 1, of.steps[Math.round((1 - row / (high - 1)) * 255)]!);
  drawText(picture, texts[0]!, x + 14 * scale, top, scale, ink);
  drawText(picture, texts[1]!, x + 14 * scale, top + high - 7 * scale, scale, ink);
}

const shortened = (text: string): string => (text.length > 24 ? `${text.slice(0, 23)}…` : text);
