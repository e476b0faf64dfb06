/**
 * Annotations that Octavo wrote, as Neuroglancer draws them: properties of several types as colours and widths, all levels of
 * the spatial index, those of an object only, and one by its id.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ANNOTATION_TYPES, type AnnotationType } from "../../src/format/precomputed/annotation/info.js";
import type { Annotations } from "../../src/format/precomputed/annotation/list.js";
import { createAnnotations } from "../../src/format/precomputed/annotation/write.js";
import { writeSegmentProperties } from "../../src/format/precomputed/properties/write.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { type Colour, compare, SIZE, type Wanted } from "./picture.js";
import { damage, inNeuroglancer, requestsIn } from "./suite.js";
import { type Point, type Stroke, stateOf, strokes, type View } from "./view.js";
import type { State } from "./viewer.js";

/** A coordinate counts 4 nm; 16 nm to a pixel. */
const UNIT = 4;
const VIEW: View = { position: [4096, 3072, 2048], height: 6144 };
const COLUMNS = 6;
const ROWS = 4;
const COUNT = COLUMNS * ROWS;
const OBJECTS = [5n, 2n ** 64n - 1n];
/** Red, green and blue come from a property each, and so does the width. */
const SHADER = `void main() {
  setColor(vec3(prop_tint().rg, float(prop_score()) / -100.0));
  float width = prop_size() + float(prop_kind());
  setPointMarkerSize(width);
  setPointMarkerBorderWidth(0.0);
  setLineWidth(width);
  setBoundingBoxBorderWidth(width);
  setEndpointMarkerSize(0.0);
  setEndpointMarkerBorderWidth(0.0);
}`;

/** Of ellipsoids, across the view. */
const RADIUS = 48;

const kind = (i: number): number => i % 3;
const tint = (i: number): Colour => [250 - i * 10, 20 + i * 10, 255];
const score = (i: number): number => -1 - ((i * 13) % 90);
const size = (i: number): number => 7.5 + (i % 4);
const idOf = (i: number): bigint => (i % 2 === 0 ? BigInt(i) : 2n ** 64n - 1n - BigInt(i));
const objectsOf = (i: number): bigint[] => (i % 3 === 0 ? [OBJECTS[0]!] : i % 4 === 1 ? [...OBJECTS] : []);

/** The points of an annotation, in its cell of a grid over the picture. */
function pointsOf(type: AnnotationType, i: number): Point[] {
  const at = (x: number, y: number, z: number): Point => [
    64 + ((i % COLUMNS) + x) * 320,
    64 + (Math.floor(i / COLUMNS) + y) * 350,
    400 + i * 10 + z,
  ];
  const [a, b, c] = [at(0.2, 0.2 + (i % 5) / 20, 0), at(0.75, 0.5 + (i % 3) / 8, 30), at(0.3, 0.8, 60)];
  if (type === "ellipsoid") return [b, [RADIUS, RADIUS, 60]];
  return type === "point" ? [a] : type === "polyline" ? [a, b, c] : [a, b];
}

function annotationsOf(type: AnnotationType): Annotations {
  const all = Array.from({ length: COUNT }, (_, i) => pointsOf(type, i));
  const per = all[0]!.length;
  const related = all.map((_, i) => objectsOf(i));
  let end = 0;
  return {
    ids: BigUint64Array.from(all, (_, i) => idOf(i)),
    offsets: Uint32Array.from({ length: COUNT + 1 }, (_, i) => i * per),
    points: Float32Array.from(all.flat(2)),
    properties: new Map<string, Uint8Array | Int16Array | Float32Array>([
      ["kind", Uint8Array.from(all, (_, i) => kind(i))],
      ["tint", Uint8Array.from(all.flatMap((_, i) => tint(i)))],
      ["score", Int16Array.from(all, (_, i) => score(i))],
      ["size", Float32Array.from(all, (_, i) => size(i))],
    ]),
    related: new Map([
      [
        "cell",
        {
          offsets: Uint32Array.from([0, ...related.map((ids) => (end += ids.length))]),
          ids: BigUint64Array.from(related.flat()),
        },
      ],
    ]),
  };
}

async function write(folder: string, type: AnnotationType, sharded: boolean): Promise<readonly number[]> {
  const description = {
    type,
    dimensions: ["x", "y", "z"].map((name) => ({ name, scale: UNIT * 1e-9, unit: "m" })),
    properties: [
      { id: "kind", type: "uint8", enum: { values: [0, 1, 2], labels: ["none", "one", "two"] } },
      { id: "tint", type: "rgb" },
      { id: "score", type: "int16" },
      { id: "size", type: "float32" },
    ] as const,
    relationships: ["cell"],
  };
  const writer = await createAnnotations(fileStore(folder), Prefix.root, description, { limit: 3, sharded });
  await writer.add(annotationsOf(type));
  return (await writer.commit()).levels;
}

/** What is drawn of annotation i, with the properties of another one. */
function strokesOf(type: AnnotationType, i: number, other = i): Stroke[] {
  const [red, green] = tint(other);
  const colour: Colour = [red, green, (-255 * score(other)) / 100];
  const width = type === "ellipsoid" ? (2 * RADIUS * UNIT * SIZE.height) / VIEW.height : size(other) + kind(other);
  const points = pointsOf(type, i).map((point) => point.map((value) => value * UNIT));
  const [a = [], b = []] = points;
  const corner = (bits: number): Point => [0, 1, 2].map((axis) => ((bits >> axis) & 1 ? b : a)[axis]!);
  const lines: (readonly [Point, Point])[] =
    type === "point" || type === "ellipsoid"
      ? [[a, a]]
      : type === "axis_aligned_bounding_box"
        ? [1, 2, 4].flatMap((bit) =>
            [0, 1, 2, 3, 4, 5, 6, 7].filter((at) => !(at & bit)).map((at) => [corner(at), corner(at | bit)] as const),
          )
        : points.slice(1).map((point, k) => [points[k]!, point]);
  return lines.map((ends) => ({ ends, colours: [colour, colour], width }));
}

