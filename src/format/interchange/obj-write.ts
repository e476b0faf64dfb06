/** Writes OBJ: object by object its vertices and then what connects them, so that nothing has to wait. */
import type { Batch, Columns } from "../../model/vectors.js";
import type { Sink } from "../../store/types.js";
import type { Ids } from "../rows/row-source.js";
import { batchesOf, endsOf, lanes, linksByPart, lossesOf, nameOf, shortText, tellBatch } from "./surface-write.js";
import { textSink } from "./text-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

const NO_GROUP = "default"; // what OBJ calls it

export async function writeObj(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const { geometry } = data;
  const kinds = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"] as const;
  const losses = lossesOf(data, "OBJ", kinds, ["object"]);
  tellLeft(data, losses);
  const batches = await batchesOf(data, options);
  const groupsOf = await groupNames(data);
  const out = textSink(sink);
  const written = { normal: 0, uv: 0 };
  let [vertices, objects, group] = [0, 0, NO_GROUP];
  for await (const { batch, first } of batches) {
    tellBatch(batch, losses);
    const vertex = attributes(batch.vertexColumns, batch.positions.length / 3, losses);
    const ends = endsOf(batch);
    const corner = attributes(batch.links?.columns ?? new Map(), ends.length / 3, losses, 3);
    const linksOf = linksByPart(batch.parts, ends, geometry === "mesh" ? 3 : 2);
    for (let part = 0; part < batch.objects.length; part++) {
      const row = batch.objects[part]!;
      if (row >= 0 && geometry !== "points") {
        const id = batch.ids[row]!;
        const name = nameOf(batch, row);
        if (name !== undefined && id !== BigInt(objects + row))
          losses.add("objects have their names in OBJ, and no ids besides");
        if (name !== undefined || batches.several || id !== 0n) await out.write(`o ${name ?? id}\n`);
        const groups = groupsOf.get(id)?.join(" ") ?? NO_GROUP;
        if (groups !== group) await out.write(`g ${groups}\n`);
        group = groups;
      }
      const [from, to] = [batch.parts[part]!, batch.parts[part + 1]!];
      for (let i = from; i < to; i++) {
        const full = out.write(vertexLines(batch, vertex, i));
        if (full !== undefined) await full; // not each time: that alone would take as long as the writing
      }
      if (geometry === "mesh") await writeFaces(linksOf(part), ends, { first, vertex, corner, written, out });
      else if (geometry === "graph" || geometry === "skeletons")
        for (const link of linksOf(part))
          await out.write(`l ${first + ends[2 * link]! + 1} ${first + ends[2 * link + 1]! + 1}\n`);
      else if (geometry !== "points" && to - from > 1) {
        await out.write("l");
        for (let i = from; i < to; i++) await out.write(` ${first + i + 1}`);
        await out.write("\n");
      }
    }
    written.normal += vertex.normal === undefined ? 0 : batch.positions.length / 3;
    written.uv += vertex.uv === undefined ? 0 : batch.positions.length / 3;
    vertices += batch.positions.length / 3;
    objects += batch.repeats ? 0 : batch.ids.length;
  }
  await out.end();
  return { vertices, objects, losses: [...losses] };
}

const isPath = (geometry: FileData["geometry"]): boolean =>
  geometry === "lines" || geometry === "polylines" || geometry === "streamlines";

function tellLeft({ schema, geometry }: FileData, losses: Set<string>): void {
  const left = [
    ...schema.vertex
      .filter(({ name, channels }) => !isKnown(name, channels, 1) || (isPath(geometry) && name !== "color"))
      .map(({ name }) => name),
    ...schema.link.filter(({ name, channels }) => !isKnown(name, channels, 3)).map(({ name }) => `link.${name}`),
    ...(["object", "group"] as const).flatMap((domain) =>
      schema[domain].filter(({ name }) => name !== "name").map(({ name }) => `${domain}.${name}`),
    ),
  ];
  if (left.length > 0) losses.add(`OBJ has no place for ${left.join(", ")}`);
  if (geometry === "graph" || geometry === "skeletons")
    losses.add("edges are lines in OBJ, and its readers give a path for each");
}

