/** Writes legacy VTK 3.0 with polydata: the form that every reader knows. */
import { encodeUtf8 } from "../../bytes/text.js";
import type { NumericType } from "../../codec/numeric.js";
import type { Sink } from "../../store/types.js";
import { collect, pourAs, type Waiting } from "./polydata-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";
import { TYPES } from "./vtk-header.js";

const WORDS = { verts: "VERTICES", lines: "LINES", polys: "POLYGONS", strips: "TRIANGLE_STRIPS" } as const;

export async function writeVtk(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const { points, kind, cells, ends, pointData, cellData, report } = await collect(data, options, true);
  const as = options.ascii === true ? "text" : "big";
  const line = (text: string): Promise<void> => sink.write(encodeUtf8(`${text}\n`, "a line of VTK"));
  const array = async (text: string, own: Waiting): Promise<void> => {
    await line(text);
    await pourAs(own, sink, as);
    await line("");
  };
  const title = data.headers.get("vtk")?.title;
  await line("# vtk DataFile Version 3.0");
  await line(typeof title === "string" && !/[\r\n]/.test(title) && title !== "" ? title.slice(0, 255) : "polydata");
  await line(as === "text" ? "ASCII" : "BINARY");
  await line("DATASET POLYDATA");
  await array(`POINTS ${report.vertices} ${vtkType(points.type)}`, points);
  if (cells > 0) await array(`${WORDS[kind]} ${cells} ${ends.spool.length / 4}`, ends);
  for (const [word, rows, list] of [
    ["POINT_DATA", report.vertices, pointData],
    ["CELL_DATA", cells, cellData],
  ] as const) {
    if (list.length === 0 || rows === 0) continue;
    await line(`${word} ${rows}`);
    const fields = list.filter((own) => !hasWord(own));
    for (const own of list.filter(hasWord))
      await array(
        own.name === "Normals"
          ? `NORMALS Normals ${vtkType(own.type)}`
          : `TEXTURE_COORDINATES TCoords 2 ${vtkType(own.type)}`,
        own,
      );
    if (fields.length === 0) continue;
    await line(`FIELD FieldData ${fields.length}`);
    for (const own of fields)
      await array(`${encodeURIComponent(own.name)} ${own.channels} ${rows} ${vtkType(own.type)}`, own);
  }
  return report;
}

const hasWord = ({ name, channels, type }: Waiting): boolean =>
  type.kind === "float" && ((name === "Normals" && channels === 3) || (name === "TCoords" && channels === 2));

const vtkType = ({ kind, size }: NumericType): string =>
  [...TYPES].find(([, own]) => own.kind === kind && own.size === size)![0];
