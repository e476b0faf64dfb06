/** Links between pages lead somewhere: the file exists, and so does the heading. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const below = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
const pages = [...readdirSync(root), ...below("docs"), ...below("examples"), ...below("src")].filter((path) =>
  path.endsWith(".md"),
);
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");
const prose = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");

/** As code hosts name headings: lower case, no punctuation, "-" for spaces, a number for the second of one name. */
const anchors = new Map<string, Set<string>>();
function anchorsOf(path: string): Set<string> {
  const known = anchors.get(path);
  if (known !== undefined) return known;
  const found = new Set<string>();
  anchors.set(path, found);
  const text = textOf(path).replace(/^```[\s\S]*?^```/gm, "");
  for (const [, heading = ""] of text.matchAll(/^#{1,6} +(.*)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\\(.)/g, "$1");
    const slug = plain
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replace(/ /g, "-");
    let name = slug;
    for (let n = 1; found.has(name); n++) name = `${slug}-${n}`;
    found.add(name);
  }
  for (const [, id] of text.matchAll(/<a id="([^"]+)"/g)) found.add(id!);
  return found;
}

it("lead to files and headings that are there", () => {
  const broken: string[] = [];
  let count = 0;
  for (const page of pages) {
    for (const [, target = ""] of prose(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      count++;
      const [file = "", anchor] = target.split("#");
      const path = file === "" ? page : relative(root, resolve(root, dirname(page), decodeURIComponent(file)));
      if (!existsSync(join(root, path))) broken.push(`${page}: ${target} is not there`);
      else if (anchor !== undefined && !anchorsOf(path).has(anchor))
        broken.push(`${page}: ${target} has no such heading`);
    }
  }
  expect(broken).toEqual([]);
  expect(count).toBeGreaterThan(100);
});

it("reach every page from docs/README.md", () => {
  const reached = new Set(["docs/README.md"]);
  for (const page of reached) {
    for (const [, target = ""] of prose(textOf(page)).matchAll(/\]\(([^)#\s]+\.md)/g)) {
      const path = join(dirname(page), target);
      if (existsSync(join(root, path))) reached.add(path);
    }
  }
  const docs = pages.filter((path) => path.startsWith("docs/"));
  expect(docs.filter((path) => !reached.has(path))).toEqual([]);
});
