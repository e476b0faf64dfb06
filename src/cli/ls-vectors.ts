/** `octavo ls` of geometry: its levels, or the chunks, objects or groups of one level. */

import { toJson } from "../convert/json/text.js";
import { rowOf } from "../convert/json/values.js";
import type { Columns, VectorDataset } from "../model/vectors.js";
import { rangeText, sizeText } from "./levels.js";
import { counted, countText, type Output, table } from "./output.js";
import type { Session } from "./verb.js";

export async function listVectors(
  dataset: VectorDataset,
  what: "chunks" | "objects" | "groups" | undefined,
  wanted: number | undefined,
  session: Session,
): Promise<void> {
  const level = await dataset.select({ level: wanted }).level({ signal: session.signal }); // refuses one that is not there
  if (what === "chunks") await listChunks(dataset, level, session);
  else if (what === "objects") await listObjects(dataset, level, session);
  else if (what === "groups") await listGroups(dataset, level, session);
  else await listLevels(dataset, wanted, session);
}

async function listLevels(
  dataset: VectorDataset,
  wanted: number | undefined,
  { output, signal }: Session,
): Promise<void> {
  const chosen = dataset.levels.filter(({ level }) => wanted === undefined || level === wanted);
  const found = await Promise.all(chosen.map(({ level }) => dataset.describe(level, { signal })));
  if (output.json) return void output.document(found);
  const rows = found.map(({ level, vertices, chunkShape, binShape }) => [
    String(level),
    vertices === undefined ? "?" : countText(vertices),
    sizeText(chunkShape),
    sizeText(binShape),
  ]);
  for (const line of table([["level", "vertices", "chunk size", "bin size"], ...rows], [0, 1])) output.line(line);
}

async function listChunks(dataset: VectorDataset, level: number, { output, signal }: Session): Promise<void> {
  const source = await dataset.source(level, { signal });
  const chunks = await source.chunks({ signal });
  const all = Array.from({ length: chunks.count }, (_, chunk) => chunk);
  const counts = await source.counts(all, { signal });
  const [min, max] = [new Float64Array(source.dims), new Float64Array(source.dims)];
  const { chunkShape } = await dataset.describe(level, { signal });
  const found = all.map((chunk) => {
    chunks.box(chunk, min, max);
    const index = [...chunks.coords.subarray(chunk * chunks.rank, (chunk + 1) * chunks.rank)];
    const space = index.slice(chunks.rank - source.dims);
    const corner = (box: Float64Array, beyond: number): number[] =>
      Array.from(box, (at, axis) => whole(at, (space[axis]! + beyond) * chunkShape[axis]!, chunkShape[axis]!));
    return { index, vertices: counts[chunk]!, min: corner(min, 0), max: corner(max, 1) };
  });
  if (output.json) return void output.document(found);
  const rows = found.map(({ index, vertices, min, max }) => [
    `(${index.join(", ")})`,
    countText(vertices),
    ...min.map((low, axis) => rangeText(low, max[axis]!)),
  ]);
  const titles = ["chunk", "vertices", ...dataset.axes.map(({ name }) => name)];
  for (const line of table([titles, ...rows], [1])) output.line(line);
}

/** A box for queries is a hair wider than the chunk, because of what computing its corners costs in digits. */
const whole = (at: number, exact: number, size: number): number =>
  Math.abs(at - exact) < size * 1e-4 ? Number(exact.toPrecision(12)) : at;

async function listObjects(dataset: VectorDataset, level: number, { output, signal }: Session): Promise<void> {
  const { objects, schema } = await dataset.source(level, { signal });
  const ids = [...(await dataset.objectIds(level, { signal }))];
  const rows = Uint32Array.from((await objects?.rowsOf(ids, { signal })) ?? []);
  const names = (await schema({ signal })).object.map(({ name }) => name);
  const columns: Columns = (await objects?.columns(names, rows, { signal })) ?? new Map();
  if (ids.length === 0) {
    const count = (await dataset.parametric?.({ signal }))?.objects.length ?? 0;
    const others = counted(count, "parametric object");
    output.remark(`level ${level} has no objects${count === 0 ? "" : `; ${others}: octavo get --geometry parametric`}`);
  }
  listRows("id", ids, columns, output);
}

async function listGroups(dataset: VectorDataset, level: number, { output, signal }: Session): Promise<void> {
  const groups = await dataset.groups(level, { signal });
  const columns = groups.length === 0 ? new Map() : await dataset.groupColumns(level, { signal });
  if (groups.length === 0) output.remark(`level ${level} has no groups`);
  const sizes = groups.map(({ size }) => ({ size }));
  listRows(
    "group",
    groups.map(({ group }) => group),
    columns,
    output,
    sizes,
  );
}

/** A name, what is known of it, and its attributes. */
function listRows(
  title: string,
  names: readonly (number | bigint)[],
  columns: Columns,
  output: Output,
  known: readonly { readonly [key: string]: number }[] = [],
): void {
  const found = names.map((name, row) => ({
    [title]: name,
    ...known[row],
    ...(columns.size === 0 ? {} : { attributes: rowOf(columns, row) }),
  }));
  if (output.json) return void output.document(found);
  const titles = [title, ...Object.keys(known[0] ?? {}), ...columns.keys()];
  const rows = names.map((name, row) => [
    String(name),
    ...Object.values(known[row] ?? {}).map(countText),
    ...Object.values(rowOf(columns, row)).map((value) =>
      value === null ? "–" : typeof value === "string" ? value : toJson(value),
    ),
  ]);
  if (rows.length > 0) for (const line of table([titles, ...rows], [0])) output.line(line);
}
