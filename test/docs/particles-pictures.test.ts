/**
 * The pictures of docs/particles.md show the file that the page makes, its tree and what it answers; `npx vitest run
 * test/docs/particles-pictures.test.ts -u` draws them anew.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openParticles, type ParticleDataset, type Particles, slicesIn } from "../../src/format/packed-tree/index.js";
import { isLeaf, levelOf, META, START, STOP } from "../../src/format/packed-tree/nodes.js";
import { visitCells } from "../../src/format/packed-tree/slices.js";
import { fileStore } from "../../src/store/file.js";
import { Key } from "../../src/store/key.js";
import { picture, rect, text } from "./svg.js";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "octavo-particles-"));
const file = (name: string): string => `../../docs/pictures/particles-${name}.svg`;
let dataset: ParticleDataset;
let particles: Particles;

beforeAll(async () => {
  const [, contents = ""] = /^```ts run\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, "docs/particles.md"), "utf8"))!;
  const outfile = join(folder, "page.mjs");
  await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
    tsconfig: join(root, "tsconfig.json"),
  });
  execFileSync(process.execPath, [outfile], { cwd: folder });
  dataset = await openParticles(fileStore(folder), Key.of("galaxy.ptree"));
  particles = await dataset.file.particles();
});
afterAll(() => rmSync(folder, { recursive: true }));

const SIDE = 420;
const TOP = 40;

/** A square of the plane z = 0, 0 … 1 on both axes, upwards. */
function square(column: number, side = SIDE) {
  const left = 24 + column * (side + 24);
  const at = (x: number, y: number): [number, number] => [left + x * side, TOP + side - y * side];
  /** Cells as one path. */
  const areas = (cells: readonly Cell[], look: string, more = ""): string => {
    const path = cells.map(({ corners: [x0, y0, x1, y1] }) => {
      const [[left, low], [right, high]] = [at(x0!, y0!), at(x1!, y1!)];
      return `M${short(left)} ${short(high)}h${short(right - left)}v${short(low - high)}H${short(left)}z`;
    });
    return `<path d="${path.join("")}" class="${look}"${more}/>`;
  };
  const frame = rect(left, TOP, side, side, "line");
  return { left, at, areas, frame };
}

/** Many dots as one path of small steps, in fifths of a pixel: a twentieth of the text that they would be. */
function dots(places: Iterable<readonly [number, number]>, look: string, width: number): string {
  let [x, y] = [0, 0];
  const steps = Array.from(places, (place) => {
    const [dx, dy] = [Math.round(5 * place[0]) - x, Math.round(5 * place[1]) - y];
    [x, y] = [x + dx, y + dy];
    return `m${dx}${dy < 0 ? "" : " "}${dy}h0`;
  });
  return `<path transform="scale(.2)" d="${steps.join("")}" class="${look}" stroke-width="${5 * width}" stroke-linecap="round"/>`;
}

const placesOf = (positions: ArrayLike<number>): [number, number][] =>
  Array.from({ length: positions.length / 3 }, (_, i) => [positions[3 * i]!, positions[3 * i + 1]!]);

interface Cell {
  /** Lower and upper corner in the plane. */
  readonly corners: readonly number[];
  readonly start: number;
  readonly stop: number;
  readonly level: number;
  readonly leaf: boolean;
}

/** The nodes of the tree with what they cover. */
function cells(): Cell[] {
  const { tree } = particles;
  const { rows } = tree.nodes;
  const found: Cell[] = [];
  visitCells(tree, 0, (row, box) => {
    const meta = rows[row + META]!;
    const [start, stop] = [rows[row + START]!, rows[row + STOP]!];
    const corners = [box[0]!, box[1]!, box[3]!, box[4]!];
    found.push({ corners, start, stop, level: levelOf(meta), leaf: isLeaf(meta) });
    return true;
  });
  return found;
}

const short = (value: number): string => String(Math.round(value * 100) / 100);

test("particles, and their tree", async () => {
  const [first, second] = [square(0), square(1)];
  const places = placesOf(particles.positions);
  const leaves = cells().filter(({ leaf }) => leaf);
  const levels = [...new Set(leaves.map(({ level }) => level))].sort((a, b) => a - b);
  const [low, high] = [levels[0]!, levels.at(-1)!];
  const drawn = [
    text(first.left, 26, "particles", "ink head"),
    first.frame,
    dots(
      places.map(([x, y]) => first.at(x, y)),
      "s0",
      1.7,
    ),
    text(first.left, TOP + SIDE + 24, `${places.length} of them, in a plane, so that one sees the cells`, "soft"),
    text(second.left, 26, "the leaves of their octree", "ink head"),
    ...levels.map((level) => {
      const own = leaves.filter((leaf) => leaf.level === level);
      return second.areas(own, "h0", ` fill-opacity="${short(0.04 + (0.62 * (level - low)) / (high - low))}"`);
    }),
    second.areas(leaves, "edge", ' stroke-width=".5" stroke-opacity=".6"'),
    text(
      second.left,
      TOP + SIDE + 24,
      `${leaves.length} leaves of at most 16 particles, on the levels ${low} to ${high}`,
      "soft",
    ),
  ];
  const title = "Particles of a galaxy, and the cells of the octree over them";
  await expect(picture(2 * (SIDE + 24) + 24, TOP + SIDE + 42, title, drawn)).toMatchFileSnapshot(file("tree"));
});

