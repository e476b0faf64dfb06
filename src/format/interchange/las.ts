/**
 * LAS 1.0 to 1.4: points of one size behind a header, in pieces of some megabytes. Coordinates are whole numbers × scale + offset, in
 * float64 as the standard means them. Compressed files (LAZ, COPC) are the same with other bytes: laz.ts.
 */

import type { JsonObject } from "../../bytes/json.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Piece } from "../rows/row-source.js";
import { exactly, type InputFile } from "./file.js";
import { extraFields, FORMATS, type LasField } from "./las-fields.js";
import { type LasHeader, readLasHeader, recordOf } from "./las-header.js";
import { type Constants, columnsOf, positionsOf } from "./las-points.js";
import { writeLas } from "./las-write.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = { open: openLas, write: writeLas };
/** Read only: nobody has an encoder for browsers. */
export const laz: FileFormat = { open: openLas };

const PIECE = 4 << 20;

/** Where the points of a piece are, as bytes of points. */
export interface PointPieces {
  readonly counts: Uint32Array;
  readonly bytes: Float64Array;
  read(piece: number, options: ReadOptions): Promise<Uint8Array>;
  /** Of an octree: the boxes of pieces, and how many of the first ones each level has. */
  readonly boxes?: Float64Array | undefined;
  readonly until?: readonly number[] | undefined;
}

async function openLas(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const { where } = input;
  const header = await readLasHeader(input, options);
  const { version, format, compressed, pointBytes, points, scale, offset, min, max } = header;
  const known = FORMATS[format]!;
  const fields = [...known.fields, ...extraFields(recordOf(header, "LASF_Spec", 4)?.data, known.bytes, pointBytes)];
  const infos: AttributeInfo[] = fields.map(({ info }) => info);
  const wkt = recordOf(header, "LASF_Projection", 2112)?.data;
  const isOctree = compressed && recordOf(header, "copc", 1) !== undefined;
  const octree = isOctree ? await (await import("./copc.js")).readOctree(input, header, options) : undefined;
  const places = [...min, ...max].every(Number.isFinite) && points > 0;
  return {
    version: `${isOctree ? "COPC, " : ""}${compressed ? "LAZ" : "LAS"} ${version.join(".")}, point format ${format}`,
    geometry: "points",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space" })),
    crs: wkt && new TextDecoder().decode(wkt).replace(/\0+$/, ""),
    linkWidth: 0,
    header: headerJson(header),
    losses: leftOut(fields, known.bytes, pointBytes),
    vertices: points,
    finite: true, // as scale and offset are, which readLasHeader has looked at
    levels: octree?.levels,
    bounds: places ? { min, max } : undefined,
    async index(now) {
      const pieces: PointPieces =
        octree?.pieces ??
        (compressed
          ? await (await import("./laz.js")).lazPieces(input, header, now)
          : plainPieces(input, header, options));
      const constants: Constants = new Map();
      return {
        schema: { vertex: infos, object: [], link: [], fragment: [], group: [] },
        objects: undefined,
        vertices: pieces.counts,
        bytes: pieces.bytes,
        boxes: pieces.boxes,
        until: pieces.until,
        async load(piece, call): Promise<Piece> {
          const count = pieces.counts[piece]!;
          const bytes = await pieces.read(piece, call);
          if (bytes.length < count * pointBytes) throw new Corrupt(`${where} ends within its points`, { where });
          return {
            positions: positionsOf(bytes, count, pointBytes, { scale, offset }),
            parts: Uint32Array.of(0, count),
            vertexColumns: columnsOf(bytes, count, pointBytes, fields, constants),
            objectColumns: new Map(),
          };
        },
      };
    },
  };
}

function leftOut(fields: readonly LasField[], base: number, pointBytes: number): string[] {
  const end = fields.reduce((last, { info, at, stored }) => Math.max(last, at + stored.size * info.channels), base);
  return end < pointBytes
    ? [`${pointBytes - end} extra bytes of each point are described by nothing, and are left out.`]
    : [];
}

function plainPieces(input: InputFile, header: LasHeader, { onBad }: OpenFileOptions): PointPieces {
  const { where, size } = input;
  const { points, pointsAt, pointBytes } = header;
  const there = size === undefined ? points : Math.max(0, Math.floor((size - pointsAt) / pointBytes));
  if (there < points) {
    const problem = new Corrupt(`${where} says that it has ${points} points, and ends after ${there}`, { where });
    if (onBad === undefined) throw problem;
    onBad(problem);
  }
  const total = Math.min(points, there);
  if (size === undefined && total >= 2 ** 32)
    throw new LimitExceeded(`${where} says that it has ${points} points: unpack it before it is read`, { where });
  const each = Math.max(1, Math.floor(PIECE / pointBytes));
  const counts = Uint32Array.from({ length: Math.ceil(total / each) }, (_, i) => Math.min(each, total - i * each));
  return {
    counts,
    bytes: Float64Array.from(counts, (count) => count * pointBytes),
    read: (piece, options) =>
      exactly(input, pointsAt + piece * each * pointBytes, counts[piece]! * pointBytes, "its points", options),
  };
}

/** What the way back needs: las-write.ts has it again. */
function headerJson({
  version,
  sourceId,
  encoding,
  guid,
  system,
  software,
  day,
  year,
  format,
  scale,
  offset,
  records,
}: LasHeader): JsonObject {
  const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return {
    version: version.join("."),
    pointFormat: format,
    sourceId,
    encoding,
    guid: hex(guid),
    system,
    software,
    day,
    year,
    scale: [...scale],
    offset: [...offset],
    records: records
      .filter(({ user, data }) => user !== "laszip encoded" && user !== "copc" && data.length < 65536)
      .map(({ user, id, description, data, extended }) => ({ user, id, description, data: hex(data), extended })),
  };
}
