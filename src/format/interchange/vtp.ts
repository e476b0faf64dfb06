/**
 * VTK's XML polydata (.vtp): `<VTKFile type="PolyData">`, in it `<PolyData>` with one `<Piece>` that says how many points and cells there are, and
 * `<DataArray>`s for `<Points>`, `<Verts>`, `<Lines>`, `<Strips>`, `<Polys>` (connectivity, and where each cell ends), `<PointData>` and `<CellData>`.
 */
import type { NumericType } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { loadZlib } from "../../codec/zlib.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import { type ByteSource, begin, type InputFile, partOf } from "./file.js";
import {
  arrayName,
  asPlaces,
  type CellArrays,
  fewComponents,
  type Keep,
  keepPlaces,
  kept,
  keptPoints,
  noCells,
  OffsetCheck,
  type PolyArray,
  type PolyData,
  polyGeometry,
} from "./polydata.js";
import { polyContent } from "./polydata-passing.js";
import { FLOAT32 } from "./surface.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";
import { type Encoding, packedArray, textNumbers } from "./vtp-arrays.js";
import { type ArrayTag, type Document, readDocument } from "./vtp-document.js";
import { writeVtp } from "./vtp-write.js";

export const file: FileFormat = { holdsEmpty: true, open, write: writeVtp };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const { where } = input;
  const limits = withLimits(options.limits);
  return polyContent(input, options, {
    async outline() {
      const { root, piece } = await readDocument(begin(input, options), where, limits, true);
      const count = (name: string): number => counted(piece, `NumberOf${name}`, where);
      return { version: versionOf(root), geometry: polyGeometry(count("Polys") + count("Strips"), count("Lines")) };
    },
    async read(source, keep, mostOfBlock) {
      const document = await readDocument(source, where, limits);
      return parse(document, source, await encodingOf(document, where, limits, mostOfBlock), keep);
    },
  });
}

const versionOf = (root: Document["root"]): string => `VTP ${root.get("version") ?? "0.1"}`;

const TYPE = /^(Int|UInt|Float)(8|16|32|64)$/;

function typeOf({ attributes }: ArrayTag, where: string): NumericType {
  const name = attributes.get("type");
  const found = TYPE.exec(name ?? "");
  const kind = found?.[1]?.toLowerCase() as NumericType["kind"] | undefined;
  const size = Number(found?.[2]) / 8;
  if (kind === undefined || (kind === "float" && size < 4))
    throw new Unsupported(`${where} has an array of type ${JSON.stringify(name)}, which is not read`, { where });
  return { kind, size, endian: "little" } as NumericType;
}

function counted(piece: Document["piece"], name: string, where: string): number {
  const value = Number(piece.get(name) ?? 0);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Corrupt(`${where} has the ${name} ${JSON.stringify(piece.get(name))}`, { where });
}

/** The numbers of an array, some at a time. */
async function* arrayOf(
  { attributes, from, to }: ArrayTag,
  { appended }: Document,
  source: ByteSource,
  wanted: { readonly type: NumericType; readonly count: number; readonly what: string },
  encoding: Encoding,
): AsyncGenerator<NumericArray> {
  const format = attributes.get("format") ?? "ascii";
  if (format === "ascii") return yield* textNumbers(partOf(source, from, to), wanted, encoding);
  if (format === "binary") return yield* packedArray(await trimmed(source, from, to), true, wanted, encoding);
  const offset = Number(attributes.get("offset"));
  if (format !== "appended" || appended === undefined || !(offset >= 0 && offset <= appended.to - appended.from)) {
    const { where } = encoding;
    const said = `${wanted.what} is ${format} at ${attributes.get("offset")}`;
    throw new Corrupt(`${where}: ${said}, where nothing is`, { where });
  }
  yield* packedArray(partOf(source, appended.from + offset, appended.to), appended.base64, wanted, encoding);
}

