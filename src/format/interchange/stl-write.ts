/** Writes STL, binary or as text. */
import { encodeUtf8 } from "../../bytes/text.js";
import { lostUnit } from "../../model/attributes.js";
import type { Batch, Positions } from "../../model/vectors.js";
import { widened } from "../../query/columns.js";
import type { Sink } from "../../store/types.js";
import { spoolIn } from "./spool.js";
import { asFloat32, batchesOf, lossesOf, nameOf, shortText, tellBatch, tellOne } from "./surface-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

export async function writeStl(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const { schema } = data;
  const text = options.ascii === true;
  const losses = lossesOf(data, "STL", ["mesh"], text ? ["object"] : []);
  const held = schema.link.filter(({ name }) => name === "normal" || (!text && name === "attribute"));
  for (const loss of held.flatMap(lostUnit)) losses.add(loss);
  const left = [
    ...schema.vertex.map(({ name }) => name),
    ...schema.link.filter((info) => !held.includes(info)).map(({ name }) => `link.${name}`),
    ...(text ? schema.object.filter(({ name }) => name !== "name").map(({ name }) => `object.${name}`) : []),
  ];
  if (left.length > 0) losses.add(`STL has no place for ${left.join(", ")}`);
  const batches = await batchesOf(data, options);
  if (!text) tellOne(batches, "a binary STL", losses);
  const spool = spoolIn(options.scratch);
  let [vertices, objects, faces] = [0, 0, 0];
  for await (const { batch: given } of batches) {
    const batch = { ...given, positions: asFloat32(given.positions, "STL", losses) };
    tellBatch(batch, losses);
    tellLoose(batch, losses);
    vertices += batch.positions.length / 3;
    objects += batch.repeats ? 0 : batch.ids.length;
    faces += (batch.links?.ends.length ?? 0) / 3;
    if (text) await sink.write(encodeUtf8(solids(batch), "names of objects"));
    else await spool.write(triangles(batch));
  }
  if (!text) {
    const header = new Uint8Array(84);
    const kept = data.headers.get("stl")?.text;
    header.set(
      new TextEncoder().encode(typeof kept === "string" && !/^\s*solid/.test(kept) ? kept : "STL").subarray(0, 80),
    );
    new DataView(header.buffer).setUint32(80, faces, true);
    await sink.write(header);
    await spool.pour(sink);
  } else if (objects === 0) await sink.write(encodeUtf8("solid\nendsolid\n", "STL"));
  return { vertices, objects, losses: [...losses] };
}

function tellLoose({ positions, links }: Batch, losses: Set<string>): void {
  const used = new Uint8Array(positions.length / 3);
  for (const end of links?.ends ?? []) used[end] = 1;
  if (used.includes(0)) losses.add("vertices without a face are left out of STL");
}

/** Puts the normal of a face: as it is given, or from its corners. */
function normalsOf({ positions, links }: Batch): (face: number, out: Float64Array) => void {
  const given = widened(links?.columns.get("normal"));
  if (given?.info.channels !== 3) return (face, out) => putNormal(positions, links!.ends, face, out);
  return (face, out) => {
    for (let k = 0; k < 3; k++) out[k] = Number(given.values[3 * face + k]);
  };
}

function putNormal(positions: Positions, ends: Uint32Array, face: number, out: Float64Array): void {
  const [a, b, c] = [0, 1, 2].map((k) => 3 * ends[3 * face + k]!) as [number, number, number];
  const [u, v] = [new Float64Array(3), new Float64Array(3)];
  for (let k = 0; k < 3; k++) {
    u[k] = positions[b + k]! - positions[a + k]!;
    v[k] = positions[c + k]! - positions[a + k]!;
  }
  for (let k = 0; k < 3; k++) out[k] = u[(k + 1) % 3]! * v[(k + 2) % 3]! - u[(k + 2) % 3]! * v[(k + 1) % 3]!;
  const size = Math.hypot(out[0]!, out[1]!, out[2]!) || 1;
  for (let k = 0; k < 3; k++) out[k]! /= size;
}

function triangles(batch: Batch): Uint8Array {
  const { positions, links } = batch;
  const ends = links?.ends ?? new Uint32Array();
  const more = links?.columns.get("attribute");
  const out = new Uint8Array((50 * ends.length) / 3);
  const view = new DataView(out.buffer);
  const [normal, normalOf] = [new Float64Array(3), normalsOf(batch)];
  for (let face = 0, at = 0; face < ends.length / 3; face++, at += 50) {
    normalOf(face, normal);
    for (let k = 0; k < 3; k++) view.setFloat32(at + 4 * k, normal[k]!, true);
    for (let k = 0; k < 9; k++) {
      const vertex = ends[3 * face + Math.floor(k / 3)]!;
      view.setFloat32(at + 12 + 4 * k, positions[3 * vertex + (k % 3)]!, true);
    }
    if (more?.info.dtype.kind === "uint") view.setUint16(at + 48, Number(more.values[face]), true);
  }
  return out;
}

/** A solid for each part. */
function solids(batch: Batch): string {
  const { positions, links, parts, objects, ids } = batch;
  const ends = links?.ends ?? new Uint32Array();
  const texts = Array.from(objects, (row) => {
    return { name: row < 0 ? "" : (nameOf(batch, row) ?? String(ids[row])), facets: [] as string[] };
  });
  const [normal, normalOf] = [new Float64Array(3), normalsOf(batch)];
  const short = (value: number): string => shortText(Math.fround(value));
  let part = 0;
  for (let face = 0; face < ends.length / 3; face++) {
    const vertex = ends[3 * face]!;
    if (!(parts[part]! <= vertex && vertex < parts[part + 1]!))
      part = parts.findLastIndex((start, i) => start <= vertex && i < objects.length);
    normalOf(face, normal);
    let facet = `facet normal ${short(normal[0]!)} ${short(normal[1]!)} ${short(normal[2]!)}\n outer loop\n`;
    for (let k = 3 * face; k < 3 * face + 3; k++) {
      const at = 3 * ends[k]!;
      facet += `  vertex ${short(positions[at]!)} ${short(positions[at + 1]!)} ${short(positions[at + 2]!)}\n`;
    }
    texts[part]!.facets.push(`${facet} endloop\nendfacet\n`);
  }
  return texts.map(({ name, facets }) => `solid ${name}\n${facets.join("")}endsolid ${name}\n`).join("");
}
