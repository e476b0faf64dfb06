/** What both writers of VTK's polydata have in common: a spool for each array, poured one after the other in the end. */
import { swapBytes } from "../../bytes/swap.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { bytesOf, type NumericType, numericView } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { Batch, Columns } from "../../model/vectors.js";
import { pickRows } from "../../query/columns.js";
import type { Sink } from "../../store/types.js";
import type { CellKind } from "./polydata.js";
import { type Spool, spoolIn } from "./spool.js";
import { FLOAT32, FLOAT64, INT32 } from "./surface.js";
import {
  batchesOf,
  endsOf,
  type Lane,
  lanes,
  lossesOf,
  OBJECT_ID,
  objectOfVertices,
  shortText,
  tellBatch,
} from "./surface-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

/** An array that waits. */
export interface Waiting {
  readonly name: string;
  readonly type: NumericType;
  readonly channels: number;
  readonly spool: Spool;
}

export interface Collected {
  readonly points: Waiting;
  readonly kind: CellKind;
  readonly cells: number;
  /** The places of all cells; with `counted` each cell after how many it has. */
  readonly ends: Waiting;
  /** Where each cell ends. */
  readonly offsets: Waiting;
  readonly pointData: readonly Waiting[];
  readonly cellData: readonly Waiting[];
  readonly report: FileReport;
}

const GEOMETRIES = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"] as const;

/** Everything; `counted`: as the legacy files have their cells. */
export async function collect(data: FileData, options: WriteFileOptions, counted: boolean): Promise<Collected> {
  const { geometry, schema } = data;
  const isPath = geometry === "lines" || geometry === "polylines" || geometry === "streamlines";
  const losses = lossesOf(data, "VTK's polydata", GEOMETRIES, isPath ? ["object"] : []);
  if (geometry === "graph" || geometry === "skeletons")
    losses.add("edges are lines in VTK, and readers give a path for each");
  const batches = await batchesOf(data, options);
  const waiting = (name: string, type: NumericType, channels: number): Waiting => ({
    name,
    type,
    channels,
    spool: spoolIn(options.scratch),
  });
  const wait = (lane: Lane) => ({ lane, waiting: waiting(arrayName(lane), lane.type, lane.info.channels) });
  const own = batches.named && !isPath && geometry !== "points" ? [OBJECT_ID] : [];
  const pointData = lanes([...own, ...schema.vertex], losses, true).map(wait);
  const cellData = lanes(isPath ? schema.object : schema.link, losses, true).map(wait);
  const ids = wait(lanes([OBJECT_ID], losses, true)[0]!);
  const [points, ends, offsets] = [
    waiting("Points", batches.double ? FLOAT64 : FLOAT32, 3),
    waiting("connectivity", INT32, 1),
    waiting("offsets", INT32, 1),
  ];
  let [vertices, objects, cells, places, renumbered] = [0, 0, 0, 0, false];
  const put = async (list: readonly ReturnType<typeof wait>[], columns: Columns, rows: number): Promise<void> => {
    for (const { lane, waiting: to } of list) await to.spool.write(bytesOf(lane.values(columns, rows)));
  };
  for await (const { batch, first } of batches) {
    tellBatch(batch, losses);
    const rows = batch.positions.length / 3;
    const columns = new Map(batch.vertexColumns);
    if (own.length > 0) columns.set(OBJECT_ID.name, { info: OBJECT_ID, values: objectOfVertices(batch) });
    await points.spool.write(bytesOf(batch.positions));
    await put(pointData, columns, rows);
    const found = cellsOf(batch, first, places, counted);
    await ends.spool.write(bytesOf(found.ends));
    await offsets.spool.write(bytesOf(found.offsets));
    if (isPath) {
      const of = Uint32Array.from(batch.objects, (row) => Math.max(0, row));
      await put(cellData, pickedRows(batch.objectColumns, of), of.length);
      const partIds = BigInt64Array.from(of, (row) => BigInt.asIntN(64, batch.ids[row] ?? 0n));
      renumbered ||= partIds.some((id, i) => id !== BigInt(cells + i));
      await ids.waiting.spool.write(bytesOf(partIds));
    } else await put(cellData, batch.links?.columns ?? new Map(), found.offsets.length);
    cells += found.offsets.length;
    places += found.places;
    vertices += rows;
    objects += batch.repeats ? 0 : batch.ids.length;
  }
  return {
    points,
    kind: geometry === "mesh" ? "polys" : geometry === "points" ? "verts" : "lines",
    cells,
    ends,
    offsets,
    pointData: pointData.map((each) => each.waiting),
    cellData: [...(isPath && renumbered ? [ids] : []), ...(geometry === "points" ? [] : cellData)].map(
      (each) => each.waiting,
    ),
    report: { vertices, objects, losses: [...losses] },
  };
}

function pickedRows(columns: Columns, rows: Uint32Array): Columns {
  return rows.every((row, i) => row === i) ? columns : pickRows(columns, rows);
}

const arrayName = ({ info: { name, channels } }: Lane): string =>
  name === "normal" && channels === 3 ? "Normals" : name === "uv" && channels === 2 ? "TCoords" : name;

/** Cells of a batch: faces, paths, edges, or each point by itself. */
function cellsOf(batch: Batch, first: number, before: number, counted: boolean) {
  const { geometry, parts, positions } = batch;
  const isPath = geometry === "lines" || geometry === "polylines" || geometry === "streamlines";
  const list = isPath || geometry === "points" ? undefined : endsOf(batch);
  const width = geometry === "mesh" ? 3 : geometry === "points" ? 1 : 2;
  const places = list?.length ?? positions.length / 3;
  const count = isPath ? parts.length - 1 : places / width;
  const [ends, offsets] = [new Int32Array(places + (counted ? count : 0)), new Int32Array(count)];
  let [at, place] = [0, 0];
  for (let cell = 0; cell < count; cell++) {
    const size = isPath ? parts[cell + 1]! - parts[cell]! : width;
    if (counted) ends[at++] = size;
    for (let k = 0; k < size; k++) {
      ends[at++] = first + (list === undefined ? place : list[place]!);
      place++;
    }
    offsets[cell] = before + place;
  }
  return { ends, offsets, places };
}

/** Pours an array: little-endian, big-endian, or as text with `channels` numbers in a line. */
export async function pourAs(
  { type, channels, spool }: Waiting,
  sink: Sink,
  as: "little" | "big" | "text",
): Promise<void> {
  const write = (bytes: Uint8Array): Promise<void> => {
    if (as === "little") return sink.write(bytes);
    if (as === "big") return sink.write(swapBytes(bytes, type.size));
    return sink.write(encodeUtf8(textOf(numericView(type, bytes), type, channels), "numbers"));
  };
  await spool.pour({ write });
}

function textOf(values: NumericArray, { kind, size }: NumericType, channels: number): string {
  const out: string[] = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    out.push(
      kind === "float" && size === 4 ? shortText(value as number) : String(value),
      (i + 1) % channels === 0 ? "\n" : " ",
    );
  }
  return out.join("");
}
