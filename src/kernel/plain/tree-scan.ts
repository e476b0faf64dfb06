/** Which particles of a range are in a region, and the box around a range, in plain TypeScript; ../tree.ts says what is promised. */
import type { ParticleLoops } from "../tree.js";

type Floats = Float32Array | Float64Array;

export const keepAll =
  (out: Uint32Array): ParticleLoops["keepAll"] =>
  (start, stop, n) => {
    for (let i = start; i < stop; i++) out[n++] = i;
    return n;
  };

export const keepBox =
  (p: Floats, out: Uint32Array): ParticleLoops["keepBox"] =>
  (start, stop, n, x0, y0, z0, x1, y1, z1) => {
    for (let i = start, at = 3 * start; i < stop; i++, at += 3) {
      const x = p[at]!;
      const y = p[at + 1]!;
      const z = p[at + 2]!;
      out[n] = i;
      n += Number(x >= x0) & Number(x <= x1) & Number(y >= y0) & Number(y <= y1) & Number(z >= z0) & Number(z <= z1);
    }
    return n;
  };

export const keepSphere =
  (p: Floats, out: Uint32Array): ParticleLoops["keepSphere"] =>
  (start, stop, n, x, y, z, most) => {
    for (let i = start, at = 3 * start; i < stop; i++, at += 3) {
      const dx = x - p[at]!;
      const dy = y - p[at + 1]!;
      const dz = z - p[at + 2]!;
      out[n] = i;
      n += Number(dx * dx + dy * dy + dz * dz <= most);
    }
    return n;
  };

export const bounds =
  (p: Floats, box: Float64Array): ParticleLoops["bounds"] =>
  (start, stop) => {
    box.fill(Infinity, 0, 3).fill(-Infinity, 3);
    let odd = 0;
    for (let axis = 0; axis < 3; axis++) {
      let low = Infinity;
      let high = -Infinity;
      for (let at = 3 * start + axis; at < 3 * stop; at += 3) {
        const value = p[at]!;
        odd += value - value; // NaN from the first that is not finite on
        if (value < low) low = value;
        if (value > high) high = value;
      }
      box[axis] = low;
      box[axis + 3] = high;
    }
    return odd === 0;
  };
