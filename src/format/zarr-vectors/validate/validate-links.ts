/**
 * The links within a level. From 0.9 on cell by cell, so that one that cannot be read does not hide the others; before, by the
 * reader itself. Links to other levels are looked at when all levels are known (validate-levels.ts); their documents are here.
 */
import { withLimits } from "../../../limits.js";
import type { Finding } from "../../../model/format.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { LinkCell } from "../payload/link-cells.js";
import { LinkOffsets } from "../payload/link-offsets.js";
import { geometryOf } from "../read/geometry.js";
import { Delta } from "../read/link-levels.js";
import { linksOf } from "../read/link-source.js";
import type { Cells } from "../types.js";
import { type Blob, checkedInfo, decoded, placeAt, readCells } from "./validate-cells.js";
import { type CheckedLevel, checkDirectory } from "./validate-level.js";
import { attempt, finding, isFinding, setting } from "./validate-rules.js";

const GROUP = 64;

/** A family of link arrays, as its document has it. */
interface Family {
  readonly path: string;
  readonly delta: number;
  readonly width: number;
  readonly canonical: boolean;
  readonly duplicate: boolean;
}

export async function* checkLinks(level: CheckedLevel): AsyncGenerator<Finding> {
  const { nodes, options, at, opened, meta, depth } = level;
  const folder = await attempt("array", at("links"), () => nodes.attributes("links", options));
  if (isFinding(folder)) return yield folder;
  const names = await attempt("array", at("links"), () => nodes.children("links", options));
  if (isFinding(names)) return yield names;
  if (folder !== undefined && names.length === 0)
    yield finding("link-deltas", at("links"), "links has no delta below it");
  for (const name of names) {
    const delta = Delta.parse(name);
    if (delta === undefined || !opened.levels.includes(meta.level + delta))
      yield finding(
        "link-deltas",
        at(`links/${name}`),
        delta === undefined ? `${name} is no delta` : `there is no level ${meta.level + delta}`,
      );
  }
  if (nodes.dialect.crossLinks === "flat") {
    if (depth >= 4) yield* checkFlat(level);
    return;
  }
  if (depth < 2) return;
  for (const name of names) {
    const delta = Delta.parse(name);
    if (delta === undefined) continue;
    const family = yield* checkFamily(level, delta);
    if (family !== undefined) yield* checkArrays(level, family);
  }
}

async function* checkFamily(
  { nodes, options, at, root }: CheckedLevel,
  delta: number,
): AsyncGenerator<Finding, Family | undefined> {
  const path = `links/${Delta.format(delta)}`;
  const attributes = await attempt("array", at(path), () => nodes.attributes(path, options));
  if (isFinding(attributes)) return void (yield attributes);
  const { link_width: width, directed, store } = attributes ?? {};
  if (typeof width !== "number" || !Number.isInteger(width) || width < 1 || width > 12)
    return void (yield finding("link-width", at(path), `link_width should be from 1 to 12, found ${String(width)}`));
  if (delta === 0 && geometryOf(root.geometryTypes[0]) === "mesh" && root.geometryTypes.length === 1 && width < 3)
    yield finding("link-width", at(path), `the faces of a mesh should have 3 ends or more, found link_width ${width}`);
  const duplicate = store === "duplicate";
  return { path, delta, width, duplicate, canonical: delta === 0 && !duplicate && directed !== true };
}

/** All arrays of a family, and how many links they have together. */
async function* checkArrays(level: CheckedLevel, family: Family): AsyncGenerator<Finding> {
  const { nodes, options, at, table, depth } = level;
  const segments = await attempt("array", at(family.path), () => nodes.children(family.path, options));
  if (isFinding(segments)) return yield segments;
  const sum = { records: 0, links: 0, copies: 0, whole: true };
  for (const segment of segments) {
    const path = `${family.path}/${segment}`;
    const offsets = await attempt("link-offsets", at(path), () =>
      LinkOffsets.parse(segment, family.width, table.rank, at(path)),
    );
    const cells = await attempt("array", at(path), () => nodes.cells(path, options));
    if (isFinding(offsets)) yield offsets;
    if (isFinding(cells)) yield cells;
    if (isFinding(offsets) || isFinding(cells) || cells === undefined) {
      sum.whole = false;
      continue;
    }
    const said = cells.attributes.link_width;
    if (said !== undefined && said !== family.width)
      yield finding("link-width", at(path), `the array says link_width ${String(said)}, its family ${family.width}`);
    if (family.canonical && !ascends(offsets))
      yield finding(
        "link-offsets",
        at(path),
        "the ends of undirected links should be in the order of their chunks, which these offsets are not",
      );
    if (depth >= 3) yield* checkDirectory(level, cells);
    if (depth >= 4 && family.delta === 0) yield* checkCells(level, family, segment, cells, offsets, sum);
  }
  if (depth >= 5 && family.delta === 0 && sum.whole) yield* checkCounts(level, family, sum);
}

