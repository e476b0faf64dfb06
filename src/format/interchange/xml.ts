/**
 * XML as far as files of data use it: elements, attributes, text. Bytes go in piece by piece, events come out.
 *
 * | markup                        | here                                                                              |
 * |-------------------------------|-----------------------------------------------------------------------------------|
 * | `<a b="c">` `</a>` `<a/>`     | open, close; of the last both                                                     |
 * | text, `<![CDATA[…]]>`         | text, maybe in several pieces                                                     |
 * | `&lt;` `&gt;` `&amp;` `&quot;` `&apos;` `&#9;` `&#x9;` | the character; any other entity is Corrupt               |
 * | `<?…?>`, `<!--…-->`           | passed over; an encoding that is not UTF-8 is Unsupported                         |
 * | `<!DOCTYPE …>`                | passed over, nothing is fetched; one that declares something is Unsupported       |
 *
 * Strict: one root, tags nest, attributes are quoted and occur once. Nothing is looked up anywhere, and nothing grows by being read.
 */
import { concat } from "../../bytes/concat.js";
import { decodeUtf8 } from "../../bytes/text.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";

export type XmlEvent =
  | { readonly kind: "open"; readonly name: string; readonly attributes: ReadonlyMap<string, string> }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "close"; readonly name: string };

const [LESS, GREATER, BANG, SLASH, QUESTION] = [0x3c, 0x3e, 0x21, 0x2f, 0x3f];
const NAME = /^[\p{L}_:][\p{L}\p{N}_:.\u00b7-]*/u;
const ATTRIBUTE = /^\s+([\p{L}_:][\p{L}\p{N}_:.\u00b7-]*)\s*=\s*("[^"<]*"|'[^'<]*')/u;
const NONE: ReadonlyMap<string, string> = new Map();

export class XmlReader {
  /** The bytes before those that the next event is made of. */
  offset = 0;
  /** Where the last event begins. */
  start = 0;
  /** Text is passed over, as it comes: who wants it knows where it is. */
  skipsText = false;
  readonly where: string;
  readonly #limits: Limits;
  readonly #open: string[] = [];
  #rest: Uint8Array = new Uint8Array();
  #rooted = false;

  constructor(where: string, limits?: Partial<Limits>) {
    this.where = where;
    this.#limits = withLimits(limits);
  }

