/** All that a dataset says, in an order of its own: two stores that hold the same give the same text, however they lie. */

import type { ZarrVectors } from "../src/format/zarr-vectors/read/dataset.js";
import { linksBetween } from "../src/format/zarr-vectors/read/link-levels.js";
import type { Column } from "../src/model/attributes.js";
import type { Batch, Columns, VectorDataset } from "../src/model/vectors.js";

const text = (value: unknown): string => (Object.is(value, -0) ? "-0" : String(value));

/** One row of every column, by name. */
function rowText(columns: Columns, row: number, leave: readonly string[] = []): string {
  const names = [...columns.keys()].filter((name) => !leave.includes(name)).sort();
  return names.map((name) => `${name}=${valuesAt(columns.get(name)!, row)}`).join(" ");
}

function valuesAt({ info, values }: Column, row: number): string {
  const { channels, categories } = info;
  const own = Array.from({ length: channels }, (_, c) => values[row * channels + c]);
  return own.map((value) => text(categories?.[Number(value)] ?? value)).join(",");
}

const PATHS = ["lines", "polylines", "streamlines"];

/** Objects with their attributes and vertices, what belongs to nobody, and links by what they join. */
export function toldBatch(batch: Batch, { fragments = true } = {}) {
  const { positions, dims, parts, objects, ids, links, vertexColumns, objectColumns, geometry } = batch;
  const owner = fragments && batch.fragments !== undefined ? fragmentOf(batch) : undefined;
  const vertex = (v: number): string =>
    `(${Array.from(positions.subarray(v * dims, (v + 1) * dims), text)} ${rowText(vertexColumns, v)}${
      owner === undefined ? "" : ` ${rowText(batch.fragments!.columns, owner[v]!, ["object_id"])}`
    })`;
  const of = new Map<string, string[]>();
  for (let p = 0; p < objects.length; p++) {
    const id = objects[p]! < 0 ? "nobody" : `${ids[objects[p]!]} ${rowText(objectColumns, objects[p]!)}`;
    const own = of.get(id) ?? [];
    of.set(id, own);
    for (let v = parts[p]!; v < parts[p + 1]!; v++) own.push(vertex(v));
  }
  const isPath = PATHS.includes(geometry);
  const list: string[] = [];
  for (let l = 0; links !== undefined && l < links.ends.length / links.width; l++) {
    const ends = Array.from(links.ends.subarray(l * links.width, (l + 1) * links.width), vertex);
    list.push(`${ends.join(" - ")} ${rowText(links.columns, l)}`);
  }
  return {
    objects: [...of].map(([id, own]) => `${id}: ${(isPath ? own : own.sort()).join(" ")}`).sort(),
    links: list.sort(),
  };
}

function fragmentOf({ fragments, positions, dims }: Batch): Uint32Array {
  const out = new Uint32Array(positions.length / dims);
  const { offsets } = fragments!;
  for (let f = 0; f + 1 < offsets.length; f++) out.fill(f, offsets[f], offsets[f + 1]);
  return out;
}

/** A level: everything in it, and its groups. */
export async function toldLevel(dataset: VectorDataset, level: number, options: { readonly fragments?: boolean } = {}) {
  const batch = await dataset.select({ level }).read();
  const groups = await dataset.groups(level);
  const columns = await dataset.groupColumns(level);
  const members = await Promise.all(groups.map(({ group }) => dataset.groupMembers(group, level)));
  return {
    ...toldBatch(batch, options),
    ids: [...(await dataset.objectIds(level))].map(String).sort(),
    groups: members.map((own, group) => `${[...own].map(String)} ${rowText(columns, group)}`),
  };
}

/** What a store says beside its levels. */
export async function toldStore(dataset: ZarrVectors) {
  const { geometries, axes, crs, attributes, levels } = dataset;
  const parametric = await dataset.parametric();
  return {
    geometries,
    axes,
    crs: crs ?? null,
    attributes,
    levels: levels.map(({ level, vertices, chunkShape, binShape, parent, method, sparsity }) => {
      const coarse = level === 0 ? {} : { parent, method: method ?? "manual", sparsity: sparsity ?? 1 };
      return { level, vertices, chunkShape, binShape, ...coarse };
    }),
    headers: [...(await dataset.headers())],
    parametric: parametric && {
      objects: parametric.objects,
      columns: parametric.objects.map((_, row) => rowText(parametric.columns, row)),
      groups: parametric.groups,
    },
  };
}

/** The links from a level to another, by chunk and vertex. */
export async function toldBetween({ opened }: ZarrVectors, level: number, delta: number): Promise<string[]> {
  const out: string[] = [];
  for await (const { width, rank, chunks, vertices } of linksBetween(opened, level, delta))
    for (let l = 0; l < vertices.length; l += width)
      out.push(
        Array.from({ length: width }, (_, k) => {
          const from = (l + k) * rank;
          return `${chunks.subarray(from, from + rank).join(".")}:${vertices[l + k]}`;
        }).join(" "),
      );
  return out.sort();
}
