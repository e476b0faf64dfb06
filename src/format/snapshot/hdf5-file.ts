/**
 * An HDF5 file as a tree of groups and datasets with attributes, strictly: what is asked for is there as a plain object of this file,
 * or absent, or an error that names the file. Links of all kinds are named, never followed. Datasets are read by rows, at most
 * 64 MB at once.
 *
 * | HDF5                                   | here                                             |
 * |----------------------------------------|--------------------------------------------------|
 * | integers of 1, 2, 4, 8 bytes           | typed arrays of the same                         |
 * | floats of 2, 4, 8 bytes                | typed arrays of the same, the bits of float16    |
 * | enumerations FALSE, TRUE (h5py's bool) | 0 and 1                                          |
 * | strings, as attributes                 | strings                                          |
 * | anything else                          | Unsupported as a dataset, undefined as attribute |
 */
import type { DataType } from "../../bytes/dtype.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt, LimitExceeded, NotFound, Unsupported } from "../../errors.js";
import { typed } from "../../model/elements.js";
import type { H5Module } from "./hdf5-instance.js";
import type { Hdf5Library, RandomBytes } from "./hdf5-library.js";
import { type ElementBits, readBits } from "./hdf5-type.js";

/** The most that one read of a dataset gives. */
export const SLAB_BYTES = 64 << 20;
/** A chunk is unpacked whole, in the 2 GB that the library has. */
const CHUNK_BYTES = 512 << 20;
const ATTRIBUTE_BYTES = 1 << 20;

export type Numeric = Extract<DataType, { kind: "int" | "uint" | "float" | "bool" }>;
/** What an attribute holds: one value, or a list where it has a shape. */
export type Hdf5Value = string | number | bigint | readonly (string | number | bigint)[];

/** An attribute as it is stored. */
export interface Hdf5Attribute {
  readonly shape: readonly number[];
  /** undefined: text. */
  readonly dtype: Numeric | undefined;
  readonly values: NumericArray | readonly string[];
}

/** What is known of a dataset. */
export interface Hdf5Dataset {
  readonly path: string;
  readonly shape: readonly number[];
  readonly dtype: Numeric;
  /** Rows of one chunk, where it is stored in chunks. */
  readonly chunkRows: number | undefined;
}

/** An open file. */
export interface Hdf5File {
  readonly where: string;
  /** What is at a path; "link" is a soft or external one, or a user's own kind. */
  kindOf(path: string): "group" | "dataset" | "type" | "link" | undefined;
  /** The names in a group. */
  names(path: string): readonly string[];
  /** The attributes of an object, without those of a kind that has no value here. */
  attributes(path: string): ReadonlyMap<string, Hdf5Value>;
  /** The same as they are stored. */
  stored(path: string): ReadonlyMap<string, Hdf5Attribute>;
  /** The dataset at a path; undefined where there is nothing. */
  dataset(path: string): Hdf5Dataset | undefined;
  /** Rows of a dataset, all of each. */
  rows(dataset: Hdf5Dataset, first: number, count: number): NumericArray;
}

type Metadata = ReturnType<H5Module["get_dataset_metadata"]>;

/** Opens a file for as long as `work` takes. */
export function readHdf5<T>(library: Hdf5Library, where: string, bytes: RandomBytes, work: (file: Hdf5File) => T): T {
  return library.reading(where, bytes, (id) => work(openFile(library, where, bytes, id)));
}

