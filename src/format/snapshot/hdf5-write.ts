/** A new HDF5 file, made in memory: groups, datasets that are stored in one piece, attributes. */

import type { NumericArray } from "../../codec/types.js";
import type { Hdf5Attribute, Numeric } from "./hdf5-file.js";
import type { Hdf5Library } from "./hdf5-library.js";

/** A file that is being made. */
export interface Hdf5Output {
  group(path: string): void;
  attribute(path: string, name: string, attribute: Hdf5Attribute): void;
  dataset(path: string, shape: readonly number[], dtype: Numeric, values: NumericArray): void;
}

/** The bytes of a file that `fill` fills. */
export function writeHdf5(
  library: Hdf5Library,
  where: string,
  fill: (output: Hdf5Output) => void,
): Uint8Array<ArrayBuffer> {
  const { module } = library;
  const { H5T_INTEGER, H5T_FLOAT, H5T_STRING } = module.H5T_class_t;

  const withBytes = (bytes: Uint8Array, what: string, work: (pointer: bigint) => void): void =>
    library.withMemory(bytes.length, where, what, (pointer) => {
      module.HEAPU8.set(bytes, pointer);
      work(BigInt(pointer));
    });

  /** What the library wants to know of numbers; booleans are bytes. */
  const typeOf = (dtype: Numeric, shape: readonly number[]) => ({
    type: dtype.kind === "float" ? H5T_FLOAT.value : H5T_INTEGER.value,
    size: dtype.size,
    signed: dtype.kind === "int",
    ...rest(shape),
  });
  const rest = (shape: readonly number[]) => ({
    vlen: false,
    littleEndian: true,
    total_size: shape.reduce((product, length) => product * length, 1),
    shape: shape.map(BigInt),
    maxshape: shape.map(BigInt),
  });

  return library.writing(where, (file) =>
    fill({
      group: (path) => void module.create_group(file, path, false),
      attribute(path, name, { shape, dtype, values }) {
        if (dtype === undefined) {
          const metadata = { ...rest(shape), type: H5T_STRING.value, size: 4, signed: false, vlen: true, cset: 1 };
          module.create_vlen_str_attribute(file, path, name, values as readonly string[], metadata);
        } else
          withBytes(bytesOf(values as NumericArray), `${path}@${name}`, (pointer) =>
            module.create_attribute(file, path, name, pointer, typeOf(dtype, shape)),
          );
      },
      dataset(path, shape, dtype, values) {
        withBytes(bytesOf(values), path, (pointer) => module.create_dataset(file, path, pointer, typeOf(dtype, shape)));
      },
    }),
  );
}

const bytesOf = ({ buffer, byteOffset, byteLength }: NumericArray): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
