/**
 * glTF 2.0 as a file: its JSON, and the numbers that accessors name in it.
 *
 * | bytes of .glb | what                                                          |
 * |---------------|---------------------------------------------------------------|
 * | 12            | "glTF", u32 version 2, u32 length of all                      |
 * | 8 + n         | u32 n, "JSON", the document                                   |
 * | 8 + n         | u32 n, "BIN\0": buffer 0, where it has no uri                 |
 *
 * Of .gltf the document is all, and buffers are `data:` in it or files beside it. Nothing else is fetched.
 */
import { concat } from "../../bytes/concat.js";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../bytes/json.js";
import { Reader } from "../../bytes/reader.js";
import { encodeUtf8 } from "../../bytes/text.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt, LimitExceeded, NotFound, Unsupported } from "../../errors.js";
import { decodedCap, type Limits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { Key } from "../../store/key.js";
import { decodeBase64 } from "./base64.js";
import type { InputFile } from "./file.js";

type Values = Exclude<NumericArray, BigInt64Array | BigUint64Array>;
type ValuesOf = { readonly BYTES_PER_ELEMENT: number; new (from: ArrayBuffer | number): Values };

/** By componentType. */
const COMPONENTS = new Map<Json | undefined, ValuesOf>([
  [5120, Int8Array],
  [5121, Uint8Array],
  [5122, Int16Array],
  [5123, Uint16Array],
  [5125, Uint32Array],
  [5126, Float32Array],
]);
const WIDTHS = new Map([
  ["SCALAR", 1],
  ["VEC2", 2],
  ["VEC3", 3],
  ["VEC4", 4],
  ["MAT4", 16],
]);

export interface Accessor {
  readonly values: Values;
  readonly channels: number;
  readonly count: number;
  /** Whole numbers that stand for 0 to 1, or −1 to 1. */
  readonly normalized: boolean;
}

export class Gltf {
  readonly root: JsonObject;
  readonly where: string;
  readonly limits: Limits;
  readonly cap: number;
  readonly #buffers: (Uint8Array | undefined)[] = [];

  constructor(root: JsonObject, where: string, limits: Limits, cap: number) {
    this.root = root;
    this.where = where;
    this.limits = limits;
    this.cap = cap;
  }

  static async open(bytes: Uint8Array, file: InputFile, limits: Limits, options: ReadOptions): Promise<Gltf> {
    const { where } = file;
    let [document, binary]: [Uint8Array, Uint8Array | undefined] = [bytes, undefined];
    if (new TextDecoder("latin1").decode(bytes.subarray(0, 4)) === "glTF") {
      const reader = new Reader(bytes, where);
      reader.skip(4);
      const [version, length] = [reader.u32(), reader.u32()];
      if (version !== 2) throw new Unsupported(`${where} is glTF ${version}, and 2 is read`, { where });
      if (length !== bytes.length)
        throw new Corrupt(`${where} has ${bytes.length} bytes, and says that it has ${length}`, { where });
      const chunk = (kind: number): Uint8Array => {
        const [size, found] = [reader.u32(), reader.u32()];
        if (found !== kind)
          throw new Corrupt(`${where} has a chunk of kind 0x${found.toString(16)} at byte ${reader.offset - 4}`, {
            where,
          });
        return reader.bytes(size);
      };
      document = chunk(0x4e4f534a);
      if (reader.remaining > 0) binary = chunk(0x004e4942);
    }
    const large = withoutData(document);
    const root = parseJson(large.document, limits, where);
    if (!isJsonObject(root)) throw new Corrupt(`${where} is no object of JSON`, { where });
    const gltf = new Gltf(root, where, limits, decodedCap(bytes.length, limits));
    for (let i = 0; i < gltf.list("buffers").length; i++)
      gltf.#buffers.push(await gltf.#buffer(i, binary, large.data, file, options));
    return gltf;
  }

  async #buffer(
    i: number,
    binary: Uint8Array | undefined,
    large: readonly Uint8Array[],
    file: InputFile,
    options: ReadOptions,
  ): Promise<Uint8Array> {
    const { where } = this;
    const buffer = this.item("buffers", i);
    const length = this.number(buffer.byteLength, "byteLength", 0);
    const { uri } = buffer;
    let bytes = i === 0 ? binary : undefined;
    if (typeof uri === "string") {
      const data = /^data:[^,]{0,100};base64,/.exec(uri);
      const aside = /^data:;base64,#(\d+)$/.exec(uri)?.[1];
      if (aside !== undefined && large[+aside] !== undefined) bytes = decodeBase64(large[+aside]!, where).bytes;
      else if (data !== null) bytes = decodeBase64(encodeUtf8(uri.slice(data[0].length), where), where).bytes;
      else bytes = await this.#beside(uri, file, options);
    }
    if (bytes === undefined || bytes.length < length)
      throw new Corrupt(`${where}: buffer ${i} should have ${length} bytes, found ${bytes?.length ?? "none"}`, {
        where,
      });
    return bytes;
  }

  /** A file in the same folder, or below it. */
  async #beside(uri: string, { store, key, where }: InputFile, { signal }: ReadOptions): Promise<Uint8Array> {
    const name = key.slice(0, key.lastIndexOf("/") + 1) + (/%(?![\da-f]{2})/i.test(uri) ? uri : decodeURI(uri));
    if (/^[a-z][\w+.-]*:|^\//i.test(uri) || !Key.is(name))
      throw new Unsupported(
        `${where} has a buffer at ${JSON.stringify(uri.slice(0, 100))}, and only files beside it are read`,
        { where },
      );
    const size = (await store.stat(name, { signal }))?.size;
    if (size === undefined) throw new NotFound(`${store.url}/${name}, a buffer of ${where}, is not there`, { where });
    if (size > this.limits.resultBytes) throw new LimitExceeded(`${store.url}/${name} has ${size} bytes`, { where });
    return (await store.get(name, { signal }))!;
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

  view(index: Json | undefined): { readonly bytes: Uint8Array; readonly stride: number | undefined } {
    const view = this.item("bufferViews", index);
    if (isJsonObject(view.extensions) && view.extensions.EXT_meshopt_compression !== undefined)
      throw new Unsupported(`${this.where} is packed with EXT_meshopt_compression`, { where: this.where });
    const buffer = this.#buffers[this.number(view.buffer, "buffer")];
    const [offset, length] = [
      this.number(view.byteOffset, "byteOffset", 0),
      this.number(view.byteLength, "byteLength"),
    ];
    if (buffer === undefined || offset + length > buffer.length)
      throw new Corrupt(
        `${this.where}: bufferView ${index} ends at byte ${offset + length} of a buffer of ${buffer?.length ?? 0}`,
        { where: this.where },
      );
    const stride = view.byteStride === undefined ? undefined : this.number(view.byteStride, "byteStride");
    return { bytes: buffer.subarray(offset, offset + length), stride };
  }

  accessor(index: Json | undefined): Accessor {
    const { where } = this;
    const accessor = this.item("accessors", index);
    const View = COMPONENTS.get(accessor.componentType);
    const channels = WIDTHS.get(String(accessor.type));
    const count = this.number(accessor.count, "count");
    if (View === undefined || channels === undefined)
      throw new Unsupported(`${where}: accessor ${index} is ${accessor.type} of ${accessor.componentType}`, { where });
    if (accessor.sparse !== undefined) throw new Unsupported(`${where}: accessor ${index} is sparse`, { where });
    const unit = View.BYTES_PER_ELEMENT;
    if (count * channels * unit > this.cap)
      throw new LimitExceeded(`${where}: accessor ${index} has ${count} rows`, { where });
    const normalized = accessor.normalized === true;
    if (accessor.bufferView === undefined) return { values: new View(count * channels), channels, count, normalized };
    const { bytes, stride = channels * unit } = this.view(accessor.bufferView);
    const from = this.number(accessor.byteOffset, "byteOffset", 0);
    const last = count === 0 ? from : from + (count - 1) * stride + channels * unit;
    if (last > bytes.length || stride < channels * unit)
      throw new Corrupt(`${where}: accessor ${index} ends at byte ${last} of a view of ${bytes.length}`, { where });
    const packed = new Uint8Array(count * channels * unit);
    if (stride === channels * unit) packed.set(bytes.subarray(from, last));
    else
      for (let i = 0; i < count; i++)
        packed.set(bytes.subarray(from + i * stride, from + i * stride + channels * unit), i * channels * unit);
    return { values: new View(packed.buffer), channels, count, normalized };
  }
}

const LARGE = 1 << 16; // characters of data that need not go through the parser of documents, which holds texts of some size
const START = encodeUtf8("data:", "the beginning of data");

/** The document with large data in base64 put aside: in their place stands "data:;base64,#N", which no base64 is. */
function withoutData(bytes: Uint8Array): { readonly document: Uint8Array; readonly data: readonly Uint8Array[] } {
  const [kept, data]: [Uint8Array[], Uint8Array[]] = [[], []];
  let done = 0;
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    if (START.some((code, i) => bytes[at + 1 + i] !== code)) continue;
    const head = /^data:[^,"\\]{0,100};base64,/.exec(new TextDecoder().decode(bytes.subarray(at + 1, at + 128)))?.[0];
    const end = bytes.indexOf(QUOTE, at + 1);
    if (head === undefined || bytes[at - 1] === ESCAPE || end - at < LARGE) continue;
    kept.push(bytes.subarray(done, at + 1), encodeUtf8(`data:;base64,#${data.length}`, "a place"));
    data.push(bytes.subarray(at + 1 + head.length, end));
    done = end;
    at = end;
  }
  return data.length === 0 ? { document: bytes, data } : { document: concat([...kept, bytes.subarray(done)]), data };
}

const [QUOTE, ESCAPE] = [0x22, 0x5c];
