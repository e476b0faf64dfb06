#!/usr/bin/env node
/**
 * Writes docs/api, one page per entry point of package.json, from the types and their comments. `--check` writes nothing and
 * fails where a page is not what would be written, or a public name has no comment.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, Converter, ReflectionKind } from "typedoc";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** "octavo-zarr" by the source of what "octavo/zarr" exports. A name that two entries have is described where it comes first. */
const ORDER = [".", "./stores"];
const entries = new Map(
  Object.entries(exports)
    .filter(([name, target]) => target.types !== undefined && name !== "./worker") // a program, which exports nothing
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([name, { types }]) => [
      types.replace("./dist/", "src/").replace(/\.d\.ts$/, ".ts"),
      name.replace(".", "octavo").replace("/", "-"),
    ]),
);
function rank(name) {
  const place = ORDER.indexOf(name);
  return place < 0 ? ORDER.length : place;
}

/** Names and texts of the pages. */
async function apiPages() {
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: [...entries.keys()].map((path) => join(root, path)),
    tsconfig: join(root, "tsconfig.build.json"),
    name: "The API",
    readme: "none",
    sort: ["kind", "alphabetical"],
    sortEntryPoints: false,
    disableSources: true,
    excludeExternals: true,
    excludeInternal: true,
    skipErrorChecking: true, // `npm run typecheck` says it better
    validation: { notExported: false, invalidLink: true, rewrittenLink: true, notDocumented: true },
    requiredToBeDocumented: ["Class", "Interface", "Function", "Variable", "TypeAlias"],
    logLevel: "Warn",
    outputFileStrategy: "modules",
    hidePageHeader: true,
    useCodeBlocks: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    classPropertiesFormat: "table",
    typeAliasPropertiesFormat: "table",
    typeDeclarationFormat: "table",
    tableColumnSettings: { hideInherited: true, hideOverrides: true, hideModifiers: true },
  });
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return;
    const { fileName = "" } = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile() ?? {};
    reflection.name = entries.get(relative(root, fileName)) ?? reflection.name;
  });
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    // What the six errors inherit is described once, at OctavoError.
    for (const owner of project.getReflectionsByKind(ReflectionKind.Class)) {
      for (const child of [...(owner.children ?? [])]) if (child.inheritedFrom) project.removeReflection(child);
    }
  });
  const project = await app.convert();
  if (project !== undefined) app.validate(project);
  if (project === undefined || app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1);
  const folder = mkdtempSync(join(tmpdir(), "octavo-docs-"));
  try {
    app.options.setValue("outputs", [{ name: "markdown", path: folder }]);
    await app.generateOutputs(project);
    return readdirSync(folder).map((name) => [name, titled(readFileSync(join(folder, name), "utf8"))]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the names that are imported, "octavo/zarr", and what the source says at its top. */
function titled(page) {
  let text = page.replace(/^(# |- \[|\[The API\].* \/ )octavo-(\w+)/gm, "$1octavo/$2");
  for (const [path, name] of entries) {
    const [, about = ""] = /^\/\*\*\s*([\s\S]*?)\s*\*\//.exec(readFileSync(join(root, path), "utf8")) ?? [];
    const sentence = about.replace(/^\* |\s*\n \* ?/g, " ").trim();
    text = text.replace(`# ${name.replace("-", "/")}\n`, (title) => `${title}\n${sentence}\n`);
    text = text.replace(`](${name}.md)\n`, (link) => `${link.trimEnd()}: ${sentence}\n`);
  }
  return text;
}

const pages = new Map(await apiPages());
const api = join(root, "docs/api");
mkdirSync(api, { recursive: true });
const there = new Map(readdirSync(api).map((name) => [name, readFileSync(join(api, name), "utf8")]));
const stale = [...new Set([...pages.keys(), ...there.keys()])].filter((name) => pages.get(name) !== there.get(name));
if (!process.argv.includes("--check")) {
  for (const name of stale) rmSync(join(api, name), { force: true });
  for (const [name, text] of pages) writeFileSync(join(api, name), text);
} else if (stale.length > 0) {
  console.error(`docs/api is not what the code says any more (${stale.join(", ")}): run npm run docs`);
  process.exit(1);
}
