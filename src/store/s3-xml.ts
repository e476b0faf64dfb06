/**
 * The little XML that S3 speaks: elements, text, the five entities and character references. Attributes (the namespace)
 * are passed over. Strict where it matters: tags must nest, nothing may stand outside the root, document types, comments
 * and CDATA are refused, and nesting is counted.
 */
import { Corrupt } from "../errors.js";

export interface Xml {
  readonly name: string;
  readonly children: readonly Xml[];
  readonly text: string;
}

const MAX_DEPTH = 16; // S3's deepest answer has 5
const TOKEN = /<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
const ENTITIES: { readonly [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

type Open = { name: string; children: Xml[]; text: string };

export const Xml = {
  parse(document: string, where: string): Xml {
    const bad = (what: string): Corrupt => new Corrupt(`the XML that ${where} answered ${what}`, { where });
    const top: Open = { name: "", children: [], text: "" };
    const stack: Open[] = [top];
    const token = new RegExp(TOKEN);
    token.lastIndex = /^\ufeff?\s*(?:<\?xml[^<>]*\?>)?/.exec(document)![0].length;
    while (token.lastIndex < document.length) {
      const start = token.lastIndex;
      const found = token.exec(document);
      if (found === null) throw bad(`cannot be read at character ${start}`);
      const [, slash, name, , selfClosing, text] = found;
      const current = stack[stack.length - 1]!;
      if (text !== undefined) {
        current.text += unescapeText(text, bad);
      } else if (slash === "") {
        if (stack.length > MAX_DEPTH) throw bad(`nests deeper than ${MAX_DEPTH}`);
        const element: Open = { name: name!, children: [], text: "" };
        current.children.push(element);
        if (selfClosing === "") stack.push(element);
      } else {
        if (stack.length === 1 || current.name !== name || selfClosing !== "")
          throw bad(`closes ${name} where ${current.name || "nothing"} is open`);
        stack.pop();
      }
    }
    if (stack.length !== 1) throw bad(`ends inside ${stack[stack.length - 1]!.name}`);
    if (top.children.length !== 1 || top.text.trim() !== "") throw bad("is not one element");
    return top.children[0]!;
  },

  /** The text of the first child of that name. */
  text(element: Xml, name: string): string | undefined {
    return element.children.find((child) => child.name === name)?.text;
  },

  all(element: Xml, name: string): readonly Xml[] {
    return element.children.filter((child) => child.name === name);
  },

  escape(text: string): string {
    return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  },
};

function unescapeText(text: string, bad: (what: string) => Corrupt): string {
  return text.replace(/&([^;&]{0,12});?/g, (whole, name: string) => {
    const number = /^#(?:(\d{1,7})|x([0-9a-fA-F]{1,6}))$/.exec(name);
    const code = number === null ? -1 : number[1] !== undefined ? Number(number[1]) : Number.parseInt(number[2]!, 16);
    const value = Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
    if (whole.endsWith(";") && value !== undefined) return value;
    if (whole.endsWith(";") && code >= 0 && code <= 0x10ffff) return String.fromCodePoint(code);
    throw bad(`has the unknown entity ${JSON.stringify(whole)}`);
  });
}
