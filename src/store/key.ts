/**
 * The grammar of keys. A key is one or more segments joined with "/"; a segment is not empty, not "." or "..", and holds
 * no "/", "\", NUL or other control character, and no half of a surrogate pair (which no URL and no disk can tell from
 * another). A prefix is "" or a key followed by "/". Every store receives only these, so that one function maps a key to
 * a path and nothing can leave the root.
 */
import { InvalidInput } from "../errors.js";

declare const key: unique symbol;
declare const prefix: unique symbol;
/** The name of a value in a store; only `Key.of` and its neighbours make one. */
export type Key = string & { readonly [key]: true };
/** The beginning of keys: "" or something that ends in "/". */
export type Prefix = string & { readonly [prefix]: true };

const MAX_LENGTH = 1024; // what S3 takes; file systems take less per segment and say so themselves

/** What nearly all keys look like; these are keys without a further look. */
const PLAIN = /^[\w+-][\w+.-]*(?:\/[\w+-][\w+.-]*)*$/;

/** What keeps the text from being a key, as the end of a sentence. */
function problem(text: string): string | undefined {
  if (text.length <= MAX_LENGTH && PLAIN.test(text)) return undefined;
  if (text.length > MAX_LENGTH) return `has ${text.length} characters, at most ${MAX_LENGTH} are allowed`;
  for (const segment of text.split("/")) {
    if (segment === "" || segment === "." || segment === "..")
      return `has the segment ${JSON.stringify(segment)}, which no key may have`;
  }
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const whole = code < 0xd800 || code > 0xdfff || text.codePointAt(i)! > 0xffff;
    if (code < 0x20 || code === 0x7f || code === 0x5c || !whole) return `has a character that no key may have at ${i}`;
    if (code >= 0xd800 && code <= 0xdfff) i++; // the second half belongs to the first
  }
  return undefined;
}

function check(text: string, what: string): void {
  const wrong = problem(text);
  if (wrong !== undefined) {
    const shown = text.length > MAX_LENGTH ? `${text.slice(0, 40)}…` : text;
    throw new InvalidInput(`${what} ${JSON.stringify(shown)} ${wrong}`, { where: shown });
  }
}

/** Makes keys of texts, and refuses what is none. */
export const Key = {
  /** The text as a key; InvalidInput where it cannot be one. */
  of(text: string): Key {
    check(text, "the key");
    return text as Key;
  },
  /** For names that come from a directory: whether they can be keys at all. */
  is(text: string): text is Key {
    return problem(text) === undefined;
  },
  /** The key of a name below a prefix. */
  join(base: Prefix, name: string): Key {
    return Key.of(base + name);
  },
};

/** Makes prefixes of texts, and refuses what is none. */
export const Prefix = {
  root: "" as Prefix,
  /** "a/b" and "a/b/" both give "a/b/"; "" and "/" give the root. */
  of(text: string): Prefix {
    const bare = text.endsWith("/") ? text.slice(0, -1) : text;
    if (bare === "") return Prefix.root;
    check(bare, "the prefix");
    return `${bare}/` as Prefix;
  },
  /** The prefix of a path below a prefix. */
  join(base: Prefix, name: string): Prefix {
    return Prefix.of(base + name);
  },
};

/** The folder of logs below the prefix of the data that they are about. */
export const LOGS = ".octavo/";

/** Whether a key or prefix belongs to the log of any data, and not to data. */
export const isPrivate = (key: string): boolean => `/${key}`.includes(`/${LOGS}`);
