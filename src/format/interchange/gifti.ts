/**
 * GIFTI, surfaces of the brain in XML: `<DataArray>`s, of which one has the intent POINTSET and one TRIANGLE; arrays with a row for each vertex (or each
 * face) are attributes, by their name or their intent. Coordinates are as they are stored, in millimetres; the transforms beside
 * them, names and labels stay in the header.
 *
 * Of one that is too large to be held, tags and texts are held, and the numbers of each array are put aside (gifti-arrays.ts).
 */
import type { JsonObject } from "../../bytes/json.js";
import { type NumericType, numericView } from "../../codec/numeric.js";
import { Corrupt, Unsupported } from "../../errors.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { bytesFile, type InputFile, wholeOrPassing } from "./file.js";
import { type ArrayRows, type ArrayShape, readArray, shapeOf } from "./gifti-arrays.js";
import { type ArrayTag, type GiftiDocument, parseDocument } from "./gifti-document.js";
import { OF_FACES, writeGifti } from "./gifti-write.js";
import { asPlaces } from "./polydata.js";
import { RAS_MM } from "./streamlines.js";
import { column, columns } from "./surface.js";
import { type BlockOptions, blocksContent, NO_LINKS, NO_VERTICES } from "./surface-blocks.js";
import type { SurfaceFile } from "./surface-passing.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = { units: "millimeter", open, write: writeGifti };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const bytes = await wholeOrPassing(input, options);
  const refusal = bytes instanceof Unsupported ? bytes : undefined;
  const source = bytes instanceof Unsupported ? input : bytesFile(input, bytes);
  const document = await parseDocument(source, options, refusal);
  const roles = rolesOf(document, input.where);
  const { arrays, labels, metaData, version } = document;
  const told = (i: number): JsonObject =>
    i < 0 ? {} : { metaData: arrays[i]!.metaData, transforms: arrays[i]!.transforms };
  const known = {
    version: `GIFTI ${version}`,
    geometry: roles.triangles < 0 ? ("points" as const) : ("mesh" as const),
    axes: RAS_MM,
    header: { metaData, labels, points: told(roles.points), triangles: told(roles.triangles) },
  };
  return blocksContent(known, refusal, (now) => surfaceFile(roles, source, now), input, options);
}

/** An attribute: what it is, and the number of its array. */
interface Lane {
  readonly info: AttributeInfo;
  readonly array: number;
}

/** What each array is. */
interface Roles {
  readonly shapes: readonly ArrayShape[];
  /** The numbers of these arrays; −1 where there is none. */
  readonly points: number;
  readonly triangles: number;
  readonly ofVertices: readonly Lane[];
  readonly ofFaces: readonly Lane[];
  readonly notes: readonly string[];
}

const intentOf = ({ attributes }: ArrayTag): string => (attributes.get("Intent") ?? "").replace(/^NIFTI_INTENT_/, "");

function rolesOf({ arrays }: GiftiDocument, where: string): Roles {
  const placeOf = (intent: string): number => arrays.findIndex((tag) => intentOf(tag) === intent);
  const [points, triangles] = [placeOf("POINTSET"), placeOf("TRIANGLE")];
  if (points < 0)
    throw new Unsupported(`${where} has no POINTSET: it is about a surface in another file`, {
      where,
      hint: "Open the .surf.gii file.",
    });
  const shapes = arrays.map((tag, i) => shapeOf(tag, i, where));
  const [place, faces] = [shapes[points]!, shapes[triangles]];
  if (place.channels !== 3 && place.rows > 0)
    throw new Corrupt(`${where}: points of ${place.channels} coordinates`, { where });
  if (faces !== undefined && faces.channels !== 3 && faces.rows > 0)
    throw new Corrupt(`${where}: faces of ${faces.channels} corners`, { where });
  const [ofVertices, ofFaces, notes]: [Lane[], Lane[], string[]] = [[], [], []];
  for (const [array, tag] of arrays.entries()) {
    if (array === points || array === triangles) continue;
    const { rows, channels, type } = shapes[array]!;
    const intent = intentOf(tag).toLowerCase();
    const plain =
      tag.metaData.find(([name]) => name === "Name")?.[1] || (intent === "vector" ? "normal" : intent) || "data";
    const saysFaces = tag.metaData.some(([name, value]) => `${[name, value]}` === `${OF_FACES}`);
    const list = rows === place.rows && !saysFaces ? ofVertices : rows === faces?.rows ? ofFaces : undefined;
    let name = plain;
    for (let k = 2; list?.some(({ info }) => info.name === name); k++) name = `${plain}_${k}`;
    if (list === undefined || channels < 1)
      notes.push(`the array ${name} of ${rows} rows is left out: it is about neither vertices nor faces`);
    else list.push({ info: column(name, noneOf(type), channels, { description: intent }).info, array });
  }
  return { shapes, points, triangles, ofVertices, ofFaces, notes };
}

const noneOf = (type: NumericType) => numericView(type, new Uint8Array());

async function surfaceFile(roles: Roles, source: InputFile, options: BlockOptions): Promise<SurfaceFile> {
  const scratch = options.makeScratch?.();
  const arrays: ArrayRows[] = [];
  for (const shape of roles.shapes) arrays.push(await readArray(shape, source, options, scratch));
  const [points, faces] = [arrays[roles.points]!, arrays[roles.triangles]];
  const read = async (lanes: readonly Lane[], from: number, to: number): Promise<Columns> => {
    const own: Column[] = [];
    for (const { info, array } of lanes) own.push({ info, values: await arrays[array]!.read(from, to) });
    return columns(...own);
  };
  return {
    where: source.where,
    geometry: faces === undefined ? "points" : "mesh",
    async *blocks(what) {
      for (let from = 0; what !== "links" && from < points.rows; from += options.rows) {
        const to = Math.min(from + options.rows, points.rows);
        const vertexColumns = await read(roles.ofVertices, from, to);
        const positions = placesOf(await points.read(from, to));
        yield { ...NO_LINKS, positions, vertexColumns, place: (_, i) => `point ${from + i}` };
      }
      for (let from = 0; what !== "vertices" && faces !== undefined && from < faces.rows; from += options.rows) {
        const to = Math.min(from + options.rows, faces.rows);
        const linkColumns = await read(roles.ofFaces, from, to);
        const links = asPlaces(await faces.read(from, to));
        yield { ...NO_VERTICES, links, linkColumns, place: (_, i) => `triangle ${from + i}` };
      }
    },
    told: () => ({ notes: roles.notes }),
  };
}

const placesOf = (values: Awaited<ReturnType<ArrayRows["read"]>>): Positions =>
  values instanceof Float64Array || values instanceof Float32Array
    ? values
    : Float32Array.from(values as ArrayLike<number | bigint>, Number);
