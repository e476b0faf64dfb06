/** Some of the vertices of a file: few of them as a list, many as a bit for each. */
import { Growing } from "./growing.js";
import { Marks } from "./marks.js";
import { lastUpTo } from "./surface.js";

const FEW = 1 << 16;

export class VertexSet {
  readonly #most: number;
  #list = new Growing(new Uint32Array());
  /** Ascending, each once. */
  #few = new Uint32Array();
  #many: Marks | undefined;

  /** `most`: vertices of the file. */
  constructor(most: number) {
    this.#most = most;
  }

  add(vertices: Uint32Array): void {
    if (this.#many === undefined && this.#list.length + vertices.length > FEW) {
      this.#many = new Marks(this.#most);
      for (const vertex of this.#list.done()) this.#many.set(vertex);
    }
    for (const vertex of vertices)
      if (this.#many === undefined) this.#list.push(vertex);
      else this.#many.set(vertex);
  }

  /** Nothing comes any more: how many there are. */
  end(): number {
    if (this.#many !== undefined) return this.#many.count();
    this.#few = this.#list
      .done()
      .sort()
      .filter((vertex, i, all) => i === 0 || vertex !== all[i - 1]);
    return this.#few.length;
  }

  /** How many come before one that is there. */
  before(vertex: number): number {
    return this.#many === undefined ? lastUpTo(this.#few, vertex) : this.#many.before(vertex);
  }

  /** All of them, in ascending order, so many at a time. */
  *slices(size: number): Generator<Uint32Array> {
    const many = this.#many;
    if (many === undefined) {
      for (let from = 0; from < this.#few.length; from += size) yield this.#few.subarray(from, from + size);
      return;
    }
    let some = new Growing(new Uint32Array());
    for (let vertex = 0; vertex < this.#most; vertex++) {
      if (many.has(vertex)) some.push(vertex);
      if (some.length < size) continue;
      yield some.done();
      some = new Growing(new Uint32Array());
    }
    if (some.length > 0) yield some.done();
  }
}