const CHANNELS = { normal: 3, uv: 2, color: 3 } as const;
const isKnown = (name: string, channels: number, corners: 1 | 3): boolean =>
  name in CHANNELS &&
  (channels === corners * CHANNELS[name as "uv"] || (name === "color" && channels === 4)) &&
  !(name === "color" && corners === 3);

interface Known {
  readonly normal?: ArrayLike<number>;
  readonly uv?: ArrayLike<number>;
  readonly color?: ArrayLike<number>;
}

/** What OBJ has lines for; colours go from 0 to 1 there. */
function attributes(columns: Columns, rows: number, losses: Set<string>, corners: 1 | 3 = 1): Known {
  const known = [...columns.values()]
    .map(({ info }) => info)
    .filter(({ name, channels }) => isKnown(name, channels, corners));
  return Object.fromEntries(
    lanes(known, losses, false).map(({ info, values }) => {
      const own = values(columns, rows) as Float32Array;
      if (info.name !== "color") return [info.name, own];
      if (info.channels === 4) losses.add("OBJ has no alpha of colours");
      const scale = info.dtype.kind === "uint" ? 2 ** (8 * (info.dtype as { size: number }).size) - 1 : 1;
      if (scale > 1) losses.add(`that ${info.name} are whole numbers: OBJ has floats from 0 to 1`);
      return [
        info.name,
        Float64Array.from({ length: 3 * rows }, (_, i) => own[Math.floor(i / 3) * info.channels + (i % 3)]! / scale),
      ];
    }),
  );
}

/** All digits, so that a float32 is the same number when it is read as a double. */
function vertexLines({ positions }: Batch, { normal, uv, color }: Known, i: number): string {
  let text = `v ${positions[3 * i]} ${positions[3 * i + 1]} ${positions[3 * i + 2]}`;
  if (color !== undefined)
    text += ` ${shortText(Math.fround(color[3 * i]!))} ${shortText(Math.fround(color[3 * i + 1]!))} ${shortText(Math.fround(color[3 * i + 2]!))}`;
  text += "\n";
  if (uv !== undefined) text += `vt ${shortText(uv[2 * i]!)} ${shortText(uv[2 * i + 1]!)}\n`;
  if (normal !== undefined)
    text += `vn ${shortText(normal[3 * i]!)} ${shortText(normal[3 * i + 1]!)} ${shortText(normal[3 * i + 2]!)}\n`;
  return text;
}

interface Faces {
  readonly first: number;
  readonly vertex: Known;
  readonly corner: Known;
  /** Lines of `vn` and `vt` before those of this batch. */
  readonly written: { normal: number; uv: number };
  readonly out: ReturnType<typeof textSink>;
}

async function writeFaces(
  rows: Uint32Array,
  ends: Uint32Array,
  { first, vertex, corner, written, out }: Faces,
): Promise<void> {
  for (const row of rows) {
    let text = "f";
    for (let i = 3 * row; i < 3 * row + 3; i++) {
      const end = ends[i]!;
      text += ` ${first + end + 1}`;
      const own = { uv: "", normal: "" };
      for (const name of ["uv", "normal"] as const) {
        const at = corner[name];
        const channels = CHANNELS[name];
        if (at !== undefined) {
          const values = Array.from({ length: channels }, (_, k) => at[i * channels + k]!);
          if (values.every(Number.isNaN)) continue;
          await out.write(`${name === "uv" ? "vt" : "vn"} ${values.map(shortText).join(" ")}\n`);
          own[name] = `${++written[name]}`;
        } else if (vertex[name] !== undefined) own[name] = `${written[name] + end + 1}`;
      }
      if (own.normal !== "") text += `/${own.uv}/${own.normal}`;
      else if (own.uv !== "") text += `/${own.uv}`;
    }
    const full = out.write(`${text}\n`);
    if (full !== undefined) await full;
  }
}

async function groupNames(data: FileData): Promise<Map<bigint, string[]>> {
  const { members, columns } = await data.groups();
  const names = columns.get("name")?.values;
  const out = new Map<bigint, string[]>();
  for (const [group, ids] of members.entries()) {
    const name = String(names?.[group] ?? `group_${group}`).replace(/\s+/g, "_");
    for (const id of ids as Ids) out.set(id, [...(out.get(id) ?? []), name]);
  }
  return out;
}
