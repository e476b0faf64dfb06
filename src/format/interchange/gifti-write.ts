/** Writes GIFTI: arrays packed with zlib, headers as they came. */
import { concat } from "../../bytes/concat.js";
import { isJsonObject, type Json } from "../../bytes/json.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { bytesOf, type NumericType } from "../../codec/numeric.js";
import { loadZlib } from "../../codec/zlib.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { Sink } from "../../store/types.js";
import { encodeBase64 } from "./base64.js";
import { inMillimetres } from "./millimetres.js";
import { type Spool, spoolIn } from "./spool.js";
import { FLOAT32, INT32 } from "./surface.js";
import { asFloat32, batchesOf, lanes, lossesOf, OBJECT_ID, objectOfVertices, tellBatch } from "./surface-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";
import { escapeXml } from "./xml.js";

/** Says so of an array where there are as many faces as vertices, and its length does not. */
export const OF_FACES = ["Rows", "faces"] as const;

export async function writeGifti(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const losses = lossesOf(data, "GIFTI", ["mesh", "points"]);
  const batches = await batchesOf(data, options);
  const mesh = data.geometry === "mesh";
  const own = batches.named && mesh ? [OBJECT_ID] : [];
  const wait = (list: readonly AttributeInfo[]) =>
    lanes(list, losses, true).map((lane) => ({ lane, spool: spoolIn(options.scratch) }));
  const [vertexData, faceData] = [wait([...own, ...data.schema.vertex]), wait(mesh ? data.schema.link : [])];
  const [points, faces] = [spoolIn(options.scratch), spoolIn(options.scratch)];
  let [vertices, links, objects] = [0, 0, 0];
  for await (const { batch, first } of batches) {
    tellBatch(batch, losses);
    const rows = batch.positions.length / 3;
    const columns = new Map(batch.vertexColumns);
    if (own.length > 0) columns.set(OBJECT_ID.name, { info: OBJECT_ID, values: objectOfVertices(batch) });
    await points.write(bytesOf(asFloat32(inMillimetres(batch.positions, data.axes), "GIFTI", losses)));
    for (const { lane, spool } of vertexData) await spool.write(bytesOf(lane.values(columns, rows)));
    const ends = batch.links?.ends ?? new Uint32Array();
    await faces.write(bytesOf(Int32Array.from(ends, (end) => end + first)));
    for (const { lane, spool } of faceData)
      await spool.write(bytesOf(lane.values(batch.links?.columns ?? new Map(), ends.length / 3)));
    vertices += rows;
    links += ends.length / 3;
    objects += batch.repeats ? 0 : batch.ids.length;
  }
  const header = data.headers.get("gifti") ?? {};
  const zlib = await loadZlib();
  const text = (line: string): Promise<void> => sink.write(encodeUtf8(`${line}\n`, "a tag of GIFTI"));
  const array = async (
    intent: string,
    type: NumericType,
    rows: number,
    channels: number,
    inside: string,
    spool: Spool,
  ): Promise<void> => {
    const pieces: Uint8Array[] = [];
    await spool.pour({ write: async (bytes) => void pieces.push(bytes.slice()) });
    const dims =
      channels === 1 ? `Dimensionality="1" Dim0="${rows}"` : `Dimensionality="2" Dim0="${rows}" Dim1="${channels}"`;
    const kind = `NIFTI_TYPE_${type.kind.toUpperCase()}${8 * type.size}`;
    await text(
      `<DataArray Intent="NIFTI_INTENT_${intent}" DataType="${kind}" ArrayIndexingOrder="RowMajorOrder" ${dims} Encoding="GZipBase64Binary" Endian="LittleEndian" ExternalFileName="" ExternalFileOffset="">\n${inside}\n<Data>`,
    );
    await sink.write(encodeBase64(zlib.compress(concat(pieces), 6)));
    await text("</Data>\n</DataArray>");
  };
  const count = 1 + (mesh ? 1 : 0) + vertexData.length + faceData.length;
  await text(
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE GIFTI SYSTEM "http://www.nitrc.org/frs/download.php/115/gifti.dtd">',
  );
  await text(
    `<GIFTI Version="1.0" NumberOfDataArrays="${count}">\n${metaData(header.metaData)}\n${labelTable(header.labels)}`,
  );
  await array("POINTSET", FLOAT32, vertices, 3, arrayHeader(header.points, true), points);
  if (mesh) await array("TRIANGLE", INT32, links, 3, arrayHeader(header.triangles, false), faces);
  for (const [list, rows, more] of [
    [vertexData, vertices, []],
    [faceData, links, links === vertices ? [OF_FACES] : []],
  ] as const)
    for (const { lane, spool } of list) {
      const { name, channels, description } = lane.info;
      const intent = /^[a-z0-9_]+$/.test(description ?? "") ? description!.toUpperCase() : "NONE";
      await array(intent, lane.type, rows, channels, metaData([["Name", name], ...more]), spool);
    }
  await text("</GIFTI>");
  return { vertices, objects, losses: [...losses] };
}

function metaData(pairs: Json | undefined): string {
  const list = Array.isArray(pairs)
    ? pairs.filter((pair): pair is [string, string] => Array.isArray(pair) && pair.length === 2)
    : [];
  const inside = list.map(
    ([name, value]) => `<MD><Name>${escapeXml(String(name))}</Name><Value>${escapeXml(String(value))}</Value></MD>`,
  );
  return `<MetaData>${inside.join("")}</MetaData>`;
}

function labelTable(labels: Json | undefined): string {
  const list = Array.isArray(labels) ? labels.filter(isJsonObject) : [];
  const inside = list.map((label) => {
    const { text, ...attributes } = label;
    const own = Object.entries(attributes).filter(([name]) => /^[A-Za-z]+$/.test(name));
    return `<Label${own.map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`).join("")}>${escapeXml(String(text ?? ""))}</Label>`;
  });
  return `<LabelTable>${inside.join("")}</LabelTable>`;
}

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** The transforms of points: what was read, or none that changes anything. */
function arrayHeader(header: Json | undefined, points: boolean): string {
  const own = isJsonObject(header) ? header : {};
  const found = Array.isArray(own.transforms) ? own.transforms.filter(isJsonObject) : [];
  const transforms = !points
    ? []
    : found.length > 0
      ? found
      : [{ DataSpace: "NIFTI_XFORM_UNKNOWN", TransformedSpace: "NIFTI_XFORM_UNKNOWN", MatrixData: IDENTITY }];
  const inside = transforms.map(({ DataSpace, TransformedSpace, MatrixData }) => {
    const space = (name: string, value: Json | undefined): string =>
      `<${name}>${escapeXml(String(value ?? "NIFTI_XFORM_UNKNOWN"))}</${name}>`;
    const matrix = Array.isArray(MatrixData) && MatrixData.length === 16 ? MatrixData : IDENTITY;
    return `<CoordinateSystemTransformMatrix>${space("DataSpace", DataSpace)}${space("TransformedSpace", TransformedSpace)}<MatrixData>${matrix.map(Number).join(" ")}</MatrixData></CoordinateSystemTransformMatrix>`;
  });
  return `${metaData(own.metaData)}${inside.join("")}`;
}
