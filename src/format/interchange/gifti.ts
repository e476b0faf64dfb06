/**
 * GIFTI, surfaces of the brain in XML: `<DataArray>`s, of which one has the intent POINTSET and one TRIANGLE; arrays with a row for each vertex (or each
 * face) are attributes, by their name or their intent. Coordinates are as they are stored, in millimetres; the transforms beside
 * them, names and labels stay in the header.
 *
 * | Encoding           | text of `<Data>`                          |
 * |--------------------|-------------------------------------------|
 * | `ASCII`            | numbers                                   |
 * | `Base64Binary`     | bytes, in the order that `Endian` says    |
 * | `GZipBase64Binary` | the same, packed with zlib                |
 */
import type { Json, JsonObject } from "../../bytes/json.js";
import { swapBytes } from "../../bytes/swap.js";
import { type NumericType, numericView } from "../../codec/numeric.js";
import { copyStrided } from "../../codec/strided.js";
import type { NumericArray } from "../../codec/types.js";
import { loadZlib, type Zlib } from "../../codec/zlib.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import type { Column } from "../../model/attributes.js";
import { strides } from "../../space/shape.js";
import { decodeBase64 } from "./base64.js";
import { type InputFile, whole } from "./file.js";
import { OF_FACES, writeGifti } from "./gifti-write.js";
import { asPlaces } from "./polydata.js";
import { RAS_MM } from "./streamlines.js";
import { column, columns, type Surface, surfaceContent } from "./surface.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";
import { textArray } from "./vtp-arrays.js";
import { XmlReader } from "./xml.js";

export const file: FileFormat = { units: "millimeter", open, write: writeGifti };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const limits = withLimits(options.limits);
  const bytes = await whole(input, limits.resultBytes, options);
  const document = parseDocument(bytes, input.where, limits);
  return surfaceContent(surface(document, input.where, limits, await loadZlib()), input, options);
}

interface ArrayTag {
  readonly attributes: ReadonlyMap<string, string>;
  /** Name and value pairs. */
  readonly metaData: [string, string][];
  readonly transforms: { [key: string]: Json }[];
  data: Uint8Array;
}

interface Document {
  readonly version: string;
  readonly metaData: [string, string][];
  readonly labels: JsonObject[];
  readonly arrays: ArrayTag[];
}

function parseDocument(bytes: Uint8Array, where: string, limits: Limits): Document {
  const reader = new XmlReader(where, limits);
  const path: string[] = [];
  const document: Document & { version: string } = { version: "", metaData: [], labels: [], arrays: [] };
  let [text, before, from] = ["", 0, 0];
  const array = (): ArrayTag | undefined => (path.includes("DataArray") ? document.arrays.at(-1) : undefined);
  for (const event of reader.push(bytes)) {
    if (event.kind === "text") {
      if (path.at(-1) !== "Data") text += event.text;
    } else if (event.kind === "open") {
      const { name, attributes } = event;
      if (path.length === 0 && name !== "GIFTI")
        throw new Corrupt(`${where} should be <GIFTI>, found <${name}>`, { where });
      path.push(name);
      [text, from] = ["", reader.offset];
      if (name === "GIFTI") document.version = attributes.get("Version") ?? "1.0";
      else if (name === "DataArray")
        document.arrays.push({ attributes, metaData: [], transforms: [], data: new Uint8Array() });
      else if (name === "MD") (array() ?? document).metaData.push(["", ""]);
      else if (name === "CoordinateSystemTransformMatrix") array()?.transforms.push({});
      else if (name === "Label") document.labels.push(Object.fromEntries(attributes));
    } else {
      const { name } = event;
      const pair = (array() ?? document).metaData.at(-1);
      const transform = array()?.transforms.at(-1);
      if (name === "Name" && pair !== undefined) pair[0] = text;
      else if (name === "Value" && pair !== undefined) pair[1] = text;
      else if (name === "Label") document.labels[document.labels.length - 1] = { ...document.labels.at(-1), text };
      else if (name === "Data" && array() !== undefined) array()!.data = bytes.subarray(from, before);
      else if (transform !== undefined && (name === "DataSpace" || name === "TransformedSpace"))
        transform[name] = text.trim();
      else if (transform !== undefined && name === "MatrixData") transform[name] = text.trim().split(/\s+/).map(Number);
      path.pop();
      text = "";
    }
    before = reader.offset;
  }
  for (const _ of reader.end());
  return document;
}

const TYPES: { readonly [name: string]: NumericType } = {
  NIFTI_TYPE_UINT8: { kind: "uint", size: 1, endian: "little" },
  NIFTI_TYPE_INT8: { kind: "int", size: 1, endian: "little" },
  NIFTI_TYPE_INT16: { kind: "int", size: 2, endian: "little" },
  NIFTI_TYPE_UINT16: { kind: "uint", size: 2, endian: "little" },
  NIFTI_TYPE_INT32: { kind: "int", size: 4, endian: "little" },
  NIFTI_TYPE_UINT32: { kind: "uint", size: 4, endian: "little" },
  NIFTI_TYPE_INT64: { kind: "int", size: 8, endian: "little" },
  NIFTI_TYPE_UINT64: { kind: "uint", size: 8, endian: "little" },
  NIFTI_TYPE_FLOAT32: { kind: "float", size: 4, endian: "little" },
  NIFTI_TYPE_FLOAT64: { kind: "float", size: 8, endian: "little" },
};

