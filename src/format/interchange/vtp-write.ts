/** Writes .vtp: tags first, arrays behind them as they are; as text in their tags where that is asked for. */
import { encodeUtf8 } from "../../bytes/text.js";
import type { NumericType } from "../../codec/numeric.js";
import type { Sink } from "../../store/types.js";
import { collect, pourAs, type Waiting } from "./polydata-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";
import { escapeXml } from "./xml.js";

const SECTIONS = { verts: "Verts", lines: "Lines", polys: "Polys", strips: "Strips" } as const;

export async function writeVtp(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const { points, kind, cells, ends, offsets, pointData, cellData, report } = await collect(data, options, false);
  const text = (line: string): Promise<void> => sink.write(encodeUtf8(`${line}\n`, "a tag of VTK"));
  const appended: Waiting[] = [];
  let offset = 0;
  const array = async (own: Waiting): Promise<void> => {
    const tag = `<DataArray type="${typeName(own.type)}" Name="${escapeXml(own.name)}" NumberOfComponents="${own.channels}"`;
    if (options.ascii === true) {
      await text(`${tag} format="ascii">`);
      await pourAs(own, sink, "text");
      return text("</DataArray>");
    }
    await text(`${tag} format="appended" offset="${offset}"/>`);
    appended.push(own);
    offset += 8 + own.spool.length;
  };
  const section = async (name: string, list: readonly Waiting[]): Promise<void> => {
    if (list.length === 0) return;
    const normals = name === "PointData" && list.some((own) => own.name === "Normals") ? ' Normals="Normals"' : "";
    await text(`<${name}${normals}>`);
    for (const own of list) await array(own);
    await text(`</${name}>`);
  };
  const counts = Object.entries(SECTIONS).map(([own, name]) => ` NumberOf${name}="${own === kind ? cells : 0}"`);
  await text('<?xml version="1.0"?>');
  await text('<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">');
  await text(`<PolyData>\n<Piece NumberOfPoints="${report.vertices}"${counts.join("")}>`);
  await section("PointData", pointData);
  await section("CellData", cellData);
  await section("Points", [points]);
  await section(SECTIONS[kind], [ends, offsets]);
  await text("</Piece>\n</PolyData>");
  if (appended.length > 0) {
    await sink.write(encodeUtf8('<AppendedData encoding="raw">\n_', "a tag of VTK"));
    for (const own of appended) {
      const size = new Uint8Array(8);
      new DataView(size.buffer).setBigUint64(0, BigInt(own.spool.length), true);
      await sink.write(size);
      await pourAs(own, sink, "little");
    }
    await text("\n</AppendedData>");
  }
  await text("</VTKFile>");
  return report;
}

const typeName = ({ kind, size }: NumericType): string =>
  `${{ int: "Int", uint: "UInt", float: "Float" }[kind]}${8 * size}`;
