/**
 * Colours. One is a number 0xRRGGBB here, so that arrays of numbers can hold them. A palette is a few colours at equal steps
 * from the lowest value to the highest, with straight lines between; those here are seen in the right order also without colour
 * vision and on grey paper, except `coolwarm`, which is about a middle.
 */
import { InvalidInput } from "../errors.js";

/** The palettes for numbers. */
export const palettes: { readonly [name: string]: readonly number[] } = {
  viridis: [0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725],
  inferno: [0x000004, 0x1f0c48, 0x550f6d, 0x88226a, 0xba3655, 0xe35933, 0xf98e09, 0xf9cb35, 0xfcffa4],
  ice: [0x04152b, 0x0b3b5e, 0x12648e, 0x2b8fb4, 0x66b8cf, 0xabdde0, 0xf2fbf7],
  coolwarm: [0x3b4cc0, 0x7b9ff9, 0xc0d4f5, 0xe5e0dc, 0xf6bfa6, 0xee8468, 0xb40426],
  grey: [0x1a1a1a, 0xf2f2f2],
};

/** The palettes for kinds of things, next to each other as different as can be; `safe` also without colour vision. */
export const kindPalettes: { readonly [name: string]: readonly number[] } = {
  bold: [
    0x4e8ecb, 0xf28e2b, 0x59a14f, 0xd9534f, 0x9c6fc4, 0xe6c229, 0x48b8b8, 0xe78ac3, 0x9c755f, 0xa0b840, 0x6a7fdb,
    0xb0b0b0,
  ],
  soft: [
    0x9cc3e6, 0xf7c08a, 0xa8d3a0, 0xf0a8a5, 0xcbb3e0, 0xf0dd8c, 0x9edada, 0xf2c3df, 0xcdb3a5, 0xcfdb97, 0xb3bdec,
    0xd0d0d0,
  ],
  safe: [0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442, 0x2f8fd0, 0xd55e00, 0xcc79a7, 0x999999],
};

/** For values that are absent. */
export const ABSENT = 0x8a8a8a;
/** For what nothing else says. */
export const PLAIN = 0x6fb1e8;
/** For what somebody picked, and its rim: no data have the two beside each other, on dark and on light ground. */
export const PICKED = 0xffe9a8;
export const RIM = 0x2a1500;

const NAMES: { readonly [name: string]: number } = {
  black: 0x000000,
  white: 0xffffff,
  grey: 0x808080,
  red: 0xd62728,
  green: 0x2ca02c,
  blue: 0x3b7dd8,
  orange: 0xff8c1a,
  yellow: 0xf2d024,
  cyan: 0x22b8cf,
  magenta: 0xd33fb5,
};

/** "#f80", "#ff8800" or a name; undefined where it is no colour. */
export function colourNamed(text: string): number | undefined {
  const [, short, long] = /^#(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i.exec(text) ?? [];
  if (short !== undefined) return Number.parseInt(short.replace(/./g, "$&$&"), 16);
  return long === undefined ? NAMES[text.toLowerCase()] : Number.parseInt(long, 16);
}

export function colourOf(text: string): number {
  const colour = colourNamed(text);
  if (colour !== undefined) return colour;
  throw new InvalidInput(
    `a colour is #rrggbb, #rgb or ${Object.keys(NAMES).join(", ")}, found ${JSON.stringify(text)}`,
  );
}

export const cssOf = (colour: number): string => `#${colour.toString(16).padStart(6, "0")}`;

export function paletteNamed(name: string): readonly number[] {
  const found = Object.hasOwn(palettes, name) ? palettes[name] : undefined;
  if (found !== undefined) return found;
  throw new InvalidInput(`a palette is ${Object.keys(palettes).join(", ")}, found ${JSON.stringify(name)}`);
}

/** How much light a colour has, from 0 to 1, as eyes weigh it. */
function luminance(colour: number): number {
  const part = (shift: number): number => {
    const share = ((colour >> shift) & 255) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0);
}

/** How far two colours are apart in light: 1 where they are the same, 21 of black and white. */
export function contrast(a: number, b: number): number {
  const [x, y] = [luminance(a) + 0.05, luminance(b) + 0.05];
  return Math.max(x, y) / Math.min(x, y);
}

const TOLD = 1.8; // the contrast from which on a small point is seen

/**
 * A palette without the colours at its ends that could not be told from what is behind them: on dark ground it begins brighter, on
 * light ground it ends darker. At least half of it stays.
 */
export function paletteOn(palette: readonly number[], ground: number | undefined): readonly number[] {
  if (ground === undefined) return palette;
  const steps = stepsOf(palette);
  const most = STEPS >> 2;
  let [from, to] = [0, STEPS - 1];
  while (from < most && contrast(steps[from]!, ground) < TOLD) from++;
  while (STEPS - 1 - to < most && contrast(steps[to]!, ground) < TOLD) to--;
  if (from === 0 && to === STEPS - 1) return palette;
  const parts = 16;
  return Array.from({ length: parts + 1 }, (_, i) => steps[Math.round(from + ((to - from) * i) / parts)]!);
}

const STEPS = 256;

/** The colours of a palette in 256 steps, as a table for loops. */
export function stepsOf(palette: readonly number[]): Uint32Array {
  return Uint32Array.from({ length: STEPS }, (_, i) => {
    const at = (i / (STEPS - 1)) * (palette.length - 1);
    const low = Math.min(Math.floor(at), palette.length - 2);
    return mixed(palette[low]!, palette[low + 1]!, at - low);
  });
}

/** Kinds that are counted before they begin again with the first colour: as often as each palette goes into it. */
export const KINDS = 240;

/** The colours of kinds of things, by their number: the palette, again and again. */
export function kindStepsOf(name = "bold"): Uint32Array {
  const palette = (Object.hasOwn(kindPalettes, name) ? kindPalettes[name] : undefined) ?? kindPalettes.bold!;
  return Uint32Array.from({ length: STEPS }, (_, i) => palette[i % palette.length]!);
}

/** Of the way from a to b. */
export function mixed(a: number, b: number, share: number): number {
  const one = (shift: number): number => {
    const from = (a >> shift) & 255;
    return Math.round(from + (((b >> shift) & 255) - from) * share) << shift;
  };
  return one(16) | one(8) | one(0);
}

/** Where a value lies in a range, as a step of `stepsOf`. */
export const stepAt = (value: number, low: number, high: number): number =>
  high > low ? Math.max(0, Math.min(STEPS - 1, Math.round(((value - low) / (high - low)) * (STEPS - 1)))) : STEPS >> 1;

/** A colour for a thing by its number: neighbours differ, and the same number always has the same. */
export function colourOfId(id: bigint): number {
  const mixedBits = Number(BigInt.asUintN(32, ((BigInt.asUintN(64, id) + 1n) * 0x9e3779b97f4a7c15n) >> 29n));
  return hsl((mixedBits % 360) / 360, 0.55 + ((mixedBits >>> 9) % 4) * 0.08, 0.5 + ((mixedBits >>> 11) % 3) * 0.08);
}

function hsl(hue: number, saturation: number, lightness: number): number {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (n: number): number => {
    const k = (n + hue * 12) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return (channel(0) << 16) | (channel(8) << 8) | channel(4);
}
