/**
 * Cells along the z-curve: the bits of x, y and z in turn, x lowest, as one number. Cells in the order of their codes are in the
 * order that manifests want, and a code without its lowest three bits is the code of the cell of the next coarser lod.
 */

/** Cells are numbered with so many bits on each axis: 45 bits of code, which a number holds exactly. */
export const CELL_BITS = 15;

const LOW = 2 ** 10; // the lowest ten bits of each axis make thirty bits of code

/** The lowest ten bits, each moved to three times its place. */
function spread(value: number): number {
  let bits = value & 0x3ff;
  bits = (bits | (bits << 16)) & 0x030000ff;
  bits = (bits | (bits << 8)) & 0x0300f00f;
  bits = (bits | (bits << 4)) & 0x030c30c3;
  return (bits | (bits << 2)) & 0x09249249;
}

const spreadAll = (x: number, y: number, z: number): number => spread(x) | (spread(y) << 1) | (spread(z) << 2);

export const ZCurve = {
  encode: (x: number, y: number, z: number): number =>
    spreadAll(x >> 10, y >> 10, z >> 10) * LOW ** 3 + spreadAll(x, y, z),

  decode(code: number): [x: number, y: number, z: number] {
    const cell: [number, number, number] = [0, 0, 0];
    let rest = code;
    for (let bit = 1; rest > 0; bit *= 2) {
      const three = rest % 8;
      if (three & 1) cell[0] += bit;
      if (three & 2) cell[1] += bit;
      if (three & 4) cell[2] += bit;
      rest = (rest - three) / 8;
    }
    return cell;
  },

  /** The code of the cell around it in the next coarser lod. */
  parent: (code: number): number => Math.floor(code / 8),
};
