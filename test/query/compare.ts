/** An answer of the engine, and one of the brute force, as the same lists of text. */
import type { Column } from "../../src/model/attributes.js";
import type { Batch, Columns } from "../../src/model/vectors.js";
import { plainValue } from "./conditions.js";
import { type Answer, type Found, fragmentAt, valuesAt } from "./found.js";
import { rowsOf } from "./source.js";

export interface Listed {
  /** Objects in order: id, attributes, and the vertices of each part. */
  readonly objects: readonly string[];
  /** Parts without an object. */
  readonly lone: readonly string[];
  readonly links: readonly string[];
}

const text = (value: unknown): string =>
  Object.is(value, -0) ? "-0" : `${String(value)}${typeof value === "bigint" ? "n" : ""}`;
const sorted = (list: readonly string[]): string[] => [...list].sort();

/** How parts are compared: as they are, as one set of vertices, or as single points. */
interface Form {
  readonly path: boolean;
  readonly cut: boolean;
  readonly points: boolean;
}

function listed(
  form: Form,
  objects: readonly { readonly head: string; readonly parts: readonly (readonly string[])[] }[],
  lone: readonly (readonly string[])[],
  links: readonly string[],
): Listed {
  const joined = (part: readonly string[]): string => part.join(" ");
  const ofObject = (parts: readonly (readonly string[])[]): string =>
    form.path ? parts.map(joined).join(" / ") : joined(form.cut ? sorted(parts.flat()) : parts.flat());
  return {
    objects: objects.map(({ head, parts }) => `${head}: ${ofObject(parts)}`),
    lone: sorted(form.path || !(form.cut || form.points) ? lone.map(joined) : lone.flat()),
    links: sorted(links),
  };
}

export function listAnswer(answer: Answer, query: { readonly all: boolean }): Listed {
  const { level, items, links, cut } = answer;
  const { columns } = level;
  const vertex = (found: Found): string => {
    const values = columns.vertex.map((column) => `${column.info.name}=${valuesAt(column, found, cut).map(text)}`);
    const fragment = columns.fragment.map((column) => `f.${rowText(column, fragmentAt(found))}`);
    return `(${found.position.map(text)} ${query.all ? [...values, ...fragment].join(" ") : values[0]})`;
  };
  const objectOf = (row: number): string => (row < 0 ? "-" : text(level.objects![row]!.id));
  const head = (row: number): string =>
    [objectOf(row), ...(query.all ? columns.object.map((column) => rowText(column, row)) : [])].join(" ");
  return listed(
    { path: isPath(level.geometry), cut, points: level.geometry === "points" },
    items
      .filter(({ row }) => row >= 0)
      .map(({ row, parts }) => ({ head: head(row), parts: parts.map((part) => part.map(vertex)) })),
    items.filter(({ row }) => row < 0).flatMap(({ parts }) => parts.map((part) => part.map(vertex))),
    links.map(({ ends, link }) => {
      const values = query.all ? columns.link.map((column) => linkText(column, link)) : [];
      return [...ends.map((end) => `${objectOf(end.thing.row)}${vertex(end)}`), ...values].join(" ");
    }),
  );
}

const isPath = (geometry: string): boolean => ["lines", "polylines", "streamlines"].includes(geometry);

function rowText(column: Column, row: number): string {
  return `${column.info.name}=${Array.from(rowsOf(column, [row]).values as ArrayLike<unknown>, text)}`;
}

/** Links that are implied (−1) have no values; what stands for that is the engine's choice. */
function linkText(column: Column, link: number): string {
  const { name, channels, absent } = column.info;
  const isNone = (channel: number): boolean =>
    link < 0 ||
    ["", absent].includes(column.values[link * channels + channel]) ||
    plainValue(column, link, channel) === undefined;
  const none = Array.from({ length: channels }, (_, channel) => isNone(channel)).every(Boolean);
  return none ? `${name}=none` : rowText(column, link);
}

/** Batches one after the other; what repeats only counts for its links. */
export function listBatches(batches: readonly Batch[], cut: boolean, all: boolean): Listed {
  const objects: { head: string; parts: string[][] }[] = [];
  const lone: string[][] = [];
  const links: string[] = [];
  for (const batch of batches) {
    const { positions, dims, parts, objects: owners, ids, fragments } = batch;
    const row = (columns: Columns, i: number): string[] => [...columns.values()].map((column) => rowText(column, i));
    const fragmentOf = (v: number): number => fragments!.offsets.findLastIndex((offset) => offset <= v);
    const vertex = (v: number): string => {
      const values = all ? row(batch.vertexColumns, v) : [rowText(batch.vertexColumns.get("serial")!, v)];
      const ofFragment =
        fragments === undefined || !all ? [] : row(fragments.columns, fragmentOf(v)).map((own) => `f.${own}`);
      const position = Array.from(positions.subarray(v * dims, (v + 1) * dims), text);
      return `(${position} ${[...values, ...ofFragment].join(" ")})`;
    };
    const vertices = Array.from({ length: positions.length / dims }, (_, v) => vertex(v));
    const ownerOf = (v: number): string => {
      const owner = owners[parts.findLastIndex((start) => start <= v)]!;
      return owner < 0 ? "-" : text(ids[owner]);
    };
    if (batch.repeats !== true) {
      const first = objects.length;
      for (let i = 0; i < ids.length; i++)
        objects.push({ head: [text(ids[i]), ...(all ? row(batch.objectColumns, i) : [])].join(" "), parts: [] });
      for (const [part, owner] of owners.entries())
        (owner < 0 ? lone : objects[first + owner]!.parts).push(vertices.slice(parts[part], parts[part + 1]));
    }
    const { width, ends, columns } = batch.links ?? { width: 1, ends: [], columns: new Map() };
    for (let l = 0; l * width < ends.length; l++) {
      const own = Array.from(ends.slice(l * width, (l + 1) * width), (v) => `${ownerOf(v)}${vertices[v]}`);
      const values = [...columns.values()].map((column) => linkText(column, l));
      links.push([...own, ...(all ? values : [])].join(" "));
    }
  }
  const geometry = batches[0]?.geometry ?? "";
  return listed({ path: isPath(geometry), cut, points: geometry === "points" }, objects, lone, links);
}
