/**
 * VTK's XML polydata (.vtp): `<VTKFile type="PolyData">`, in it `<PolyData>` with one `<Piece>` that says how many points and cells there are, and
 * `<DataArray>`s for `<Points>`, `<Verts>`, `<Lines>`, `<Strips>`, `<Polys>` (connectivity, and where each cell ends), `<PointData>` and `<CellData>`.
 */
import type { NumericType } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { loadZlib } from "../../codec/zlib.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import type { Positions } from "../../model/vectors.js";
import { type InputFile, whole } from "./file.js";
import {
  arrayName,
  asPlaces,
  type CellArrays,
  fewComponents,
  OffsetCheck,
  type PolyArray,
  type PolyData,
  polySurface,
} from "./polydata.js";
import { surfaceContent } from "./surface.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";
import { type Encoding, packedArray, textArray } from "./vtp-arrays.js";
import { writeVtp } from "./vtp-write.js";
import { XmlReader } from "./xml.js";

export const file: FileFormat = { holdsEmpty: true, open, write: writeVtp };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const limits = withLimits(options.limits);
  const bytes = await whole(input, limits.resultBytes, options);
  const poly = await parse(bytes, input.where, limits);
  return surfaceContent(polySurface(poly, input.where, options), input, options);
}

/** An array as its tag says. */
interface ArrayTag {
  readonly section: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Its text, as bytes of the file. */
  text: Uint8Array;
}

interface Document {
  readonly root: ReadonlyMap<string, string>;
  readonly piece: ReadonlyMap<string, string>;
  readonly arrays: readonly ArrayTag[];
  readonly notes: readonly string[];
  /** What follows `_`, and how. */
  readonly appended: { readonly bytes: Uint8Array; readonly base64: boolean } | undefined;
}

/** The tags; texts of arrays stay bytes of the file, since they may be long. */
function parseDocument(bytes: Uint8Array, where: string, limits: Limits): Document {
  const reader = new XmlReader(where, limits);
  const path: string[] = [];
  let [root, piece]: (ReadonlyMap<string, string> | undefined)[] = [undefined, undefined];
  let open: { tag: ArrayTag; from: number } | undefined;
  const [arrays, notes]: [ArrayTag[], string[]] = [[], []];
  let before = 0;
  const done = (appended?: Document["appended"]): Document => {
    if (root?.get("type") !== "PolyData")
      throw new Unsupported(`${where} is VTK with ${root?.get("type") ?? "no data"}, and PolyData is read`, { where });
    if (piece === undefined) throw reader.corrupt("no <Piece> in <PolyData>");
    return { root, piece, arrays, notes, appended };
  };
  for (const event of reader.push(bytes)) {
    if (event.kind === "close") {
      path.pop();
      if (event.name === "DataArray" && open !== undefined) {
        open.tag.text = bytes.subarray(open.from, before);
        open = undefined;
      }
    } else if (event.kind === "open") {
      const { name, attributes } = event;
      if (path.length === 0) root = attributes;
      else if (name === "Piece") {
        if (piece !== undefined) throw new Unsupported(`${where} has several pieces, and one is read`, { where });
        piece = attributes;
      } else if (name === "DataArray" && path.includes("Piece")) {
        const tag = { section: path.at(-1)!, attributes, text: new Uint8Array() };
        arrays.push(tag);
        open = { tag, from: reader.offset };
      } else if (name === "Array" || name === "DataArray")
        notes.push(`the array ${attributes.get("Name") ?? ""} is left out`);
      else if (name === "AppendedData") {
        const from = bytes.indexOf(0x5f, reader.offset) + 1;
        if (from === 0) throw reader.corrupt("<AppendedData> without _");
        const base64 = attributes.get("encoding") !== "raw";
        const end = base64 ? bytes.indexOf(0x3c, from) : bytes.length;
        return done({ bytes: bytes.subarray(from, end < 0 ? bytes.length : end), base64 });
      }
      path.push(name);
    }
    before = reader.offset;
  }
  for (const _ of reader.end());
  return done();
}

const TYPE = /^(Int|UInt|Float)(8|16|32|64)$/;

function typeOf(name: string | undefined, where: string): NumericType {
  const found = TYPE.exec(name ?? "");
  const kind = found?.[1]?.toLowerCase() as NumericType["kind"] | undefined;
  const size = Number(found?.[2]) / 8;
  if (kind === undefined || (kind === "float" && size < 4))
    throw new Unsupported(`${where} has an array of type ${JSON.stringify(name)}, which is not read`, { where });
  return { kind, size, endian: "little" } as NumericType;
}

