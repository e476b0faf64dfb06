/** What was written, and what was rounded or left out on the way. */
import type { Batch } from "../../model/vectors.js";

export class Tally {
  vertices = 0;
  objects = 0;
  /** Vertices that no object owns. */
  loose = 0;
  /** Parts beyond the first of their object. */
  further = 0;
  /** Links between objects. */
  between = 0;
  readonly #changed = new Map<string, number>();
  #rounded = 0;
  #furthest = 0;

  /** Values of an attribute that the target cannot hold. */
  change(name: string, values: number): void {
    if (values > 0) this.#changed.set(name, (this.#changed.get(name) ?? 0) + values);
  }

  /** Positions as float32. */
  inFloat32(positions: Batch["positions"]): Float32Array {
    if (positions instanceof Float32Array) return positions;
    const out = Float32Array.from(positions);
    for (let i = 0; i < out.length; i++) {
      const by = Math.abs(out[i]! - positions[i]!);
      if (!(by > 0)) continue;
      this.#rounded++;
      if (by > this.#furthest) this.#furthest = by;
    }
    return out;
  }

  /** Three float32 for each vertex, also where there are fewer axes. */
  inThree({ positions, dims }: Batch): Float32Array {
    const all = this.inFloat32(positions);
    if (dims === 3) return all;
    const out = new Float32Array((all.length / dims) * 3);
    for (let v = 0; v < all.length / dims; v++)
      for (let axis = 0; axis < dims; axis++) out[3 * v + axis] = all[dims * v + axis]!;
    return out;
  }

  counts(): { vertices: number; objects: number } {
    return { vertices: this.vertices, objects: this.objects };
  }

  /** What is not kept, in sentences; `objects` is how many there were to be. */
  tell(objects: number, lose: (sentence: string) => void): void {
    if (this.#rounded > 0)
      lose(`${this.#rounded} coordinates, rounded to float32 by at most ${this.#furthest.toPrecision(2)}`);
    for (const [name, values] of this.#changed)
      lose(`${values} values of ${name}, rounded to a type that the target has`);
    if (this.loose > 0) lose(`${this.loose} vertices that belong to no object`);
    if (this.further > 0)
      lose(`that ${this.further} parts belong to the object of another: they have ids of their own now`);
    if (this.between > 0) lose(`${this.between} links between objects`);
    if (this.objects < objects) lose(`${objects - this.objects} objects without vertices`);
  }
}
