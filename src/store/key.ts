/**
 * The grammar of keys. A key is one or more segments joined with "/"; a segment is not empty, not "." or "..", and holds
 * no "/", "\", NUL or other control character. A prefix is "" or a key followed by "/". Every store receives only these,
 * so that one function maps a key to a path and nothing can leave the root.
 */
import { InvalidInput } from "../errors.js";

declare const key: unique symbol;
declare const prefix: unique symbol;
export type Key = string & { readonly [key]: true };
export type Prefix = string & { readonly [prefix]: true };

const MAX_BYTES = 1024; // what S3 takes; file systems take less per segment and say so themselves

function check(text: string, what: string): void {
  if (text.length > MAX_BYTES)
    throw new InvalidInput(`${what} has ${text.length} characters, at most ${MAX_BYTES} are allowed`);
  for (const segment of text.split("/")) {
    if (segment === "" || segment === "." || segment === "..") {
      throw new InvalidInput(
        `${what} ${JSON.stringify(text)} has the segment ${JSON.stringify(segment)}, which no key may have`,
        { where: text },
      );
    }
  }
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f || code === 0x5c) {
      throw new InvalidInput(`${what} ${JSON.stringify(text)} has a character that no key may have at ${i}`, {
        where: text,
      });
    }
  }
}

export const Key = {
  of(text: string): Key {
    check(text, "the key");
    return text as Key;
  },
  join(base: Prefix, name: string): Key {
    return Key.of(base + name);
  },
};

export const Prefix = {
  root: "" as Prefix,
  /** "a/b" and "a/b/" both give "a/b/"; "" and "/" give the root. */
  of(text: string): Prefix {
    const bare = text.endsWith("/") ? text.slice(0, -1) : text;
    if (bare === "") return Prefix.root;
    check(bare, "the prefix");
    return `${bare}/` as Prefix;
  },
  join(base: Prefix, name: string): Prefix {
    return Prefix.of(base + name);
  },
};