async function parse(bytes: Uint8Array, where: string, limits: Limits): Promise<PolyData<NumericArray>> {
  const { root, piece, arrays, appended, notes: told } = parseDocument(bytes, where, limits);
  const notes = [...told];
  const encoding = await encodingOf(root, where, limits);
  const counted = (name: string): number => {
    const value = Number(piece.get(name) ?? 0);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw new Corrupt(`${where} has the ${name} ${JSON.stringify(piece.get(name))}`, { where });
  };
  const read = ({ attributes, text }: ArrayTag, rows: number, channels: number, what: string): NumericArray => {
    const type = typeOf(attributes.get("type"), where);
    const count = rows * channels;
    const format = attributes.get("format") ?? "ascii";
    if (format === "ascii") return textArray(text, type, count, encoding, what);
    if (format === "binary") return packedArray(trimmed(text), true, type, count, encoding, what);
    const offset = Number(attributes.get("offset"));
    if (format !== "appended" || appended === undefined || !(offset >= 0 && offset <= appended.bytes.length))
      throw new Corrupt(`${where}: ${what} is ${format} at ${attributes.get("offset")}, where nothing is`, { where });
    return packedArray(appended.bytes.subarray(offset), appended.base64, type, count, encoding, what);
  };
  const find = (section: string, name?: string): ArrayTag | undefined =>
    arrays.find((tag) => tag.section === section && (name === undefined || tag.attributes.get("Name") === name));

  const points = counted("NumberOfPoints");
  const place = find("Points");
  if (place === undefined && points > 0) throw new Corrupt(`${where} has no array in <Points>`, { where });
  const values = place === undefined ? new Float32Array() : read(place, points, 3, "the points");
  const positions: Positions = values instanceof Float64Array ? values : Float32Array.from(values as Float32Array);
  const cellsOf = (section: string): CellArrays<NumericArray> => {
    const count = counted(`NumberOf${section}`);
    const [offsets, connectivity] = [find(section, "offsets"), find(section, "connectivity")];
    if (count === 0) return { count, offsets: Uint32Array.of(0), ends: new Uint32Array() };
    if (offsets === undefined || connectivity === undefined)
      throw new Corrupt(`${where} has no offsets or connectivity in <${section}>`, { where });
    const own = new Uint32Array(count + 1);
    own.set(asPlaces(read(offsets, count, 1, `offsets of ${section}`)), 1);
    const check = new OffsetCheck(where, section);
    check.take(own);
    check.end(own[count]!);
    return { count, offsets: own, ends: asPlaces(read(connectivity, own[count]!, 1, `connectivity of ${section}`)) };
  };
  const cells = {
    verts: cellsOf("Verts"),
    lines: cellsOf("Lines"),
    polys: cellsOf("Polys"),
    strips: cellsOf("Strips"),
  };
  const rows = Object.values(cells).reduce((sum, own) => sum + own.count, 0);
  const data = (section: string, count: number): Map<string, PolyArray<NumericArray>> => {
    const own = new Map<string, PolyArray<NumericArray>>();
    for (const tag of arrays.filter((each) => each.section === section)) {
      const said = tag.attributes.get("Name") ?? section;
      const channels = Number(tag.attributes.get("NumberOfComponents") ?? 1);
      if (!fewComponents(channels))
        throw new Corrupt(`${where}: the array ${said} has ${channels} components`, { where });
      const name = arrayName(said, channels);
      own.set(name, { name, channels, values: read(tag, count, channels, `the array ${said}`) });
    }
    return own;
  };
  return {
    version: `VTP ${root.get("version") ?? "0.1"}`,
    points,
    positions,
    cells,
    pointData: data("PointData", points),
    cellData: data("CellData", rows),
    notes,
  };
}

async function encodingOf(root: ReadonlyMap<string, string>, where: string, limits: Limits): Promise<Encoding> {
  const compressor = root.get("compressor") ?? "";
  if (compressor !== "" && compressor !== "vtkZLibDataCompressor")
    throw new Unsupported(`${where} is packed with ${compressor.slice(0, 60)}, and zlib is read`, { where });
  return {
    where,
    limits,
    little: root.get("byte_order") !== "BigEndian",
    word: root.get("header_type") === "UInt64" ? 8 : 4,
    zlib: compressor === "" ? undefined : await loadZlib(),
  };
}

function trimmed(bytes: Uint8Array): Uint8Array {
  let [from, to] = [0, bytes.length];
  while (from < to && bytes[from]! <= 32) from++;
  while (to > from && bytes[to - 1]! <= 32) to--;
  return bytes.subarray(from, to);
}