function openFile(library: Hdf5Library, where: string, bytes: RandomBytes, id: bigint): Hdf5File {
  const { module } = library;
  const call = <R>(doing: string, work: () => R): R => library.call(where, doing, work);

  /** Every step of a path is looked at before it is taken. */
  function kindOf(path: string): ReturnType<Hdf5File["kindOf"]> {
    const names = path.split("/").filter(Boolean);
    let at = "";
    let kind: ReturnType<Hdf5File["kindOf"]> = "group";
    for (const name of names) {
      if (kind !== "group" || !list(at).has(name)) return undefined;
      at += `/${name}`;
      kind = kindAt(at);
      if (kind === "link") break;
    }
    return kind;
  }

  function kindAt(path: string): ReturnType<Hdf5File["kindOf"]> {
    return call(`has no readable object ${path}`, () => {
      const link = linkAt(path);
      if (link !== undefined) return "link";
      const type = module.get_type(id, path);
      if (type === module.H5G_GROUP) return "group";
      if (type === module.H5G_DATASET) return "dataset";
      if (type === module.H5G_TYPE) return "type";
      throw new Corrupt(`${where} has at ${path} an object of kind ${type}, which HDF5 does not have`, { where });
    });
  }

  /** Where a link leads, in words. */
  function linkAt(path: string): string | undefined {
    const { filename, obj_path } = module.get_external_link(id, path);
    if (filename !== undefined) return `${obj_path} of the file ${filename}`;
    return module.get_symbolic_link(id, path) ?? undefined;
  }

  const listed = new Map<string, ReadonlySet<string>>();
  function list(path: string): ReadonlySet<string> {
    const known = listed.get(path);
    if (known !== undefined) return known;
    const names = new Set(call(`has no readable group ${path || "/"}`, () => module.get_names(id, path || "/", false)));
    listed.set(path, names);
    return names;
  }

  /** The kind of what must not be a link. */
  function plain(path: string): "group" | "dataset" | "type" | undefined {
    const kind = kindOf(path);
    if (kind !== "link") return kind;
    const parts = path.split("/").filter(Boolean);
    const steps = parts.map((_, i) => `/${parts.slice(0, i + 1).join("/")}`);
    const step = steps.find((own) => kindOf(own) === "link")!;
    const to = call(`has no readable link ${step}`, () => linkAt(step));
    throw new Unsupported(`${where} has at ${step} a link to ${to}, and links are not followed`, { where });
  }

  function attribute(path: string, name: string): Hdf5Attribute | undefined {
    const what = `attribute ${name} of ${path}`;
    const metadata = call(`has no readable ${what}`, () => module.get_attribute_metadata(id, path, name));
    const { shape, size, total_size, vlen, type } = metadata;
    const isText = type === module.H5T_class_t.H5T_STRING.value;
    const dtype = isText ? undefined : numericOf(module, metadata);
    if (shape === null || (!isText && dtype === undefined)) return undefined;
    const bytes = size * total_size;
    if (!(bytes <= ATTRIBUTE_BYTES))
      throw new LimitExceeded(`the ${what} in ${where} has ${bytes} bytes; ${ATTRIBUTE_BYTES} are read at most`, {
        where,
      });
    const values = library.withMemory(bytes, where, what, (pointer) => {
      call(`has no readable ${what}`, () => module.get_attribute_data(id, path, name, BigInt(pointer)));
      const data = module.HEAPU8.slice(pointer, pointer + bytes);
      if (dtype !== undefined) return typed({ shape, dtype, data });
      if (!vlen) return Array.from({ length: total_size }, (_, i) => textOf(data.subarray(i * size, (i + 1) * size)));
      const texts = Array.from(new Uint32Array(data.buffer), (at) => (at === 0 ? "" : module.UTF8ToString(at)));
      module.reclaim_vlen_memory(id, path, name, BigInt(pointer));
      return texts;
    });
    return { shape, dtype, values };
  }

  function stored(path: string): ReadonlyMap<string, Hdf5Attribute> {
    if (plain(path) === undefined) throw new NotFound(`${where} has no ${path}`, { where });
    const names = call(`has no readable attributes of ${path}`, () => module.get_attribute_names(id, path));
    return new Map(
      names.flatMap((name) => {
        const found = attribute(path, name);
        return found === undefined ? [] : [[name, found] as const];
      }),
    );
  }

  return {
    where,
    kindOf,
    names: (path) => (plain(path) === "group" ? [...list(path.replace(/\/$/, ""))] : []),
    stored,
    attributes: (path) => new Map([...stored(path)].map(([name, own]) => [name, plainOf(own)])),
    dataset(path) {
      const kind = plain(path);
      if (kind === undefined) return undefined;
      if (kind !== "dataset")
        throw new Corrupt(`${where} should have a dataset at ${path}, found a ${kind}`, { where });
      const metadata = call(`has no readable dataset ${path}`, () => module.get_dataset_metadata(id, path));
      const filters = call(`has no readable dataset ${path}`, () => module.get_dataset_filters(id, path));
      const described = describe(module, where, path, metadata, filters);
      const header = call(`has no readable dataset ${path}`, () => module.create_object_reference(id, path));
      const address = Number(header.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n));
      checkBits(readBits(bytes, address, `${path} of ${where}`), described, filters, where);
      return described;
    },
    rows({ path, shape, dtype }, first, count) {
      const [rows = 0, ...rest] = shape;
      const bytes = rest.reduce((product, length) => product * length, count * dtype.size);
      if (!(first >= 0 && count >= 0 && first + count <= rows))
        throw new Corrupt(`${where} should have the rows ${first} up to ${first + count} of ${path}, found ${rows}`, {
          where,
        });
      if (bytes > SLAB_BYTES)
        throw new LimitExceeded(
          `${count} rows of ${path} in ${where} have ${bytes} bytes; at most ${SLAB_BYTES} are read at once`,
          { where },
        );
      return library.withMemory(bytes, where, path, (pointer) => {
        if (bytes > 0)
          call(`has no readable rows ${first} up to ${first + count} of ${path}`, () =>
            module.get_dataset_data(
              id,
              path,
              [count, ...rest].map(BigInt),
              [first, ...rest.map(() => 0)].map(BigInt),
              shape.map(() => 1n),
              BigInt(pointer),
            ),
          );
        return typed({ shape, dtype, data: module.HEAPU8.slice(pointer, pointer + bytes) });
      });
    },
  };
}

