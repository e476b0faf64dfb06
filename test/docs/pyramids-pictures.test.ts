/**
 * The pictures of docs/pyramids.md show the stores that the page makes, with the levels that its commands build; `npx vitest run
 * test/docs/pyramids-pictures.test.ts -u` draws them anew.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openZarrVectors, type ZarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { Batch } from "../../src/model/vectors.js";
import { buildPyramid, type PyramidLevel } from "../../src/pyramid/build.js";
import { fileStore } from "../../src/store/file.js";
import { line, picture, rect, text } from "./svg.js";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/pyramids.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "octavo-pyramids-"));
const SIDE = 280;
const TOP = 40;

beforeAll(async () => {
  const [, contents = ""] = /^```ts run\n([\s\S]*?)^```$/m.exec(page)!;
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
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

type Place = readonly [x: number, y: number];
/** Where a vertex of a batch is in its panel. */
type At = (vertex: number) => Place;

/** Three panels beside each other: the finest level and what the page's command makes of it. */
async function drawn(
  name: string,
  title: string,
  panel: (batch: Batch, at: At, level: number) => readonly string[],
  countOf: (batch: Batch) => string,
): Promise<void> {
  const command = new RegExp(`^\\$ octavo pyramid ${name}\\.zv --levels 2 --error (\\S+)$`, "m").exec(page)!;
  const store = fileStore(join(folder, `${name}.zv`));
  const { levels } = await buildPyramid(store, undefined, { levels: 2, error: Number(command[1]) });
  const dataset = await openZarrVectors(store);
  const parts: string[] = [];
  for (const level of [0, 1, 2]) {
    const left = 24 + level * (SIDE + 24);
    const batch = await dataset.select({ level }).read();
    const own = panel(batch, placer(batch, left), level);
    parts.push(text(left, 26, `level ${level}`, "ink head"));
    if (batch.dims === 2) parts.push(rect(left, TOP, SIDE, SIDE, "line"));
    parts.push(...own);
    parts.push(text(left, TOP + SIDE + 24, countOf(batch), "ink"));
    parts.push(text(left, TOP + SIDE + 44, errorText(levels[level - 1]), "soft"));
    if (level > 0) expect(levels[level - 1]!.error).toBeLessThanOrEqual(levels[level - 1]!.allowed);
  }
  await expect(picture(3 * (SIDE + 24) + 24, TOP + SIDE + 62, title, parts)).toMatchFileSnapshot(
    `../../docs/pictures/pyramid-${name}.svg`,
  );
  await checkStays(dataset);
}

/** Vertices of coarser levels are some of the finest. */
async function checkStays(dataset: ZarrVectors): Promise<void> {
  const places = async (level: number): Promise<Set<string>> => {
    const { positions, dims } = await dataset.select({ level }).read();
    return new Set(
      Array.from({ length: positions.length / dims }, (_, v) => `${positions.slice(v * dims, (v + 1) * dims)}`),
    );
  };
  const all = await places(0);
  for (const level of [1, 2]) for (const place of await places(level)) expect(all.has(place)).toBe(true);
}

const errorText = (made: PyramidLevel | undefined): string =>
  made === undefined ? "everything" : `at most ${short(made.error)} off; ${short(made.allowed)} allowed`;
const short = (value: number): string => String(Number(value.toPrecision(3)));

/** From 0 … 100 to the panel, upwards; surfaces are seen from above the side that is nearest. */
function placer({ positions, dims }: Batch, left: number): At {
  return (vertex) => {
    const [x, y, z = 0] = positions.subarray(vertex * dims, (vertex + 1) * dims);
    const up = dims === 2 ? y! : 0.72 * y! + 0.69 * z + 14;
    return [left + (x! / 100) * SIDE, TOP + SIDE - (up / 100) * SIDE];
  };
}

/** Many dots as one path of small steps, in fifths of a pixel. */
function dots(places: readonly Place[], look: string, width: number): string {
  let [x, y] = [0, 0];
  const steps = places.map((place) => {
    const [dx, dy] = [Math.round(5 * place[0]) - x, Math.round(5 * place[1]) - y];
    [x, y] = [x + dx, y + dy];
    return `m${dx}${dy < 0 ? "" : " "}${dy}h0`;
  });
  return `<path transform="scale(.2)" d="${steps.join("")}" class="${look}" stroke-width="${5 * width}" stroke-linecap="round"/>`;
}

