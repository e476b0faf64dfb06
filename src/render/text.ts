/**
 * Letters on a picture: seven rows of five dots each, a row as one digit of base 32 (g = 16 is the leftmost dot). Small letters that
 * hang below the line do so in an eighth and ninth row. What has no letter here is a box.
 */
import type { Picture } from "./frame.js";

// biome-ignore format: a table
const GLYPHS: { readonly [character: string]: string } = {
  "0": "ehjlphe", "1": "4c4444e", "2": "eh1248v", "3": "eh161he", "4": "26aiv22", "5": "vgu11he",
  "6": "68guhhe", "7": "v124888", "8": "ehhehhe", "9": "ehhf12c", ".": "00000cc", ",": "00000448", "-": "000v000",
  "+": "044v440", "(": "2488842", ")": "8422248", "/": "01248g0", ":": "0cc0cc0", "%": "pq248bj",
  A: "ehhvhhh", B: "uhhuhhu", C: "ehggghe", D: "sihhhis", E: "vgguggv", F: "vgguggg",
  G: "ehgnhhf", H: "hhhvhhh", I: "e44444e", J: "72222ic", K: "hikokih", L: "ggggggv", M: "hrllhhh", N: "hhpljhh",
  O: "ehhhhhe", P: "uhhuggg", Q: "ehhhlid", R: "uhhukih", S: "fgge11u", T: "v444444", U: "hhhhhhe", V: "hhhhha4",
  W: "hhhllla", X: "hha4ahh", Y: "hhha444", Z: "v1248gv",
  a: "00e1fhf", b: "ggmphhu", c: "00egghe", d: "11djhhf", e: "00ehvge", f: "698s888",
  g: "00fhhf1e", h: "ggmphhh", i: "40c444e", j: "206222ic", k: "ggikoki", l: "c44444e", m: "00qlllh", n: "00mphhh",
  o: "00ehhhe", p: "00uhhugg", q: "00fhhf11", r: "00mpggg", s: "00fge1u", t: "88s8896", u: "00hhhjd", v: "00hhha4",
  w: "00hhlla", x: "00ha4ah", y: "00hhhf1e", z: "00v248v", "µ": "00hhhpmg", _: "0000000v", "\u2026": "00000ll",
  "=": "00v0v00", "<": "248g842", ">": "8421248", "'": "4480000", '"': "aa00000", "#": "aavavaa",
};
const BOX = "vhhhhhv";

/** So many pixels a letter and the gap after it are wide, at scale 1. */
export const ADVANCE = 6;

export const widthOf = (text: string, scale: number): number => ([...text].length * ADVANCE - 1) * scale;

/** From the upper left corner of the first letter; what lies outside of the picture is not drawn. */
export function drawText(picture: Picture, text: string, x: number, y: number, scale: number, colour: number): void {
  for (const [i, character] of [...text].entries()) {
    if (character === " ") continue;
    const rows = GLYPHS[character] ?? BOX;
    for (let row = 0; row < rows.length; row++) {
      const dots = Number.parseInt(rows[row]!, 32);
      for (let dot = 0; dot < 5; dot++)
        if ((dots & (16 >> dot)) !== 0)
          fill(picture, x + (i * ADVANCE + dot) * scale, y + row * scale, scale, scale, colour);
    }
  }
}

/** A rectangle of one colour. */
export function fill(picture: Picture, x: number, y: number, wide: number, high: number, colour: number): void {
  const { width, height, pixels } = picture;
  for (let row = Math.max(0, y); row < Math.min(height, y + high); row++)
    for (let column = Math.max(0, x); column < Math.min(width, x + wide); column++)
      pixels.set([colour >> 16, (colour >> 8) & 255, colour & 255], 3 * (row * width + column));
}