test("a sphere", async () => {
  const sphere = [0.36, 0.62, 0, 0.17] as const;
  const [x, y, , radius] = sphere;
  const slices = slicesIn(particles.tree, { sphere }, { asReference: true });
  const nodes = cells();
  const met: [whole: Cell[], partly: Cell[]] = [[], []];
  for (let i = 0; i < slices.length; i += 3)
    met[slices[i + 2]!]!.push(nodes.find(({ start, stop }) => start === slices[i] && stop === slices[i + 1])!);
  const countOf = (own: readonly Cell[]) => own.reduce((sum, { start, stop }) => sum + stop - start, 0);
  const answer = placesOf((await dataset.select({ sphere }).read()).positions);
  const [first, second] = [square(0), square(1)];
  const places = placesOf(particles.positions);
  const [whole, partly] = met;
  const circle = ({ at }: typeof first): string => {
    const [cx, cy] = at(x, y);
    return `<circle cx="${short(cx)}" cy="${short(cy)}" r="${short(radius * SIDE)}" class="box" stroke-width="1.5"/>`;
  };
  const leaves = nodes.filter(({ leaf }) => leaf);
  const tested = partly.flatMap(({ start, stop }) => places.slice(start, stop));
  const drawn = [
    text(first.left, 26, "what the tree says", "ink head"),
    first.areas(leaves, "line", ' stroke-width=".6"'),
    first.areas(whole, "h2", ' fill-opacity=".45"'),
    first.areas(partly, "h1", ' fill-opacity=".4"'),
    first.areas([...whole, ...partly], "edge", ' stroke-width=".8"'),
    dots(
      tested.map(([px, py]) => first.at(px, py)),
      "box",
      1.2,
    ),
    circle(first),
    text(first.left, TOP + SIDE + 24, `${whole.length} nodes inside: ${countOf(whole)} particles, untested`, "h2 head"),
    text(
      first.left,
      TOP + SIDE + 46,
      `${partly.length} leaves to look into: ${tested.length} particles, each tested`,
      "h1 head",
    ),
    text(second.left, 26, "what is answered", "ink head"),
    second.frame,
    dots(
      places.map(([px, py]) => second.at(px, py)),
      "line",
      1.7,
    ),
    dots(
      answer.map(([px, py]) => second.at(px, py)),
      "s0",
      2.2,
    ),
    circle(second),
    text(
      second.left,
      TOP + SIDE + 24,
      `${answer.length} particles, those that a test of all ${places.length} finds`,
      "h0 head",
    ),
  ];
  expect(answer.length).toBe(places.filter(([px, py]) => (px - x) ** 2 + (py - y) ** 2 <= radius ** 2).length);
  expect(countOf(whole)).toBeLessThan(answer.length);
  const title = "A sphere: nodes that are inside whole, leaves to look into, and the particles that are the answer";
  await expect(picture(2 * (SIDE + 24) + 24, TOP + SIDE + 64, title, drawn)).toMatchFileSnapshot(file("sphere"));
});

test("levels of detail", async () => {
  const side = 280;
  const drawn: string[] = [];
  for (const [column, maxVertices] of [200, 1000, 4000].entries()) {
    const { left, at, frame } = square(column, side);
    const { positions } = await dataset.select({ maxVertices }).read();
    const places = placesOf(positions);
    const width = [3.2, 2, 1.3][column]!;
    drawn.push(text(left, 26, `at most ${maxVertices}`, "ink head"), frame);
    drawn.push(
      dots(
        places.map(([x, y]) => at(x, y)),
        `s${[4, 3, 0][column]}`,
        width,
      ),
    );
    drawn.push(text(left, TOP + side + 24, `${places.length} particles`, "soft"));
  }
  const title = "The same galaxy with ever more particles, evenly chosen";
  await expect(picture(3 * (side + 24) + 24, TOP + side + 42, title, drawn)).toMatchFileSnapshot(file("levels"));
});