  /** The events that these bytes complete. Who stops asking finds in `offset` the byte after the last event. */
  *push(bytes: Uint8Array): Generator<XmlEvent> {
    const all = this.#rest.length === 0 ? bytes : concat([this.#rest, bytes]);
    let at = 0;
    this.#rest = new Uint8Array();
    const base = this.offset;
    if (base === 0 && all[0] === 0xef && all[1] === 0xbb && all[2] === 0xbf) at = 3;
    while (at < all.length) {
      const markup = all[at] === LESS;
      const end = markup ? this.#markupEnd(all, at) : this.skipsText ? nextMarkup(all, at) : textEnd(all, at);
      if (end < 0) break;
      const piece = all.subarray(at, end);
      this.start = base + at;
      this.offset = base + end;
      at = end;
      if (markup) yield* this.#markup(piece);
      else if (!this.skipsText) yield* this.#text(piece);
    }
    this.#rest = all.slice(at);
    if (this.#rest.length > this.#limits.chunkBytes)
      throw new LimitExceeded(`${this.where}: what begins at byte ${this.offset} has more than limits.chunkBytes`);
  }

  /** Nothing more comes: everything must be closed. */
  *end(): Generator<XmlEvent> {
    if (this.#rest[0] === LESS) throw this.corrupt("the file ends within a tag");
    yield* this.#text(this.#rest);
    const last = this.#open.at(-1);
    if (last !== undefined) throw this.corrupt(`the file ends within <${last}>`);
    if (!this.#rooted) throw this.corrupt("the file has no element");
  }

  /** An error about where the reader is. */
  corrupt(message: string): Corrupt {
    return new Corrupt(`${this.where}, byte ${this.offset}: ${message}`, { where: this.where });
  }

  *#text(bytes: Uint8Array): Generator<XmlEvent> {
    const text = this.#characters(decodeUtf8(bytes, this.where));
    if (this.#open.length > 0) {
      if (text !== "") yield { kind: "text", text };
    } else if (/\S/.test(text)) throw this.corrupt("text outside of the root element");
  }

  *#markup(bytes: Uint8Array): Generator<XmlEvent> {
    const tag = decodeUtf8(bytes, this.where);
    if (bytes[1] === QUESTION) {
      const encoding = /^<\?xml\s[^>]*encoding\s*=\s*["']([^"']*)/.exec(tag)?.[1];
      if (encoding !== undefined && !/^(utf-?8|us-ascii|ascii)$/i.test(encoding))
        throw new Unsupported(`${this.where} is XML in ${encoding}, and only UTF-8 is read`, { where: this.where });
    } else if (bytes[1] === BANG) yield* this.#declaration(tag);
    else if (bytes[1] === SLASH) {
      const name = /^<\/([^\s>]+)\s*>$/.exec(tag)?.[1];
      const open = this.#open.pop();
      if (open !== name || name === undefined)
        throw this.corrupt(
          `${tag.slice(0, 60)} where ${open === undefined ? "nothing is open" : `</${open}> belongs`}`,
        );
      yield { kind: "close", name };
    } else yield* this.#element(tag);
  }

  *#declaration(tag: string): Generator<XmlEvent> {
    if (tag.startsWith("<![CDATA[")) {
      if (this.#open.length === 0) throw this.corrupt("text outside of the root element");
      yield { kind: "text", text: tag.slice(9, -3) };
    } else if (tag.startsWith("<!DOCTYPE")) {
      if (this.#rooted) throw this.corrupt("<!DOCTYPE after the root element");
    } else if (!tag.startsWith("<!--")) throw this.corrupt(`${tag.slice(0, 40)} is no markup`);
  }

  *#element(tag: string): Generator<XmlEvent> {
    const empty = tag.endsWith("/>");
    const name = NAME.exec(tag.slice(1))?.[0];
    if (name === undefined) throw this.corrupt(`${tag.slice(0, 40)} is no tag`);
    if (this.#open.length === 0 && this.#rooted) throw this.corrupt(`<${name}> after the root element`);
    let rest = tag.slice(name.length + 1, empty ? -2 : -1);
    let attributes = NONE as Map<string, string>;
    while (rest.trim() !== "") {
      const found = ATTRIBUTE.exec(rest);
      if (found === null) throw this.corrupt(`${JSON.stringify(rest.slice(0, 40))} is no attribute of <${name}>`);
      if (attributes.has(found[1]!)) throw this.corrupt(`<${name}> has ${found[1]} twice`);
      if (attributes === NONE) attributes = new Map();
      attributes.set(found[1]!, this.#characters(found[2]!.slice(1, -1)));
      rest = rest.slice(found[0].length);
    }
    this.#rooted = true;
    if (this.#open.length >= this.#limits.jsonDepth)
      throw new LimitExceeded(`${this.where}, byte ${this.offset}: tags nest deeper than ${this.#limits.jsonDepth}`);
    yield { kind: "open", name, attributes };
    if (empty) yield { kind: "close", name };
    else this.#open.push(name);
  }

  #characters(text: string): string {
    if (!text.includes("&")) return text;
    return text.replace(/&([^;&\s]{0,12};?)/g, (whole, entity: string) => {
      const named = ENTITIES.get(entity);
      if (named !== undefined) return named;
      const number = /^#(?:(\d{1,7})|x([\da-f]{1,6}));$/i.exec(entity);
      const code = number === null ? 0 : number[1] === undefined ? Number.parseInt(number[2]!, 16) : Number(number[1]);
      if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        throw this.corrupt(`${JSON.stringify(whole)} is none of the entities of XML`);
      return String.fromCodePoint(code);
    });
  }

  /** The place after the markup that begins at `at`; −1 where its end has not come yet. */
  #markupEnd(bytes: Uint8Array, at: number): number {
    const second = bytes[at + 1];
    if (second === undefined) return -1;
    if (second === QUESTION) return after(bytes, at + 2, "?>");
    if (second === BANG) {
      if (at + 9 > bytes.length && !bytes.includes(GREATER, at)) return -1;
      if (starts(bytes, at, "<!--")) return after(bytes, at + 4, "-->");
      if (starts(bytes, at, "<![CDATA[")) return after(bytes, at + 9, "]]>");
    }
    let quote = 0;
    for (let i = at + 1; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (quote !== 0) {
        if (byte === quote) quote = 0;
      } else if (byte === GREATER) return i + 1;
      else if (byte === 0x22 || byte === 0x27) quote = byte;
      else if (byte === 0x5b && second === BANG)
        throw new Unsupported(`${this.where} declares entities or elements of its own`, { where: this.where });
      else if (byte === LESS) throw this.corrupt("< within a tag");
    }
    if (bytes.length - at > this.#limits.metadataBytes)
      throw new LimitExceeded(`${this.where}: the tag at byte ${this.offset} has more than limits.metadataBytes`);
    return -1;
  }
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["lt;", "<"],
  ["gt;", ">"],
  ["amp;", "&"],
  ["quot;", '"'],
  ["apos;", "'"],
]);

const ENTITY = 14; // bytes, the longest there is

function nextMarkup(bytes: Uint8Array, at: number): number {
  const markup = bytes.indexOf(LESS, at);
  return markup < 0 ? bytes.length : markup;
}

/** Up to the next markup; where none has come yet as far as no character and no entity is cut. */
function textEnd(bytes: Uint8Array, at: number): number {
  const markup = bytes.indexOf(LESS, at);
  if (markup >= 0) return markup;
  let end = bytes.length;
  for (let more = 0; more < 3 && (bytes[end - 1]! & 0xc0) === 0x80; more++) end--;
  if (bytes[end - 1]! >= 0xc0) end--;
  const entity = bytes.lastIndexOf(0x26, end - 1);
  if (entity >= at && entity > end - ENTITY && !bytes.subarray(entity, end).includes(0x3b)) end = entity;
  return end > at ? end : -1;
}

function after(bytes: Uint8Array, from: number, mark: string): number {
  const last = mark.charCodeAt(mark.length - 1);
  for (let at = bytes.indexOf(last, from); at >= 0; at = bytes.indexOf(last, at + 1))
    if (at - mark.length + 1 >= from && starts(bytes, at - mark.length + 1, mark)) return at + 1;
  return -1;
}

function starts(bytes: Uint8Array, at: number, mark: string): boolean {
  for (let i = 0; i < mark.length; i++) if (bytes[at + i] !== mark.charCodeAt(i)) return false;
  return true;
}

/** Text as it stands in XML, in elements and in attributes. */
export const escapeXml = (text: string): string =>
  text.replace(/[<>&"'\r\n\t]/g, (character) => ESCAPES.get(character) ?? `&#${character.charCodeAt(0)};`);

const ESCAPES: ReadonlyMap<string, string> = new Map([...ENTITIES].map(([name, character]) => [character, `&${name}`]));
