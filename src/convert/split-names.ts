/**
 * Names of files from names of groups, values and ids, which may be anything: letters, digits and a few signs stay, everything else
 * becomes "_". So no name leaves its folder, is hidden, or means something to a shell, a URL or Windows; and no two names differ
 * only in what some file systems do not tell apart.
 */
import { kinds } from "../format/interchange/kinds.js";

const LONGEST = 56; // characters, of 4 bytes at most: with a number and an extension less than 255 bytes

/** The name, without an extension. */
export function safeName(text: string): string {
  const plain = text.normalize("NFC").replace(/[^\p{L}\p{M}\p{N}._+=,@-]+/gu, "_");
  const short = [...plain].slice(0, LONGEST).join("");
  const name = short.replace(/^\.+/, "_").replace(/\.+$/, "_");
  return name === "" || /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name) ? `_${name}` : name;
}

/**
 * A name for each text, in the order in which they are asked for; one that is taken gets a number. The path of such a file, as the
 * objects of a folder of files have it, keeps its folders.
 */
export function namesFor(extension: string): (text: string) => string {
  const taken = new Set<string>();
  return (text) => {
    const isPath = extension !== "" && text.toLowerCase().endsWith(extension) && text.length > extension.length;
    const safe = isPath ? text.slice(0, -extension.length).split("/").map(safeName).join("/") : safeName(text);
    const name = extension === "" ? safe.replaceAll(".", "_") : safe; // else ".zip" would be one
    let free = name;
    for (let number = 2; taken.has(folded(free)); number++) free = `${name}-${number}`;
    taken.add(folded(free));
    return free + extension;
  };
}

const folded = (name: string): string => name.normalize("NFKC").toLowerCase();

/** What files of a format end in. */
export function extensionOf(to: string): string {
  const [extension] = kinds.find(({ id }) => id === to)?.extensions ?? [];
  if (extension !== undefined) return `.${extension}`;
  return to === "precomputed" ? "" : to === "zarr-vectors" ? ".zv" : `.${to}`;
}
