/** THIRD_PARTY_NOTICES.md names every package that Octavo ships or needs, with its version and its licence in full. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const notices = read("THIRD_PARTY_NOTICES.md");
const { dependencies, devDependencies, files } = JSON.parse(read("package.json")) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  files: string[];
};
const words = (text: string): string => text.replace(/\s+/g, " ").trim();

describe("the notices", () => {
  // three is in the viewer's page; whoever uses "octavo/three" brings it along.
  it.each(Object.entries({ ...dependencies, three: devDependencies.three! }))(
    "have %s %s, as it is installed",
    (name, version) => {
      expect(notices).toContain(`| ${name} | ${version} |`);
      const folder = `node_modules/${name}`;
      const installed = JSON.parse(read(`${folder}/package.json`));
      expect(installed.version).toBe(version);
      for (const below of Object.keys(installed.dependencies ?? {})) expect(notices).toContain(`| ${below} |`);
      expect(existsSync(join(root, folder, "NOTICE"))).toBe(false);
      const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].find((name) => existsSync(join(root, folder, name)));
      if (file === undefined) return expect(notices).toContain(`| ${name} | ${version} | [${installed.license}]`);
      const licence = read(`${folder}/${file}`);
      const start = licence.search(
        /Permission is hereby|Apache License|h5wasm license statement|Redistribution and use/,
      );
      expect(words(notices)).toContain(words(licence.slice(start)));
      const owner = /^Copyright .*$/m.exec(licence.slice(0, start))?.[0];
      if (owner !== undefined) expect(notices).toContain(`- ${name}: ${owner}`);
    },
  );

  it("have what the shipped worker holds", async () => {
    const { metafile } = await build({
      entryPoints: [join(root, "src/worker.ts")],
      bundle: true,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      metafile: true,
      write: false,
      logLevel: "error",
    });
    const inside = Object.keys(metafile.inputs).flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(inside)].sort()).toEqual(["@hpcc-js/wasm-zstd", "fflate", "meshoptimizer"]); // as the first paragraph says
  });

  it("are shipped", () => expect(files).toContain("THIRD_PARTY_NOTICES.md"));
});
