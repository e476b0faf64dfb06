/** Puts particles on disk as they come, and looks at each of them once: how many there are, and where. */
import { bytesOf } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { InvalidInput, LimitExceeded } from "../../errors.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { Positions } from "../../model/vectors.js";
import type { ScratchFile } from "../../store/scratch.js";
import type { DiskColumn, DiskParticles } from "./external-disk.js";
import type { ParticleStream } from "./external-types.js";

/** What came; `scratch` makes the files, which belong to the caller. */
export async function spill(
  { count: said, precision: kind, batches }: ParticleStream,
  scratch: () => ScratchFile,
  signal: AbortSignal | undefined,
): Promise<DiskParticles> {
  const positions = scratch();
  const order: DiskColumn = { file: scratch(), size: 4 };
  const around = Float64Array.of(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
  let precision: 4 | 8 | undefined = kind && (kind === "float32" ? 4 : 8);
  let attributes: readonly AttributeInfo[] | undefined;
  let carried: readonly DiskColumn[] = [];
  let numbers = new Uint32Array();
  let count = 0;
  for await (const batch of batches({ signal })) {
    signal?.throwIfAborted();
    const { columns } = batch;
    precision ??= batch.positions instanceof Float32Array ? 4 : 8;
    const own = asStored(batch.positions, precision, count);
    const n = own.length / 3;
    if (!Number.isInteger(n))
      throw new InvalidInput(`positions should be three for each particle, found ${own.length} numbers`);
    if (count + n > 0xffffffff) throw new LimitExceeded(`a tree has at most 2^32 − 1 particles, found ${count + n}`);
    grow(around, own, count);
    if (attributes === undefined) {
      attributes = columns.map(({ info }) => info);
      carried = attributes.map(({ dtype, channels }) => ({ file: scratch(), size: sizeOf(dtype) * channels }));
    }
    if (columns.length !== attributes.length)
      throw new InvalidInput(`each batch should have ${attributes.length} attributes, found ${columns.length}`);
    for (const [i, column] of columns.entries())
      carried[i]!.file.write(count * carried[i]!.size, bytesOf(checked(column, attributes[i]!, n)));
    if (numbers.length < n) numbers = new Uint32Array(n);
    for (let i = 0; i < n; i++) numbers[i] = count + i;
    order.file.write(4 * count, bytesOf(numbers.subarray(0, n)));
    positions.write(3 * precision * count, bytesOf(own));
    count += n;
  }
  if (said !== undefined && said !== count)
    throw new InvalidInput(`there should be ${said} particles, and ${count} came`);
  precision ??= 8;
  return {
    count,
    precision,
    positions: { file: positions, size: 3 * precision },
    carried: [order, ...carried],
    attributes: attributes ?? [],
    around,
  };
}

function asStored(positions: Positions, precision: 4 | 8, count: number): Positions {
  if (positions.BYTES_PER_ELEMENT === precision) return positions;
  if (precision === 8) return Float64Array.from(positions);
  throw new InvalidInput(`positions should be float32 as those before, found float64 from particle ${count} on`);
}

/** Grows the corners around particles; what is not finite has no place in a tree. */
function grow(around: Float64Array, positions: Positions, first: number): void {
  for (let axis = 0; axis < 3; axis++) {
    let [low, high] = [around[axis]!, around[axis + 3]!];
    for (let at = axis; at < positions.length; at += 3) {
      const value = positions[at]!;
      if (!Number.isFinite(value))
        throw new InvalidInput(
          `positions should be finite, found ${value} as ${"xyz"[axis]} of particle ${first + (at - axis) / 3}`,
        );
      if (value <= low) low = value; // the last of zeros with either sign, as in build.ts
      if (value > high) high = value;
    }
    around[axis] = low;
    around[axis + 3] = high;
  }
}

const sizeOf = (dtype: AttributeInfo["dtype"]): number => ("size" in dtype ? dtype.size : 0);

/** The values of n particles, of the attribute that it was in the first batch. */
function checked({ info, values }: Column, { name, dtype, channels }: AttributeInfo, n: number): NumericArray {
  const { kind } = info.dtype;
  if (!ArrayBuffer.isView(values) || !["int", "uint", "float"].includes(kind) || info.categories !== undefined)
    throw new InvalidInput(`the attribute ${info.name} should be numbers, found ${kind}`);
  const same = info.name === name && kind === dtype.kind && sizeOf(info.dtype) === sizeOf(dtype);
  if (!same || info.channels !== channels)
    throw new InvalidInput(`the attribute ${info.name} should be ${name} as in the batches before, with the same type`);
  const array = values as NumericArray;
  if (array.length !== n * channels)
    throw new InvalidInput(`the attribute ${name} should have ${n * channels} values, found ${array.length}`);
  return array;
}