/** Offsets that do not descend, from 0 on. */
function ascends(offsets: readonly (readonly number[])[]): boolean {
  let last: readonly number[] = offsets[0]?.map(() => 0) ?? [];
  for (const offset of offsets) {
    const axis = offset.findIndex((n, i) => n !== last[i]);
    if (axis >= 0 && offset[axis]! < last[axis]!) return false;
    last = offset;
  }
  return true;
}

interface Sum {
  /** Rows as stored; links, each once; and as many rows as should be there for them. */
  records: number;
  links: number;
  copies: number;
  whole: boolean;
}

async function* checkCounts(
  { nodes, options, at, meta }: CheckedLevel,
  { path, duplicate }: Family,
  { records, links, copies }: Sum,
): AsyncGenerator<Finding> {
  const fix = setting(`${meta.path}/${path}`, "write the number of links", {
    num_links: links,
    num_physical_records: records,
  });
  const { num_links: said, num_physical_records: rows } = (await nodes.attributes(path, options)) ?? {};
  if (typeof said === "number" && said !== links)
    yield finding("link-count", at(path), `num_links is ${said}, but there are ${links}`, fix);
  if (typeof rows === "number" && rows !== records)
    yield finding("link-count", at(path), `num_physical_records is ${rows}, but there are ${records}`, fix);
  if (duplicate && copies !== records)
    yield finding(
      "link-copies",
      at(path),
      `${links} links with each of their chunks are ${copies} rows, but there are ${records}`,
    );
}

/** The cells of one array within the level, with the attributes of their links. */
async function* checkCells(
  level: CheckedLevel,
  family: Family,
  segment: string,
  cells: Cells,
  offsets: readonly (readonly number[])[],
  sum: Sum,
): AsyncGenerator<Finding> {
  const { options, at, table, depth } = level;
  const { rank } = table;
  const { width } = family;
  const directory = await attempt("directory", at(cells.path), () => cells.directory(options));
  if (isFinding(directory)) return yield directory;
  const intra = LinkOffsets.isIntra(offsets);
  const columns = yield* linkColumns(level, segment);
  const groups = intra
    ? await attempt("array", at("link_fragments"), () => level.nodes.cells("link_fragments", options))
    : undefined;
  if (isFinding(groups)) yield groups;
  const form = { width, ragged: !intra, perm: cells.attributes.has_perm === true };
  const to = new Int32Array(rank);
  const chunks = new Int32Array(width);
  for (let from = 0; from < directory.count; from += GROUP) {
    const coords = directory.coords.subarray(from * rank, Math.min(directory.count, from + GROUP) * rank);
    const [payloads, indexes, ...values] = await Promise.all([
      readCells(level, cells, coords, rank),
      isFinding(groups) || groups === undefined ? undefined : readCells(level, groups, coords, rank),
      ...columns.map(({ cells: own }) => own && readCells(level, own, coords, rank)),
    ]);
    for (const [i, payload] of payloads.entries()) {
      const where = placeAt(level, cells.path, coords, i, rank);
      const cell = yield* decoded("links-decode", where, payload, (bytes) => LinkCell.parse(bytes, form, where));
      if (cell === undefined) {
        sum.whole = false;
        continue;
      }
      if (indexes !== undefined)
        yield* checkLinkGroups(level, indexes[i], cell.count, placeAt(level, "link_fragments", coords, i, rank));
      for (const [c, { info, path }] of columns.entries())
        yield* decoded(
          "attribute-rows",
          placeAt(level, path, coords, i, rank),
          values[c]?.[i] ?? new Uint8Array(),
          (bytes) => AttributeCell.parse(bytes, info, cell.count, placeAt(level, path, coords, i, rank)),
        );
      for (let k = 0; k < width; k++) {
        for (let axis = 0; axis < rank; axis++)
          to[axis] = coords[i * rank + axis]! + (k === 0 ? 0 : offsets[k - 1]![axis]!);
        chunks[k] = table.find(to);
      }
      if (depth < 5) continue;
      const isCopy = family.duplicate && !intra && chunks.some((chunk) => chunk < chunks[0]!);
      sum.records += cell.count;
      sum.links += isCopy ? 0 : cell.count;
      sum.copies += isCopy ? 0 : cell.count * new Set(chunks).size;
      yield* checkEnds(level, cell, chunks, where);
      if (family.canonical && form.perm) yield* checkOrder(cell, chunks, where);
    }
  }
}