async function parse<A>(
  document: Document,
  source: ByteSource,
  encoding: Encoding,
  keep: Keep<A>,
): Promise<PolyData<A>> {
  const { root, piece, arrays, notes } = document;
  const { where } = encoding;
  const read = (tag: ArrayTag, count: number, what: string) =>
    arrayOf(tag, document, source, { type: typeOf(tag, where), count, what }, encoding);
  const find = (section: string, name?: string): ArrayTag | undefined =>
    arrays.find((tag) => tag.section === section && (name === undefined || tag.attributes.get("Name") === name));

  const points = counted(piece, "NumberOfPoints", where);
  const place = find("Points");
  if (place === undefined && points > 0) throw new Corrupt(`${where} has no array in <Points>`, { where });
  const positions =
    place === undefined
      ? await keep(FLOAT32, 0, 3).done()
      : await keptPoints(keep, typeOf(place, where), points, read(place, 3 * points, "the points"));
  const cellsOf = async (section: string): Promise<CellArrays<A>> => {
    const count = counted(piece, `NumberOf${section}`, where);
    const [offsets, connectivity] = [find(section, "offsets"), find(section, "connectivity")];
    if (count === 0) return noCells(keep);
    if (offsets === undefined || connectivity === undefined)
      throw new Corrupt(`${where} has no offsets or connectivity in <${section}>`, { where });
    const check = new OffsetCheck(where, section);
    const starts = keepPlaces(keep, count + 1);
    for await (const values of read(offsets, count, `offsets of ${section}`)) {
      if (check.count === 0) await starts.add(check.take(Uint32Array.of(0)));
      await starts.add(check.take(asPlaces(values)));
    }
    check.end(check.last);
    const ends = read(connectivity, check.last, `connectivity of ${section}`);
    return { count, offsets: await starts.done(), ends: await kept(keepPlaces(keep, check.last), ends, asPlaces) };
  };
  const cells = {
    verts: await cellsOf("Verts"),
    lines: await cellsOf("Lines"),
    polys: await cellsOf("Polys"),
    strips: await cellsOf("Strips"),
  };
  const rows = Object.values(cells).reduce((sum, own) => sum + own.count, 0);
  const data = async (section: string, count: number): Promise<Map<string, PolyArray<A>>> => {
    const own = new Map<string, PolyArray<A>>();
    for (const tag of arrays.filter((each) => each.section === section)) {
      const said = tag.attributes.get("Name") ?? section;
      const channels = Number(tag.attributes.get("NumberOfComponents") ?? 1);
      if (!fewComponents(channels))
        throw new Corrupt(`${where}: the array ${said} has ${channels} components`, { where });
      const name = arrayName(said, channels);
      const taker = keep(typeOf(tag, where), count * channels, channels);
      own.set(name, { name, channels, values: await kept(taker, read(tag, count * channels, `the array ${said}`)) });
    }
    return own;
  };
  const [pointData, cellData] = [await data("PointData", points), await data("CellData", rows)];
  return { version: versionOf(root), points, positions, cells, pointData, cellData, notes };
}

async function encodingOf({ root }: Document, where: string, limits: Limits, mostOfBlock: number): Promise<Encoding> {
  const compressor = root.get("compressor") ?? "";
  if (compressor !== "" && compressor !== "vtkZLibDataCompressor")
    throw new Unsupported(`${where} is packed with ${compressor.slice(0, 60)}, and zlib is read`, { where });
  return {
    where,
    limits,
    mostOfBlock,
    little: root.get("byte_order") !== "BigEndian",
    word: root.get("header_type") === "UInt64" ? 8 : 4,
    zlib: compressor === "" ? undefined : await loadZlib(),
  };
}

/** The text between two places, without blanks around it. */
async function trimmed(source: ByteSource, from: number, to: number): Promise<ByteSource> {
  let [first, last] = [from, to];
  const at = async (place: number): Promise<Uint8Array> => source.read(place, Math.min(BLANKS, last - place));
  for (;;) {
    const found = (await at(first)).findIndex((byte) => byte > 32);
    first = found < 0 ? Math.min(last, first + BLANKS) : first + found;
    if (found >= 0 || first >= last) break;
  }
  for (;;) {
    const start = Math.max(first, last - BLANKS);
    const found = (await at(start)).findLastIndex((byte) => byte > 32);
    last = start + found + 1;
    if (found >= 0 || start === first) break;
  }
  return partOf(source, first, last);
}

const BLANKS = 1 << 12; // bytes that are looked at together
