/**
 * The document of glTF 2.0, which is held, and where the numbers are, which need not be.
 *
 * | bytes of .glb | what                                                          |
 * |---------------|---------------------------------------------------------------|
 * | 12            | "glTF", u32 version 2, u32 length of all                      |
 * | 8 + n         | u32 n, "JSON", the document                                   |
 * | 8 + n         | u32 n, "BIN\0": buffer 0, where it has no uri                 |
 *
 * Of .gltf the document is all. Large data in base64 stay where they are: in their place stands "data:;base64,#N", which no base64 is.
 */
import { concat } from "../../bytes/concat.js";
import { isJsonObject, type JsonObject, parseJson } from "../../bytes/json.js";
import { Reader } from "../../bytes/reader.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import { Base64Decoder } from "./base64.js";
import { exactly, type InputFile, passingRoom, type Range, rangeOf } from "./file.js";
import type { OpenFileOptions } from "./types.js";

export type SizedFile = InputFile & { readonly size: number };

export interface GltfDocument {
  readonly root: JsonObject;
  /** The numbers of a .glb. */
  readonly binary: Range | undefined;
  /** The characters of large data, and how many bytes they stand for. */
  readonly data: readonly (Range & { readonly bytes: number })[];
}

/** `refusal`: what is said of documents that are too large, where the file is not held. */
export async function readDocument(
  file: SizedFile,
  options: OpenFileOptions,
  refusal: Unsupported | undefined,
): Promise<GltfDocument> {
  const { where, size } = file;
  let [text, binary]: [Range, Range | undefined] = [{ offset: 0, length: size }, undefined];
  const start = await file.read(0, 12, options);
  if (new TextDecoder("latin1").decode(start.subarray(0, 4)) === "glTF") {
    const reader = new Reader(start, where);
    reader.skip(4);
    const [version, length] = [reader.u32(), reader.u32()];
    if (version !== 2) throw new Unsupported(`${where} is glTF ${version}, and 2 is read`, { where });
    if (length !== size) throw new Corrupt(`${where} has ${size} bytes, and says that it has ${length}`, { where });
    text = await chunkAt(file, 12, 0x4e4f534a, options);
    const end = text.offset + text.length;
    if (end < size) binary = await chunkAt(file, end, 0x004e4942, options);
  }
  const most = refusal === undefined ? Number.POSITIVE_INFINITY : passingRoom(options);
  const finder = new DataFinder(where, text.offset);
  for await (const bytes of rangeOf(file, text, options)) {
    finder.take(bytes);
    if (finder.size > most) throw refusal;
  }
  const { document, data } = finder.end();
  if (document.length > most) throw refusal;
  const root = parseJson(document, withLimits(options.limits), where);
  if (!isJsonObject(root)) throw new Corrupt(`${where} is no object of JSON`, { where });
  return { root, binary, data };
}

async function chunkAt(file: SizedFile, at: number, kind: number, options: OpenFileOptions): Promise<Range> {
  const { where, size } = file;
  const reader = new Reader(await exactly(file, at, 8, "the head of a chunk", options), where);
  const [length, found] = [reader.u32(), reader.u32()];
  if (found !== kind)
    throw new Corrupt(`${where} has a chunk of kind 0x${found.toString(16)} at byte ${at + 4}`, { where });
  if (length > size - at - 8)
    throw new Corrupt(`${where} ends at byte ${size}, within a chunk, which needs ${at + 8 + length}`, { where });
  return { offset: at + 8, length };
}

const LARGE = 1 << 16; // characters of data that need not go through the parser of documents, which holds texts of some size
const START = encodeUtf8("data:", "the beginning of data");
const [QUOTE, ESCAPE] = [0x22, 0x5c];

/** Finds large data in a document that comes piece by piece. */
class DataFinder {
  /** Bytes that are kept. */
  size = 0;
  readonly #where: string;
  readonly #kept: Uint8Array[] = [];
  readonly #data: (Range & { readonly bytes: number })[] = [];
  #rest: Uint8Array = new Uint8Array();
  /** Where the rest begins in the file. */
  #offset: number;
  #inside: { readonly decoder: Base64Decoder; readonly offset: number; bytes: number } | undefined;

  constructor(where: string, offset: number) {
    this.#where = where;
    this.#offset = offset;
  }

  take(bytes: Uint8Array, last = false): void {
    const all = this.#rest.length === 0 ? bytes : concat([this.#rest, bytes]);
    let [at, from] = [0, 0];
    while (at < all.length) {
      if (this.#inside !== undefined) {
        at = from = this.#pass(all, at);
        continue;
      }
      const quote = all.indexOf(QUOTE, at);
      if (quote < 0) at = all.length;
      else if (quote + LARGE >= all.length && !last) {
        at = quote; // what follows may be large
        break;
      } else at = this.#begin(all, quote, from);
      if (this.#inside !== undefined) from = at;
    }
    this.#keep(all.slice(from, at));
    this.#rest = all.slice(at);
    this.#offset += at;
  }

  end(): Pick<GltfDocument, "data"> & { readonly document: Uint8Array } {
    this.take(new Uint8Array(), true);
    if (this.#inside !== undefined) this.#finish(this.#offset); // the parser says that a quote is missing
    return { document: concat(this.#kept), data: this.#data };
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#kept.push(bytes);
    this.size += bytes.length;
  }

  /** The quote may be that of large data: then what is before them is kept, and they begin where this says. */
  #begin(all: Uint8Array, quote: number, from: number): number {
    if (START.some((code, i) => all[quote + 1 + i] !== code) || this.#escaped(all, quote, from)) return quote + 1;
    const start = new TextDecoder().decode(all.subarray(quote + 1, quote + 128));
    const head = /^data:[^,"\\]{0,100};base64,/.exec(start)?.[0];
    const end = all.indexOf(QUOTE, quote + 1);
    if (head === undefined || (end >= 0 && end - quote < LARGE) || all.length - quote < LARGE) return quote + 1;
    this.#keep(all.slice(from, quote + 1));
    this.#keep(encodeUtf8(`data:;base64,#${this.#data.length}`, "a place"));
    const at = quote + 1 + head.length;
    const decoder = new Base64Decoder(this.#where);
    this.#inside = { decoder, offset: this.#offset + at, bytes: 0 };
    return at;
  }

  #escaped(all: Uint8Array, quote: number, from: number): boolean {
    return (quote > from ? all[quote - 1] : this.#kept.at(-1)?.at(-1)) === ESCAPE;
  }

  /** Past characters of data. */
  #pass(all: Uint8Array, at: number): number {
    const quote = all.indexOf(QUOTE, at);
    const end = quote < 0 ? all.length : quote;
    const own = this.#inside!;
    own.bytes += own.decoder.push(all.subarray(at, end)).bytes.length;
    if (quote >= 0) this.#finish(this.#offset + end);
    return end;
  }

  /** Data end here: characters must stand for bytes by their places. */
  #finish(end: number): void {
    const { decoder, offset, bytes } = this.#inside!;
    const length = end - offset;
    decoder.end();
    if (length !== 4 * Math.ceil(bytes / 3))
      throw new Corrupt(`${this.#where} has blanks in base64, or something after its end`, { where: this.#where });
    this.#data.push({ offset, length, bytes });
    this.#inside = undefined;
  }
}
