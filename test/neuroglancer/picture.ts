/** What the client drew, and what it should have drawn, pixel by pixel. */
export type Colour = readonly [red: number, green: number, blue: number];

/** The colour that the middle of a pixel must have; undefined where it may have any, as at borders. */
export type Wanted = (x: number, y: number) => Colour | undefined;

export const BLACK: Colour = [0, 0, 0];

/** Of the page, and so of every picture. */
export const SIZE = { width: 512, height: 384 } as const;

export class Picture {
  /** Rows from below, four bytes each pixel, as WebGL reads them. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    if (bytes.length !== 4 * SIZE.width * SIZE.height) throw new Error(`a picture of ${bytes.length} bytes`);
    this.bytes = bytes;
  }

  /** The colour at a place, from the left and from above. */
  at(x: number, y: number): Colour {
    const i = 4 * ((SIZE.height - 1 - Math.floor(y)) * SIZE.width + Math.floor(x));
    return [this.bytes[i]!, this.bytes[i + 1]!, this.bytes[i + 2]!];
  }

  equals(other: Picture): boolean {
    return Buffer.compare(this.bytes, other.bytes) === 0;
  }
}

export interface Compared {
  /** Pixels that had to have a colour, and pixels that had to be black. */
  readonly coloured: number;
  readonly black: number;
  /** What differs, in words, the first few of it. */
  readonly wrong: readonly string[];
}

/** `lit`: colours of surfaces under a light: only darker than they should be, in one proportion. */
export function compare(picture: Picture, wanted: Wanted, { tolerance = 0, lit = false } = {}): Compared {
  let [coloured, black] = [0, 0];
  const wrong: string[] = [];
  for (let y = 0; y < SIZE.height; y++)
    for (let x = 0; x < SIZE.width; x++) {
      const should = wanted(x + 0.5, y + 0.5);
      if (should === undefined) continue;
      const most = Math.max(...should);
      if (most > 0) coloured++;
      else black++;
      const seen = picture.at(x, y);
      const light = lit && most > 0 ? Math.max(...seen) / most : 1;
      const alike = should.every((value, c) => Math.abs(value * light - seen[c]!) <= tolerance);
      if (!alike || light < 0.15) wrong.push(`[${x}, ${y}] is [${seen}] instead of [${should.map(Math.round)}]`);
    }
  return { coloured, black, wrong: wrong.length > 5 ? [`${wrong.length} pixels`, ...wrong.slice(0, 5)] : wrong };
}

export const hex = (colour: Colour): string =>
  `#${colour.map((value) => Math.round(value).toString(16).padStart(2, "0")).join("")}`;
