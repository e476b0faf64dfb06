/**
 * The text form of STL, block by block: `solid NAME`, then `facet normal x y z`, `outer loop`, three times `vertex x y z`, `endloop`,
 * `endfacet`, and `endsolid`.
 */
import { Corrupt } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { InputFile } from "./file.js";
import { Growing } from "./growing.js";
import { BLOCK, type TriangleFile, type Triangles } from "./stl-passing.js";
import { calledBy } from "./surface.js";
import { Scanner, type TextBlock, textBlocks } from "./text.js";

/** Triangles as they are read. */
export class StlText {
  readonly corners = new Growing(new Float64Array());
  readonly normals = new Growing(new Float64Array());
  /** The line of each facet. */
  readonly lines = new Growing(new Uint32Array());
  readonly names: string[] = [];
  /** The first corner of each solid, and the end of the last. */
  readonly starts = [0];
  readonly #where: string;
  #inside = false;
  #line = 1;
  /** Triangles that were taken away. */
  #before = 0;

  constructor(where: string) {
    this.#where = where;
  }

  /** Takes whole lines. */
  take(block: Pick<TextBlock, "bytes" | "line">): void {
    const scanner = new Scanner(block, this.#where);
    const { corners, normals } = this;
    do {
      if (scanner.ends()) continue;
      const word = scanner.word().toLowerCase();
      if (word === "vertex") for (let k = 0; k < 3; k++) corners.push(scanner.number("a coordinate"));
      else if (word === "facet") {
        scanner.word(); // "normal"
        for (let k = 0; k < 3; k++) normals.push(scanner.number("a number of the normal"));
        this.lines.push(scanner.line);
      } else if (word === "endfacet") {
        if (corners.length !== 3 * normals.length) throw scanner.corrupt("a facet that has not three vertices");
      } else if (word === "solid" && !this.#inside) {
        this.names.push(scanner.rest());
        this.#inside = true;
      } else if (word === "endsolid" && this.#inside) {
        this.starts.push(3 * this.#before + corners.length / 3);
        this.#inside = false;
      } else if (word !== "outer" && word !== "endloop")
        throw scanner.corrupt(`${JSON.stringify(word.slice(0, 40))} is no word of STL here`);
    } while (scanner.next());
    this.#line = scanner.line;
  }

  end(): void {
    if (this.#inside || this.corners.length !== 3 * this.normals.length)
      throw new Corrupt(`${this.#where} ends at line ${this.#line} without endsolid`, { where: this.#where });
  }

  /** Takes away so many of the triangles that are whole; fewer where there are not so many. */
  shift(most: number): Required<Omit<Triangles, "more">> {
    const { corners, normals, lines, starts } = this;
    const count = Math.min(most, Math.floor(corners.length / 9));
    const taken = {
      corners: Float32Array.from(corners.values.subarray(0, 9 * count)).map((value) => value + 0), // −0 is 0
      normals: Float32Array.from(normals.values.subarray(0, 3 * count)),
      solid: new Uint32Array(count),
      line: lines.values.slice(0, count),
    };
    let solid = this.#solid;
    for (let i = 0; i < count; i++) {
      while (solid + 1 < starts.length && starts[solid + 1]! <= 3 * (this.#before + i)) solid++;
      taken.solid[i] = solid;
    }
    this.#solid = solid;
    for (const [list, size] of [
      [corners, 9],
      [normals, 3],
      [lines, 1],
    ] as const) {
      list.values.copyWithin(0, size * count, list.length);
      list.length -= size * count;
    }
    this.#before += count;
    return taken;
  }
  #solid = 0;
}

/** A file of triangles as text, which is read once to know how many there are. */
export async function textFile(input: InputFile, options: ReadOptions): Promise<TriangleFile> {
  let text = new StlText(input.where);
  async function* blocks(): AsyncGenerator<Required<Omit<Triangles, "more">>> {
    text = new StlText(input.where);
    for await (const block of textBlocks(input, options)) {
      text.take(block);
      while (text.corners.length >= 9 * BLOCK) yield text.shift(BLOCK);
    }
    text.end();
    if (text.corners.length > 0) yield text.shift(BLOCK);
  }
  let count = 0;
  for await (const { solid } of blocks()) count += solid.length;
  return {
    where: input.where,
    count,
    blocks,
    objects: () => ({ count: text.names.length, ...calledBy(text.names) }),
  };
}
