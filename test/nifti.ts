/** NIfTI images by hand, in both versions and byte orders. */
export interface Image {
  readonly version?: 1 | 2;
  readonly little?: boolean;
  readonly dim?: readonly number[];
  readonly type?: number;
  readonly pixdim?: readonly number[];
  readonly codes?: readonly [number, number];
  readonly quaternion?: readonly number[];
  readonly rows?: readonly number[];
  readonly scaling?: readonly [number, number];
  readonly magic?: string;
  readonly offset?: number;
}

/** An image by hand, with its values as bytes. */
export function nifti(own: Image, values: Uint8Array = new Uint8Array(24)): Uint8Array {
  const { version = 1, little = true, dim = [3, 2, 3, 4], type = 2, codes = [0, 1], scaling = [0, 0] } = own;
  const { pixdim = [1, 2, 2, 2], quaternion = [], rows = [2, 0, 0, 10, 0, 2, 0, 20, 0, 0, 2, 30] } = own;
  const one = version === 1;
  const start = one ? 352 : 544;
  const bytes = new Uint8Array(start + values.length);
  const view = new DataView(bytes.buffer);
  const reals = (at: number, list: readonly number[]): void => {
    for (const [i, value] of list.entries())
      if (one) view.setFloat32(at + 4 * i, value, little);
      else view.setFloat64(at + 8 * i, value, little);
  };
  view.setInt32(0, one ? 348 : 540, little);
  bytes.set(new TextEncoder().encode(own.magic ?? `n+${version}`), one ? 344 : 4);
  for (const [i, size] of dim.entries())
    if (one) view.setInt16(40 + 2 * i, size, little);
    else view.setBigInt64(16 + 8 * i, BigInt(size), little);
  view.setInt16(one ? 70 : 12, type, little);
  reals(one ? 76 : 104, pixdim);
  if (one) view.setFloat32(108, own.offset ?? start, little);
  else view.setBigInt64(168, BigInt(own.offset ?? start), little);
  reals(one ? 112 : 176, scaling);
  for (const [i, code] of codes.entries())
    if (one) view.setInt16(252 + 2 * i, code, little);
    else view.setInt32(344 + 4 * i, code, little);
  reals(one ? 256 : 352, quaternion);
  reals(one ? 280 : 400, rows);
  bytes.set(values, start);
  return bytes;
}