function describe(
  module: H5Module,
  where: string,
  path: string,
  metadata: Metadata,
  filters: readonly Filter[],
): Hdf5Dataset {
  const { shape, chunks, virtual_sources } = metadata;
  if (virtual_sources !== undefined)
    throw new Unsupported(
      `${path} of ${where} is virtual: its data are in ${virtual_sources[0]?.file_name ?? "other files"}, which is not read`,
      { where, hint: "Open the files that it names, one by one or, of a snapshot, by the first of them." },
    );
  const dtype = numericOf(module, metadata);
  if (dtype === undefined || shape === null)
    throw new Unsupported(`${path} of ${where} has elements that are not plain numbers`, { where });
  const filter = filters.find(({ id }) => !KNOWN.has(id));
  if (filter !== undefined)
    throw new Unsupported(
      `${path} of ${where} went through the filter "${filter.name}" (${filter.id}), which is not known`,
      {
        where,
      },
    );
  const chunk = chunks?.reduce((product, length) => product * length, dtype.size) ?? 0;
  if (chunk > CHUNK_BYTES)
    throw new LimitExceeded(`${path} of ${where} has chunks of ${chunk} bytes; ${CHUNK_BYTES} are read at most`, {
      where,
    });
  if (!shape.every(Number.isSafeInteger))
    throw new Corrupt(`${path} of ${where} has a shape of ${shape.join(" × ")}`, { where });
  return { path, shape, dtype, chunkRows: chunks?.[0] };
}

/** What a filter that is not known here has left: its number, and its parameters. */
type Filter = ReturnType<H5Module["get_dataset_filters"]>[number];

const NBIT = 5;
const KNOWN = new Set([1, 2, 3, NBIT, 6]); // deflate, shuffle, Fletcher's checksum, n-bit, scale and offset

/**
 * The library hands out elements as they are stored. That is their value where all bits mean something, and of integers without a sign
 * that begin with the first bit and went through n-bit, which leaves zeros for the others.
 */
function checkBits(
  bits: ElementBits | undefined,
  { path, dtype }: Hdf5Dataset,
  filters: readonly Filter[],
  where: string,
) {
  const whole = bits?.size === dtype.size && bits.ieee && bits.offset === 0;
  if (whole && bits.precision === 8 * dtype.size) return;
  if (whole && dtype.kind === "uint" && filters.some(({ id }) => id === NBIT)) return;
  const found = bits === undefined ? "no number" : `${bits.precision} bits from bit ${bits.offset} on`;
  throw new Unsupported(
    `${path} of ${where} should be ${dtype.kind}${8 * dtype.size} as machines have it, found ${found}${bits?.ieee === false ? ", a float that is not IEEE 754's" : ""}`,
    { where },
  );
}

/** The type of numbers; undefined for everything else. */
function numericOf({ H5T_class_t: kinds }: H5Module, metadata: Metadata): Numeric | undefined {
  const { type, size, signed, enum_type } = metadata;
  const whole = size === 1 || size === 2 || size === 4 || size === 8;
  if (type === kinds.H5T_INTEGER.value && whole) return { kind: signed ? "int" : "uint", size, endian: "little" };
  if (type === kinds.H5T_FLOAT.value && whole && size !== 1) return { kind: "float", size, endian: "little" };
  if (type !== kinds.H5T_ENUM.value || size !== 1) return undefined;
  const { FALSE, TRUE } = enum_type?.members ?? {};
  return enum_type?.nmembers === 2 && FALSE === 0 && TRUE === 1 ? { kind: "bool", size: 1 } : undefined;
}

function plainOf({ shape, values }: Hdf5Attribute): Hdf5Value {
  const list = Array.from(values as ArrayLike<string | number | bigint>);
  return shape.length === 0 ? list[0]! : list;
}

/** A string of fixed size: up to its first zero, without blanks that fill it up. */
function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)).trimEnd();
}