/** Cells of the spatial index that hold nothing have no file, and the client asks for them all the same. */
function emptyCells(folder: string, name: string): string[] {
  const { spatial } = JSON.parse(readFileSync(join(folder, "info"), "utf8")) as {
    spatial: { key: string; sharding?: object; grid_shape: [number, number, number] }[];
  };
  return spatial.flatMap(({ key, sharding, grid_shape: [nx, ny, nz] }) => {
    if (sharding !== undefined) return [];
    const cells = Array.from({ length: nx * ny * nz }, (_, i) => [
      i % nx,
      Math.floor(i / nx) % ny,
      Math.floor(i / nx / ny),
    ]);
    const absent = cells.map((cell) => cell.join("_")).filter((cell) => !existsSync(join(folder, key, cell)));
    return absent.map((cell) => `404: /${name}/${key}/${cell}`);
  });
}

/** Annotations as the client holds them, each looked up by its id. */
const LOOK_UP = (name: string, ids: readonly string[]): string => `(async () => {
  const { layer } = globalThis.viewer.layerManager.managedLayers.find((one) => one.name === ${JSON.stringify(name)});
  const { source } = layer.annotationStates.states[0];
  const found = [];
  for (const id of ${JSON.stringify(ids)}) {
    const reference = source.getReference(id);
    while (reference.value === undefined) await new Promise((resolve) => reference.changed.addOnce(resolve));
    const { point, properties, relatedSegments } = reference.value;
    found.push({ point: [...point], properties, related: relatedSegments.map((ids) => [...ids].map(String)) });
  }
  return found;
})()`;

inNeuroglancer("annotations in Neuroglancer", ({ folder, source, show }) => {
  const layer = (name: string): State["layers"][number] => ({
    type: "annotation",
    name,
    source: source(name),
    shader: SHADER,
    projectionAnnotationSpacing: 1, // as many as there are
  });
  const state = (name: string): State => ({ ...stateOf(VIEW), layers: [layer(name)] });
  const everyone = Array.from({ length: COUNT }, (_, i) => i);
  const wanted = (type: AnnotationType, some = everyone): Wanted =>
    strokes(
      VIEW,
      some.flatMap((i) => strokesOf(type, i)),
    );

  it.each(ANNOTATION_TYPES)("%s", async (type) => {
    for (const name of type === "point" ? ["point sharded", "point in files"] : [`${type} sharded`]) {
      const levels = await write(folder(name), type, name.endsWith("sharded"));
      expect(levels.length).toBeGreaterThan(2);
      const { picture, complaints, asked } = await show(state(name));
      expect([...complaints].sort()).toEqual(emptyCells(folder(name), name).sort());
      expect(asked.some(({ status }) => status === 206)).toBe(name.endsWith("sharded"));
      const how = { tolerance: 2, lit: type === "ellipsoid" };
      const { coloured, black, wrong } = compare(picture, wanted(type), how);
      expect(wrong).toEqual([]);
      expect(coloured).toBeGreaterThan(900);
      expect(black).toBeGreaterThan(150_000);
      // The same picture is none of all but one, nor of the same in other colours.
      expect(compare(picture, wanted(type, everyone.slice(1)), how).wrong).not.toEqual([]);
      const others = strokes(
        VIEW,
        everyone.flatMap((i) => strokesOf(type, i, (i + 1) % COUNT)),
      );
      expect(compare(picture, others, how).wrong).not.toEqual([]);
    }
  });

  it("those of an object, and each by its id", async () => {
    await write(folder("related"), "point", true);
    await writeSegmentProperties(fileStore(folder("cells")), Prefix.root, {
      ids: BigUint64Array.from(OBJECTS),
      properties: [{ id: "label", type: "label", values: ["five", "the last"] }],
    });
    for (const object of OBJECTS) {
      const cells = { type: "segmentation", name: "cells", source: source("cells"), segments: [`${object}`] };
      const linked = { linkedSegmentationLayer: { cell: "cells" }, filterBySegmentation: ["cell"] };
      let found: unknown;
      const shown = await show(
        { ...stateOf(VIEW), layers: [cells, { ...layer("related"), ...linked }] },
        async (page) => {
          found = await page.evaluate(
            LOOK_UP(
              "related",
              everyone.map((i) => `${idOf(i)}`),
            ),
          );
        },
      );
      expect(shown.complaints).toEqual([]);
      expect(requestsIn(shown)).toEqual({ cells: 1, related: 1, "related/rel_0": 3, "related/by_id": 2 + COUNT });
      const own = everyone.filter((i) => objectsOf(i).includes(object));
      expect(compare(shown.picture, wanted("point", own), { tolerance: 2 }).wrong).toEqual([]);
      const truth = everyone.map((i) => {
        const [red, green, blue] = tint(i); // held as one number
        const properties = [size(i), score(i), kind(i), red + 256 * (green + 256 * blue)];
        return { point: pointsOf("point", i)[0]!.map(Math.fround), properties, related: [objectsOf(i).map(String)] };
      });
      expect(found).toEqual(truth);
    }
  });

  it("does not pass with damage", async () => {
    await write(folder("whole"), "point", true);
    damage(folder("whole"), folder("damaged"));
    const { picture, complaints } = await show(state("damaged"));
    expect([...complaints, ...compare(picture, wanted("point"), { tolerance: 2 }).wrong]).not.toEqual([]);
  });
});