/** Every end is a vertex of its chunk. */
export function* checkEnds(
  { entries, known, at }: CheckedLevel,
  { count, width, ends }: Pick<LinkCell, "count" | "width" | "ends">,
  chunks: Int32Array,
  where: string,
): Generator<Finding> {
  for (let k = 0; k < width; k++) {
    const chunk = chunks[k]!;
    if (chunk < 0) {
      yield finding("link-ends", where, `end ${k} of ${count} links is in a chunk that has no vertices`);
      continue;
    }
    if (known[chunk] === 0) continue;
    const end = entries[chunk]!;
    let [wrong, first] = [0, -1];
    for (let i = k; i < ends.length; i += width) {
      if (ends[i]! < end) continue;
      if (wrong++ === 0) first = i;
    }
    if (wrong > 0)
      yield finding(
        "link-ends",
        `${where}, row ${Math.floor(first / width)}`,
        `end ${k} of ${wrong} links is no vertex: ${ends[first]} of the ${end} of ${at("vertices", chunk).slice(at("vertices").length + 4)}`,
      );
  }
}

/** Ends in one chunk are in the order of their vertices; that of chunks is in the name of the array. */
function* checkOrder({ count, width, ends }: LinkCell, chunks: Int32Array, where: string): Generator<Finding> {
  for (let k = 1; k < width; k++) {
    if (chunks[k] !== chunks[k - 1]) continue;
    for (let l = 0; l < count; l++) {
      if (ends[l * width + k - 1]! <= ends[l * width + k]!) continue;
      yield finding(
        "link-order",
        `${where}, row ${l}`,
        `the ends ${k - 1} and ${k} of a link lie in one chunk and should ascend`,
      );
      return;
    }
  }
}

function* checkLinkGroups({ options }: CheckedLevel, blob: Blob, count: number, where: string): Generator<Finding> {
  const limits = withLimits(options.limits);
  const index = yield* decoded("link-fragments", where, blob, (bytes) =>
    FragmentIndex.parse(bytes, count, limits, where),
  );
  if (index !== undefined && FragmentIndex.total(index) !== count)
    yield finding(
      "link-fragments",
      where,
      `the groups have ${FragmentIndex.total(index)} links, but there are ${count}`,
    );
}

interface LinkColumn {
  readonly path: string;
  readonly info: ReturnType<typeof checkedInfo>;
  readonly cells: Cells | undefined;
}

async function* linkColumns(
  { nodes, options, at }: CheckedLevel,
  segment: string,
): AsyncGenerator<Finding, LinkColumn[]> {
  const found: LinkColumn[] = [];
  for (const name of await nodes.children("link_attributes", options)) {
    const path = `link_attributes/${name}/0/${segment}`;
    const cells = await attempt("array", at(path), () => nodes.cells(path, options));
    if (isFinding(cells)) yield cells;
    if (isFinding(cells) || cells === undefined) continue;
    const info = await attempt("attribute-metadata", at(path), () => checkedInfo(name, cells, at(path)));
    if (isFinding(info)) yield info;
    else found.push({ path, info, cells });
  }
  return found;
}

/** Up to 0.7: links as the reader gives them, with their attributes. */
async function* checkFlat(level: CheckedLevel): AsyncGenerator<Finding> {
  const { nodes, options, at, table, root, meta, depth, entries, known } = level;
  const path = "cross_chunk_links/0";
  const found = await attempt("links-decode", at("links"), async () => {
    const vertices = (await nodes.cells("vertices", options))!;
    const mesh = geometryOf(root.geometryTypes[0]) === "mesh";
    const source = await linksOf({ nodes, table, dims: root.axes.length, where: meta.path, vertices, mesh }, options);
    if (source === undefined) return undefined;
    const names = await nodes.children("link_attributes", options);
    let [wrong, first] = [0, ""];
    for await (const { vertices, chunks } of source.read({ meets: () => true }, names, options))
      for (let end = 0; end < vertices.length; end++) {
        if (known[chunks[end]!] === 0 || vertices[end]! < entries[chunks[end]!]!) continue;
        if (wrong++ === 0) first = `${vertices[end]} of the ${entries[chunks[end]!]} of its chunk`;
      }
    return wrong === 0 || depth < 5
      ? undefined
      : finding("link-ends", at("links"), `${wrong} ends of links are no vertices: ${first}`);
  });
  if (isFinding(found)) yield found;
  if (depth < 5) return;
  const cross = await attempt("array", at(path), async () => ({
    attributes: await nodes.attributes(path, options),
    data: await nodes.blob(`${path}/data`, options),
  }));
  if (isFinding(cross) || cross.data === undefined) return;
  const { num_links: said, link_width: width = 2 } = cross.attributes ?? {};
  const records = cross.data.length / (8 * (table.rank + 1) * Number(width));
  if (typeof said === "number" && said !== records)
    yield finding(
      "link-count",
      at(path),
      `num_links is ${said}, but there are ${records}`,
      setting(`${meta.path}/${path}`, "write the number of links", { num_links: records }),
    );
}
