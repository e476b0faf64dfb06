/**
 * OBJ that is too large to be held: its text is read once, and what it says is put aside as rows.
 *
 * | put aside            | a row                                                                                     |
 * |----------------------|-------------------------------------------------------------------------------------------|
 * | vertices             | three coordinates as float64, its line and its section                                    |
 * | colours              | three of float32, where there are any                                                     |
 * | normals, textures    | three and two of float32                                                                  |
 * | triangles            | three vertices, its line and its section; apart, where there are any, three normals, three textures |
 * | paths                | where it begins, its line and its section; apart, the vertices of all                     |
 */
import { concat } from "../../bytes/concat.js";
import { LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { pick } from "../../query/columns.js";
import type { Scratch } from "../../store/scratch.js";
import type { InputFile } from "./file.js";
import { NumberRows } from "./number-rows.js";
import { NOWHERE, type ObjLines, type ObjParser, objParser, wholeLines } from "./obj-parse.js";
import { fan } from "./polygons.js";
import { countLines, textBlocks } from "./text.js";

/** An OBJ, put aside. */
export interface ObjAside {
  readonly where: string;
  readonly positions: NumberRows<Float64Array>;
  /** Line and section of each vertex. */
  readonly vertexAt: NumberRows<Uint32Array>;
  readonly colors: NumberRows<Float32Array>;
  readonly normals: NumberRows<Float32Array>;
  readonly textures: NumberRows<Float32Array>;
  /** The vertices of each triangle. */
  readonly triangles: NumberRows<Uint32Array>;
  readonly triangleAt: NumberRows<Uint32Array>;
  readonly normalEnds: NumberRows<Uint32Array>;
  readonly textureEnds: NumberRows<Uint32Array>;
  /** Path i has the vertices pathStarts[i] up to pathStarts[i + 1] of `pathEnds`. */
  readonly pathStarts: NumberRows<Uint32Array>;
  readonly pathEnds: NumberRows<Uint32Array>;
  readonly pathAt: NumberRows<Uint32Array>;
  /** The section of all triangles; undefined where they have several. */
  readonly section: number | undefined;
  /** A triangle names a vertex that is not there. */
  readonly nowhere: boolean;
  /** Faces and paths of the file, and polygons that are no triangles. */
  readonly counts: { readonly faces: number; readonly paths: number; readonly many: number; readonly few: number };
  readonly parser: Pick<ObjParser, "sections" | "others">;
}

export async function putAside(input: InputFile, scratch: Scratch, options: ReadOptions): Promise<ObjAside> {
  const { where } = input;
  const parser = objParser(where);
  const rows = {
    positions: new NumberRows<Float64Array>(Float64Array, 3, scratch),
    vertexAt: new NumberRows<Uint32Array>(Uint32Array, 2, scratch),
    colors: new NumberRows<Float32Array>(Float32Array, 3, scratch),
    normals: new NumberRows<Float32Array>(Float32Array, 3, scratch),
    textures: new NumberRows<Float32Array>(Float32Array, 2, scratch),
    triangles: new NumberRows<Uint32Array>(Uint32Array, 3, scratch),
    triangleAt: new NumberRows<Uint32Array>(Uint32Array, 2, scratch),
    normalEnds: new NumberRows<Uint32Array>(Uint32Array, 3, scratch),
    textureEnds: new NumberRows<Uint32Array>(Uint32Array, 3, scratch),
    pathStarts: new NumberRows<Uint32Array>(Uint32Array, 1, scratch),
    pathEnds: new NumberRows<Uint32Array>(Uint32Array, 1, scratch),
    pathAt: new NumberRows<Uint32Array>(Uint32Array, 2, scratch),
  };
  const inSections = new Set<number>();
  const counts = { faces: 0, paths: 0, many: 0, few: 0 };
  let most = -1;

  const take = async (lines: ObjLines): Promise<void> => {
    const { positions, colors, faces, paths } = lines;
    const before = rows.positions.count;
    await rows.positions.add(positions);
    await rows.vertexAt.add(paired(lines.vertexLine, lines.vertexSection));
    if (colors !== undefined) {
      await rows.colors.fill(before, Number.NaN);
      await rows.colors.add(colors);
    }
    await rows.normals.add(lines.normals);
    await rows.textures.add(lines.textures);
    counts.faces += faces.line.length;
    counts.paths += paths.line.length;
    const offsets = faces.offsets.done();
    const { links, from, many, few } = fan({ offsets, corners: faces.vertex.done() }, new Map());
    counts.many += many;
    counts.few += few;
    for (const end of links) if (end > most) most = end;
    if (inSections.size < 2) for (const section of faces.section.done()) inSections.add(section);
    for (const [list, to] of [
      [faces.normal, rows.normalEnds],
      [faces.texture, rows.textureEnds],
    ] as const) {
      if (list.length === 0) continue;
      while (list.length < faces.vertex.length) list.push(NOWHERE);
      await to.fill(rows.triangles.count, NOWHERE);
      await to.add(fan({ offsets, corners: list.done() }, new Map()).links);
    }
    const at = paired(faces.line.done(), faces.section.done());
    await rows.triangles.add(links);
    await rows.triangleAt.add(from === undefined ? at : pick(at, 2, from));
    const first = rows.pathEnds.count;
    await rows.pathStarts.add(
      paths.offsets
        .done()
        .subarray(1)
        .map((offset) => first + offset),
    );
    await rows.pathEnds.add(paths.vertex.done());
    await rows.pathAt.add(paired(paths.line.done(), paths.section.done()));
  };
  await rows.pathStarts.add(Uint32Array.of(0));

  for await (const block of unbroken(input, options)) {
    parser.take(block);
    await take(parser.shift());
  }
  if (rows.colors.count > 0) await rows.colors.fill(rows.positions.count, Number.NaN);
  for (const ends of [rows.normalEnds, rows.textureEnds])
    if (ends.count > 0) await ends.fill(rows.triangles.count, NOWHERE);
  const section = inSections.size === 1 ? [...inSections][0] : undefined;
  return { where, ...rows, section, nowhere: most >= rows.positions.count, counts, parser };
}

/** Blocks that end with a line that does not go on in the next. */
async function* unbroken(input: InputFile, options: ReadOptions) {
  const most = withLimits(options.limits).chunkBytes;
  let rest: Uint8Array = new Uint8Array();
  let line = 1;
  for await (const { bytes } of textBlocks(input, options)) {
    const joined = rest.length === 0 ? bytes : concat([rest, bytes]);
    const end = wholeLines(joined);
    if (end > 0) yield { bytes: joined.subarray(0, end), line };
    line += countLines(joined, end);
    rest = joined.slice(end);
    if (rest.length > most)
      throw new LimitExceeded(`${input.where}: line ${line} has more than the ${most} bytes of limits.chunkBytes`);
  }
  if (rest.length > 0) yield { bytes: rest, line };
}

function paired(a: Uint32Array, b: Uint32Array): Uint32Array {
  const pairs = new Uint32Array(2 * a.length);
  for (let i = 0; i < a.length; i++) {
    pairs[2 * i] = a[i]!;
    pairs[2 * i + 1] = b[i]!;
  }
  return pairs;
}
