/** The README's picture is a session that happens here; `npx vitest run test/docs/picture.test.ts -u` draws it anew. */
import { mkdtempSync, realpathSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTracts } from "../../src/cli/demo-data.js";
import { createArray, writeRegion } from "../../src/format/zarr/index.js";
import { ndarray } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { build, octavo } from "../cli/run.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "octavo-picture-")));
beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true }));

const SIDE = 512;
const COLUMNS = 100;

test("the picture shows what the commands print", async () => {
  const heights = Int16Array.from({ length: SIDE * SIDE }, (_, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE)];
    return 900 * Math.sin(x / 41) * Math.cos(y / 59) + 300 * Math.sin((x + 2 * y) / 17);
  });
  const array = await createArray(fileStore(join(folder, "heights")), Prefix.root, {
    version: 0,
    shape: [SIDE, SIDE],
    chunkShape: [64, 64],
    dtype: "int16",
    attributes: { unit: "m" },
  });
  await writeRegion(array, undefined, ndarray([SIDE, SIDE], heights));

  const lines: string[] = [];
  const type = async (...args: string[]): Promise<void> => {
    const { stdout, stderr } = await octavo(args, { cwd: folder });
    const shown = `${stdout}${stderr}`.trimEnd().replaceAll(`file://${folder}`, "file:///data").split("\n");
    lines.push(`$ octavo ${args.join(" ")}`, ...shown.flatMap(wrap), "");
  };
  await makeTracts(join(folder, "made.zv"), 200, new AbortController().signal);
  // How many bytes zstd makes of them is not the same everywhere.
  await octavo(["convert", "made.zv", "tracts.zv", "--codec", "none"], { cwd: folder });
  await type("info", "tracts.zv");
  const clipped = ["--box", "60,60,60,75,75,75", "--clip", "--limit", "1", "--to", "csv"];
  await type("get", "tracts.zv", ...clipped);
  await type("convert", "heights", "heights.zarr", "--to", "zarr3");
  const chunk = join(folder, "heights.zarr/c/3/5");
  lines.push("$ truncate --size=-1 heights.zarr/c/3/5");
  truncateSync(chunk, statSync(chunk).size - 1);
  await type("validate", "heights.zarr");
  await expect(draw(lines.slice(0, -1))).toMatchFileSnapshot("../../docs/pictures/demo.svg");
});

/** Words that do not fit go to the next line, indented. */
function wrap(line: string): string[] {
  if (line.length <= COLUMNS) return [line];
  const cut = line.lastIndexOf(" ", COLUMNS);
  return [line.slice(0, cut), ...wrap(`              ${line.slice(cut + 1)}`)];
}

function draw(lines: readonly string[]): string {
  const [width, step, edge] = [920, 19, 22];
  const height = lines.length * step + 2 * edge;
  const rows = lines.map((line, i) => {
    const text = line.replace(/&/g, "&amp;").replace(/</g, "&lt;");
    return `<text x="${edge}" y="${edge + 14 + i * step}"${style(line)} xml:space="preserve">${text}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>A session: what a store of streamlines holds, a part of it, an array of 2016 as Zarr v3, and validate finding a chunk that is one byte short</title>
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#d4d7dd">
${rows.join("\n")}
</g>
</svg>
`;
}

function style(line: string): string {
  if (line.startsWith("$")) return ' fill="#ffffff" font-weight="bold"';
  if (/^(error|invalid)/.test(line)) return ' fill="#ff7b72"';
  return /^(valid|nothing was lost)/.test(line) ? ' fill="#7ee787"' : "";
}
