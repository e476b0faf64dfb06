/** The public names, held by a snapshot: what is in here is a promise, and what is not can change. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  exports: Record<string, string | { types: string; default: string }>;
};

/** Names in `export type { A, B }` and `export { type C }`; the rest is there at run time. */
function typeNames(source: string): string[] {
  const lists = [...source.matchAll(/export (type )?\{([^}]*)\}/g)];
  return lists.flatMap(([, allTypes, list]) =>
    list!
      .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && (allTypes !== undefined || name.startsWith("type ")))
      .map((name) => name.replace(/^type /, "").replace(/.* as /, "")),
  );
}

for (const [entry, target] of Object.entries(exports)) {
  if (typeof target === "string") continue;
  test(`octavo${entry.slice(1)}`, async () => {
    const source = new URL(target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts"), root);
    expect(target.types).toBe(target.default.replace(/\.js$/, ".d.ts"));
    const names = Object.keys(await import(fileURLToPath(source)));
    const text = readFileSync(source, "utf8");
    expect(text).not.toMatch(/export \* from "(?!\.\/(index|stores)\.js)/); // the lists are written by hand
    expect({ values: names.sort(), types: [...new Set(typeNames(text))].sort() }).toMatchSnapshot();
  });
}
