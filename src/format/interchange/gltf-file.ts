/**
 * The numbers that accessors of glTF name, read by ranges. Buffers are in the file, in its document as `data:`, or in files beside it.
 * Nothing else is fetched.
 */
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { Corrupt, LimitExceeded, NotFound, Unsupported } from "../../errors.js";
import { decodedCap, type Limits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { Key } from "../../store/key.js";
import { decodeBase64 } from "./base64.js";
import { type Accessor, COMPONENTS, type Rows, type ValuesOf, WIDTHS, withSparse } from "./gltf-accessor.js";
import type { GltfDocument, SizedFile } from "./gltf-document.js";

/** Bytes by their places. */
interface Buffer {
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** A stretch of a buffer. */
export interface View extends Buffer {
  readonly stride: number | undefined;
}

export class Gltf {
  readonly root: JsonObject;
  readonly where: string;
  readonly limits: Limits;
  /** Bytes of the file and those beside it. */
  size: number;
  #held = false;
  readonly #buffers: Buffer[] = [];
  readonly #accessors = new Map<Json | undefined, Promise<Accessor>>();

  private constructor({ root }: GltfDocument, { where, size }: SizedFile, limits: Limits) {
    this.root = root;
    this.where = where;
    this.size = size;
    this.limits = limits;
  }

  static async open(document: GltfDocument, file: SizedFile, limits: Limits, options: ReadOptions): Promise<Gltf> {
    const gltf = new Gltf(document, file, limits);
    for (let i = 0; i < gltf.list("buffers").length; i++)
      gltf.#buffers.push(await gltf.#buffer(i, document, file, options));
    return gltf;
  }

  /** Bytes that it may unpack to: in memory where it is held. */
  get cap(): number {
    return decodedCap(this.size, this.#held ? this.limits : { ...this.limits, chunkBytes: Number.POSITIVE_INFINITY });
  }

  /** Reads all buffers, for who holds them. */
  async hold(): Promise<void> {
    this.#held = true;
    for (const [i, { size, read }] of this.#buffers.entries()) this.#buffers[i] = inMemory(await read(0, size));
  }

  async #buffer(i: number, { binary, data }: GltfDocument, file: SizedFile, options: ReadOptions): Promise<Buffer> {
    const { where } = this;
    const own = this.item("buffers", i);
    const length = this.number(own.byteLength, "byteLength", 0);
    const { uri } = own;
    let buffer: Buffer | undefined =
      i === 0 && binary !== undefined
        ? { size: binary.length, read: (offset, size) => file.read(binary.offset + offset, size, options) }
        : undefined;
    if (typeof uri === "string") {
      const start = /^data:[^,]{0,100};base64,/.exec(uri)?.[0];
      const large = data[Number(/^data:;base64,#(\d{1,9})$/.exec(uri)?.[1] ?? -1)];
      if (large !== undefined) buffer = inBase64(large, file, options);
      else if (start !== undefined)
        buffer = inMemory(decodeBase64(encodeUtf8(uri.slice(start.length), where), where).bytes);
      else buffer = await this.#beside(uri, file, options);
    }
    if (buffer === undefined || buffer.size < length)
      throw new Corrupt(`${where}: buffer ${i} should have ${length} bytes, found ${buffer?.size ?? "none"}`, {
        where,
      });
    return buffer;
  }

  /** A file in the same folder, or below it. */
  async #beside(uri: string, { store, key, where }: SizedFile, { signal }: ReadOptions): Promise<Buffer> {
    const name = key.slice(0, key.lastIndexOf("/") + 1) + decoded(uri);
    if (/^[a-z][\w+.-]*:|^\//i.test(uri) || !Key.is(name))
      throw new Unsupported(
        `${where} has a buffer at ${JSON.stringify(uri.slice(0, 100))}, and only files beside it are read`,
        { where },
      );
    const missing = () => new NotFound(`${store.url}/${name}, a buffer of ${where}, is not there`, { where });
    const size = (await store.stat(name, { signal }))?.size;
    if (size === undefined) throw missing();
    this.size += size;
    return {
      size,
      async read(offset, length) {
        if (length === 0) return new Uint8Array();
        const bytes = await store.get(name, { range: { offset, length }, signal });
        if (bytes === undefined) throw missing();
        return bytes;
      },
    };
  }

  list(name: string): readonly Json[] {
    const value = this.root[name];
    return Array.isArray(value) ? value : [];
  }

  item(name: string, index: Json | undefined): JsonObject {
    const found = typeof index === "number" ? this.list(name)[index] : undefined;
    if (isJsonObject(found)) return found;
    const { where } = this;
    throw new Corrupt(`${where} has no ${name} ${String(index).slice(0, 40)}, of ${this.list(name).length}`, { where });
  }

  /** A whole number, not negative. */
  number(value: Json | undefined, what: string, absent?: number): number {
    const found = value ?? absent;
    if (typeof found === "number" && Number.isSafeInteger(found) && found >= 0) return found;
    throw new Corrupt(`${this.where} has the ${what} ${String(value).slice(0, 40)}`, { where: this.where });
  }

  view(index: Json | undefined): View {
    const { where } = this;
    const view = this.item("bufferViews", index);
    if (isJsonObject(view.extensions) && view.extensions.EXT_meshopt_compression !== undefined)
      throw new Unsupported(`${where} is packed with EXT_meshopt_compression`, { where });
    const buffer = this.#buffers[this.number(view.buffer, "buffer")];
    const [offset, length] = [
      this.number(view.byteOffset, "byteOffset", 0),
      this.number(view.byteLength, "byteLength"),
    ];
    if (buffer === undefined || offset + length > buffer.size)
      throw new Corrupt(
        `${where}: bufferView ${index} ends at byte ${offset + length} of a buffer of ${buffer?.size ?? 0}`,
        { where },
      );
    return {
      size: length,
      stride: view.byteStride === undefined ? undefined : this.number(view.byteStride, "byteStride"),
      read: (from, size) => buffer.read(offset + from, size),
    };
  }

  /** Looked at once, however many ask for it. */
  accessor(index: Json | undefined): Promise<Accessor> {
    let own = this.#accessors.get(index);
    if (own === undefined) {
      own = this.#accessor(index);
      this.#accessors.set(index, own);
    }
    return own;
  }

  async #accessor(index: Json | undefined): Promise<Accessor> {
    const { where } = this;
    const own = this.item("accessors", index);
    const Type = COMPONENTS.get(own.componentType);
    const channels = WIDTHS.get(String(own.type));
    const count = this.number(own.count, "count");
    if (Type === undefined || channels === undefined)
      throw new Unsupported(`${where}: accessor ${index} is ${own.type} of ${own.componentType}`, { where });
    if (count * channels * Type.BYTES_PER_ELEMENT > this.cap)
      throw new LimitExceeded(`${where}: accessor ${index} has ${count} rows`, { where });
    const rows = { channels, count, Type };
    const what = `accessor ${index}`;
    const plain =
      own.bufferView === undefined
        ? { ...rows, read: async (from: number, to: number) => new Type((to - from) * channels) }
        : this.#rows(own, rows, what);
    const normalized = own.normalized === true;
    if (own.sparse === undefined) return { ...plain, normalized };
    const { indices, values, count: some } = isJsonObject(own.sparse) ? own.sparse : {};
    const Places = isJsonObject(indices) ? COMPONENTS.get(indices.componentType) : undefined;
    if (!isJsonObject(indices) || !isJsonObject(values) || Places === undefined || /^(Int|F)/.test(Places.name))
      throw new Corrupt(`${where}: ${what} is sparse, and does not say where`, { where });
    const many = this.number(some, "count");
    const places = this.#rows(indices, { channels: 1, count: many, Type: Places }, `the places of ${what}`);
    const over = this.#rows(values, { channels, count: many, Type }, `the values of ${what}`);
    return { ...(await withSparse(plain, places, over, `${where}: ${what}`)), normalized };
  }

  /** Rows in a view that must hold all of them. */
  #rows(own: JsonObject, rows: Pick<Rows, "channels" | "count"> & { readonly Type: ValuesOf }, what: string): Rows {
    const { where } = this;
    const { channels, count, Type } = rows;
    const width = channels * Type.BYTES_PER_ELEMENT;
    const { size, read, stride = width } = this.view(own.bufferView);
    const start = this.number(own.byteOffset, "byteOffset", 0);
    const last = count === 0 ? start : start + (count - 1) * stride + width;
    if (last > size || stride < width)
      throw new Corrupt(`${where}: ${what} ends at byte ${last} of a view of ${size}`, { where });
    return {
      ...rows,
      async read(from, to) {
        const packed = new Uint8Array((to - from) * width);
        if (packed.length === 0) return new Type(packed.buffer);
        const bytes = await read(start + from * stride, (to - from - 1) * stride + width);
        if (bytes.length < (to - from - 1) * stride + width)
          throw new Corrupt(`${where}: ${what} is no longer all there`, { where });
        if (stride === width) packed.set(bytes);
        else for (let i = 0; i < to - from; i++) packed.set(bytes.subarray(i * stride, i * stride + width), i * width);
        return new Type(packed.buffer);
      },
    };
  }
}

/** Without %20; where that means nothing, as it is. */
function decoded(uri: string): string {
  try {
    return decodeURI(uri);
  } catch {
    return uri;
  }
}

const inMemory = (bytes: Uint8Array): Buffer => ({
  size: bytes.length,
  read: async (offset, length) => bytes.subarray(offset, offset + length),
});

/** Characters of base64 by the places of the bytes that they stand for. */
const inBase64 = ({ offset, length, bytes }: GltfDocument["data"][number], file: SizedFile, options: ReadOptions) => ({
  size: bytes,
  async read(from: number, size: number): Promise<Uint8Array> {
    const first = Math.floor(from / 3);
    const end = Math.min(length, 4 * Math.ceil((from + size) / 3));
    const text = await file.read(offset + 4 * first, end - 4 * first, options);
    return decodeBase64(text, file.where).bytes.subarray(from - 3 * first, from - 3 * first + size);
  },
});