const vertices = ({ positions, dims }: Batch): number[] => Array.from({ length: positions.length / dims }, (_, v) => v);

test("points", async () => {
  await drawn(
    "points",
    "Points, thinned evenly by bins",
    (batch, at, level) => [dots(vertices(batch).map(at), `s${level}`, [1.6, 2.6, 4][level]!)],
    (batch) => `${vertices(batch).length} points`,
  );
});

test("streamlines", async () => {
  await drawn(
    "tracts",
    "Streamlines with fewer vertices, and fewer of them",
    (batch, at) => [
      ...Array.from(batch.objects, (object, part) => {
        const own = vertices(batch).slice(batch.parts[part]!, batch.parts[part + 1]!);
        return line(own.map(at), `s${Number(batch.ids[object]!) % 6}`, ' stroke-width="1.2"');
      }),
      dots(vertices(batch).map(at), "box", 2.4),
    ],
    (batch) => `${batch.ids.length} streamlines, ${vertices(batch).length} vertices`,
  );
});

test("skeletons", async () => {
  let forks: number | undefined;
  await drawn(
    "neuron",
    "A skeleton with fewer vertices, and all of its branches",
    (batch, at, level) => {
      const ends = batch.links!.ends;
      const degree = new Uint8Array(vertices(batch).length);
      for (const end of ends) degree[end]!++;
      const path = Array.from({ length: ends.length / 2 }, (_, i) => {
        const [a, b] = [at(ends[2 * i]!), at(ends[2 * i + 1]!)];
        return `M${Math.round(5 * a[0])} ${Math.round(5 * a[1])}L${Math.round(5 * b[0])} ${Math.round(5 * b[1])}`;
      });
      const [branches, tips] = [
        vertices(batch).filter((v) => degree[v]! > 2),
        vertices(batch).filter((v) => degree[v] === 1),
      ];
      forks ??= branches.length + tips.length;
      expect(branches.length + tips.length).toBe(forks);
      return [
        `<path transform="scale(.2)" d="${path.join("")}" class="s0" stroke-width="7"/>`,
        dots(vertices(batch).map(at), "box", level === 0 ? 0.9 : 2),
        dots(branches.map(at), "s1", 5.5),
        dots(tips.map(at), "s2", 5.5),
      ];
    },
    (batch) => `${vertices(batch).length} vertices`,
  );
});

test("meshes", async () => {
  await drawn(
    "surface",
    "A surface with fewer faces where it is flat",
    (batch, at) => {
      const shades: string[][] = Array.from({ length: 8 }, () => []);
      const { ends } = batch.links!;
      for (let face = 0; face < ends.length; face += 3) {
        const corners = Array.from(ends.subarray(face, face + 3), (vertex) =>
          at(vertex).map((value) => Math.round(2 * value)),
        );
        const [a = [], b = [], c = []] = corners;
        shades[shadeOf(batch, face)]!.push(
          `M${a[0]} ${a[1]}l${b[0]! - a[0]!} ${b[1]! - a[1]!} ${c[0]! - b[0]!} ${c[1]! - b[1]!}z`,
        );
      }
      return shades.map(
        (faces, shade) =>
          `<path transform="scale(.5)" d="${faces.join("")}" class="h0" fill-opacity="${short(0.06 + 0.11 * shade)}" stroke="#8d96a0" stroke-width="1"/>`,
      );
    },
    (batch) => `${batch.links!.ends.length / 3} faces, ${vertices(batch).length} vertices`,
  );
});

/** How far a face is turned away from the light in the upper left, 0 … 7. */
function shadeOf({ positions, links }: Batch, face: number): number {
  const [p, q, r] = Array.from(links!.ends.subarray(face, face + 3), (vertex) =>
    positions.subarray(3 * vertex, 3 * vertex + 3),
  ) as [Float32Array, Float32Array, Float32Array];
  const [u, v] = [q.map((value, axis) => value - p[axis]!), r.map((value, axis) => value - p[axis]!)];
  const normal = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
  const lit = (-0.5 * normal[0]! + 0.5 * normal[1]! + 0.7 * normal[2]!) / Math.hypot(...normal);
  return Math.max(0, Math.min(7, Math.floor(8 * (1 - lit) * 0.75)));
}