interface Array2 {
  readonly values: NumericArray;
  readonly rows: number;
  readonly channels: number;
}

function readArray(tag: ArrayTag, number: number, where: string, limits: Limits, zlib: Zlib): Array2 {
  const { attributes, data } = tag;
  const what = `DataArray ${number}`;
  const type = TYPES[attributes.get("DataType") ?? ""];
  if (type === undefined)
    throw new Unsupported(`${where}: ${what} is of type ${attributes.get("DataType")}`, { where });
  const rank = Number(attributes.get("Dimensionality") ?? 1);
  const shape = Array.from({ length: Math.min(6, rank) }, (_, i) => Number(attributes.get(`Dim${i}`) ?? Number.NaN));
  const count = shape.reduce((product, size) => product * size, 1);
  if (!(rank >= 1) || shape.some((size) => !Number.isInteger(size) || size < 0) || !Number.isSafeInteger(count))
    throw new Corrupt(`${where}: ${what} has the shape ${shape.join(" × ")}`, { where });
  if (count * type.size > limits.resultBytes)
    throw new LimitExceeded(`${where}: ${what} would have ${count * type.size} bytes`, { where });
  const [rows, channels] = [shape[0]!, count === 0 ? 1 : count / shape[0]!];
  let values: NumericArray;
  const encoding = attributes.get("Encoding");
  if (encoding === "ASCII") values = textArray(data, type, count, { where }, what);
  else if (encoding === "Base64Binary" || encoding === "GZipBase64Binary") {
    const packed = decodeBase64(data, `${where}, ${what},`).bytes;
    const raw = encoding === "Base64Binary" ? packed : zlib.decompress(packed, count * type.size, limits);
    if (raw.length !== count * type.size)
      throw new Corrupt(`${where}: ${what} has ${raw.length} bytes where ${count * type.size} were expected`, {
        where,
      });
    values = numericView(type, attributes.get("Endian") === "BigEndian" ? swapBytes(raw, type.size) : raw);
  } else throw new Unsupported(`${where}: ${what} is ${encoding ?? "without Encoding"}, which is not read`, { where });
  if (attributes.get("ArrayIndexingOrder") === "ColumnMajorOrder" && rank > 1) {
    const turned = new Uint8Array(values.byteLength);
    const raw = new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
    copyStrided(
      turned,
      { offset: 0, strides: strides(shape) },
      raw,
      { offset: 0, strides: strides([...shape].reverse()).reverse() },
      shape,
      type,
    );
    values = numericView(type, turned);
  }
  return { values, rows, channels };
}

const intentOf = ({ attributes }: ArrayTag): string => (attributes.get("Intent") ?? "").replace(/^NIFTI_INTENT_/, "");

function surface(document: Document, where: string, limits: Limits, zlib: Zlib): Surface {
  const { arrays, labels, metaData, version } = document;
  const placeOf = (intent: string): number => arrays.findIndex((tag) => intentOf(tag) === intent);
  const [points, triangles] = [placeOf("POINTSET"), placeOf("TRIANGLE")];
  if (points < 0)
    throw new Unsupported(`${where} has no POINTSET: it is about a surface in another file`, {
      where,
      hint: "Open the .surf.gii file.",
    });
  const read = (i: number): Array2 => readArray(arrays[i]!, i, where, limits, zlib);
  const place = read(points);
  if (place.channels !== 3) throw new Corrupt(`${where}: points of ${place.channels} coordinates`, { where });
  const faces = triangles < 0 ? undefined : read(triangles);
  if (faces !== undefined && faces.channels !== 3 && faces.rows > 0)
    throw new Corrupt(`${where}: faces of ${faces.channels} corners`, { where });
  const positions =
    place.values instanceof Float64Array ? place.values : Float32Array.from(place.values as Float32Array);
  const [own, faceOwn, notes]: [Column[], Column[], string[]] = [[], [], []];
  for (const [i, tag] of arrays.entries()) {
    if (i === points || i === triangles) continue;
    const { values, rows, channels } = read(i);
    const intent = intentOf(tag).toLowerCase();
    const plain =
      tag.metaData.find(([name]) => name === "Name")?.[1] || (intent === "vector" ? "normal" : intent) || "data";
    const ofFaces = rows !== place.rows || tag.metaData.some(([name, value]) => `${[name, value]}` === `${OF_FACES}`);
    const list = !ofFaces ? own : rows === faces?.rows ? faceOwn : undefined;
    let name = plain;
    for (let k = 2; list?.some(({ info }) => info.name === name); k++) name = `${plain}_${k}`;
    if (list === undefined || channels < 1)
      notes.push(`the array ${name} of ${rows} rows is left out: it is about neither vertices nor faces`);
    else list.push(column(name, values, channels, { description: intent }));
  }
  const told = (i: number): JsonObject =>
    i < 0 ? {} : { metaData: arrays[i]!.metaData, transforms: arrays[i]!.transforms };
  return {
    version: `GIFTI ${version}`,
    geometry: faces === undefined ? "points" : "mesh",
    axes: RAS_MM,
    positions,
    vertexColumns: columns(...own),
    links: faces && asPlaces(faces.values),
    linkColumns: columns(...faceOwn),
    header: { metaData, labels, points: told(points), triangles: told(triangles) },
    notes,
    place: (what, i) => (what === "link" ? `triangle ${i}` : `point ${i}`),
  };
}
