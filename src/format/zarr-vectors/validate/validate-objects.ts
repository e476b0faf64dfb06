/**
 * The objects of a level: their index and manifests, who owns which fragment, their attributes, and groups of them. Manifests are
 * read page by page; what stays is the owner of each fragment.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { withLimits } from "../../../limits.js";
import type { Finding } from "../../../model/format.js";
import type { Placement } from "../../../model/source.js";
import { Blobs } from "../payload/blobs.js";
import { Int64 } from "../payload/int64.js";
import { Manifests } from "../payload/manifest.js";
import { alsoOf, NOBODY } from "../payload/owner-cell.js";
import { geometryOf } from "../read/geometry.js";
import { type Layout, layoutOf, place } from "../read/object-pages.js";
import { readIds } from "../read/objects.js";
import { OWNERS, ownerColumn, SEALS } from "../read/owner-column.js";
import { coordsOf, readCells } from "./validate-cells.js";
import { checkGroups, checkObjectAttributes } from "./validate-columns.js";
import { type CheckedLevel, checkDirectory } from "./validate-level.js";
import { attempt, failure, finding, isFinding, setting } from "./validate-rules.js";

/** What each layout of an index is made of. */
const BLOBS = ["data", "offsets"];
const LAYOUTS: { readonly [manifests: string]: readonly string[] } = {
  vlen: ["manifests"],
  dense: ["manifest_spans", "manifest_blocks"],
  blobs: BLOBS,
  tuples: BLOBS,
};

export async function* checkObjects(level: CheckedLevel): AsyncGenerator<Finding> {
  const { nodes, options, depth, at, root, meta } = level;
  const attributes = await attempt("array", at("object_index"), () => nodes.attributes("object_index", options));
  if (isFinding(attributes)) yield attributes;
  const layout = isFinding(attributes) ? undefined : yield* checkIndex(level, attributes);
  if (layout === undefined && nodes.dialect.manifests === "none") {
    const geometry = geometryOf(root.geometryTypes[0]);
    if (geometry !== undefined && geometry !== "points" && geometry !== "parametric")
      yield finding(
        "object-index-absent",
        at("object_index"),
        `level ${meta.level} has ${geometry} and no object index`,
      );
  }
  if (layout !== undefined) {
    yield* checkIds(level, attributes as JsonObject, layout.rows);
    if (depth >= 4) yield* checkManifests(level, attributes as JsonObject, layout);
  }
  yield* checkObjectAttributes(level, layout?.rows);
  yield* checkGroups(level);
}

/** The index and its document; undefined where there is none that can be read. */
async function* checkIndex(
  { opened, nodes, options, depth, at, table, meta }: CheckedLevel,
  attributes: JsonObject | undefined,
): AsyncGenerator<Finding, Layout | undefined> {
  const where = at("object_index");
  if (attributes === undefined) return undefined;
  const { sid_ndim: dims, num_objects: said } = attributes;
  // Where a store cannot list, what is missing shows when it is read.
  const listed = opened.store.can.list && nodes.dialect.container !== "files";
  const children = await attempt("array", where, () => (listed ? nodes.children("object_index", options) : []));
  if (isFinding(children)) return void (yield children);
  const whole = Object.values(LAYOUTS).filter((names) => names.every((name) => children.includes(name)));
  const layouts = new Set(whole);
  if (layouts.size > 1)
    yield finding("object-index", where, `the index should have one layout, found ${children.join(", ")}`);
  if (nodes.dialect.manifests === "none") {
    if (dims !== undefined || (typeof said === "number" && said > 0) || layouts.size > 0)
      yield finding(
        "object-index",
        where,
        `the index of ${String(said ?? "some")} objects has no manifests that can be read`,
      );
    return undefined;
  }
  const parts = LAYOUTS[nodes.dialect.manifests];
  const lost = listed ? (parts ?? []).filter((name) => !children.includes(name)) : [];
  if (lost.length > 0) {
    yield finding("object-index", where, `the index should have ${lost.join(" and ")}, but that is not there`);
    return undefined;
  }
  if (typeof said !== "number")
    yield finding("object-index", where, `the index should say num_objects, found ${typeof said}`);
  if (dims !== table.rank) {
    yield finding(
      "object-index",
      where,
      `the index says chunks of ${String(dims)} coordinates, those of the level have ${table.rank}`,
    );
    return undefined;
  }
  if (depth < 3) return undefined;
  const layout = await attempt("manifest-decodes", where, () => layoutOf(nodes, table.rank, where, options));
  if (isFinding(layout)) {
    if (depth >= 4) yield layout; // the layouts of one blob are decoded when they are opened
    return undefined;
  }
  if (typeof said === "number" && said !== layout.rows)
    yield finding(
      "object-count",
      where,
      `num_objects is ${said}, but there are ${layout.rows} manifests`,
      setting(`${meta.path}/object_index`, "write the number of manifests", { num_objects: layout.rows }),
    );
  return layout;
}

/** One id for each row, each once, and in order where that is said. */
async function* checkIds(level: CheckedLevel, attributes: JsonObject, rows: number): AsyncGenerator<Finding> {
  const { meta, nodes, options, depth, at } = level;
  if (depth < 3) return;
  const where = at("object_index/object_ids");
  const ids = await attempt("object-ids", where, () => readIds({ meta, nodes }, rows, options));
  if (isFinding(ids)) return yield ids;
  level.ids = ids ?? BigInt64Array.from({ length: rows }, (_, row) => BigInt(row));
  if (ids === undefined) {
    const needed = attributes.layout === "vlen_manifests_v2" && rows > 0; // where they are rows, they are there all the same
    if (needed && (await nodes.dense("object_index/object_ids", options)) === undefined)
      yield finding(
        "object-ids",
        where,
        "an index of layout vlen_manifests_v2 should have object_ids, but they are not there",
      );
    return;
  }
  let row = 1;
  while (row < ids.length && ids[row - 1]! < ids[row]!) row++;
  if (row >= ids.length) return;
  if (attributes.object_ids_sorted === true)
    yield finding(
      "object-ids",
      where,
      `object_ids_sorted is true, but id ${ids[row]} of row ${row} follows ${ids[row - 1]}`,
    );
  const sorted = ids.slice().sort();
  const twice = sorted.findIndex((id, i) => i > 0 && id === sorted[i - 1]);
  if (twice >= 0) yield finding("object-ids", where, `id ${sorted[twice]} is that of more than one object`);
}

/** Every manifest decodes, and names chunks and fragments that are there, each fragment once. */
async function* checkManifests(level: CheckedLevel, attributes: JsonObject, layout: Layout): AsyncGenerator<Finding> {
  const { depth, at, meta, table, fragments, known, options } = level;
  const where = at("object_index");
  const first = new Uint32Array(table.count + 1);
  for (let chunk = 0; chunk < table.count; chunk++) first[chunk + 1] = first[chunk]! + fragments[chunk]!;
  const owner = new Int32Array(depth >= 5 ? first[table.count]! : 0).fill(NOBODY);
  let present = 0;
  let whole = true;
  for (let page = 0; page * layout.pageRows < layout.rows; page++) {
    const manifests = await attempt("manifest-decodes", where, async () => (await layout.read(page, options)).parse());
    if (isFinding(manifests)) whole = false;
    const readable = isFinding(manifests) ? yield* rowByRow(level, layout, page, manifests) : manifests;
    if (readable === undefined || depth < 5) continue;
    const placed = place(readable, table);
    for (let o = 0; o < readable.rows; o++) if (placed.offsets[o + 1]! > placed.offsets[o]!) present++;
    const from = page * layout.pageRows;
    const odd = mark(placed, from, fragments, known, first, owner);
    const more = (count: number): string => (count > 1 ? `, and ${count - 1} more such blocks` : "");
    if (odd.chunk.count > 0) {
      const b = odd.chunk.block;
      const coords = readable.chunks.subarray(b * readable.dims, (b + 1) * readable.dims).join(".");
      yield finding(
        "manifest-chunk",
        `${where}, row ${odd.chunk.row}`,
        `the manifest names chunk ${coords}, which has no vertices${more(odd.chunk.count)}`,
      );
    }
    if (odd.fragment.count > 0) {
      const b = odd.fragment.block;
      const has = fragments[placed.chunk[b]!]!;
      yield finding(
        "manifest-fragment",
        `${where}, row ${odd.fragment.row}`,
        `the manifest names ${placed.count[b]} fragments from ${placed.first[b]} on of a chunk that has ${has}${more(odd.fragment.count)}`,
      );
    }
    if (odd.twice.count > 0 && !meta.sharedFragments)
      yield finding(
        "fragments-disjoint",
        `${where}, row ${odd.twice.row}`,
        `the manifest names a fragment that another has as well, in a level without shared_fragments${more(odd.twice.count)}`,
      );
  }
  if (depth < 5) return;
  const said = attributes.num_present;
  if (whole && typeof said === "number" && said !== present)
    yield finding(
      "present-count",
      where,
      `num_present is ${said}, but ${present} objects have fragments`,
      setting(`${meta.path}/object_index`, "write the number of objects that have any", { num_present: present }),
    );
  let unowned = 0;
  for (let f = 0; f < owner.length; f++) if (owner[f] === NOBODY) unowned++;
  if (whole && unowned > 0)
    yield finding(
      "fragments-unowned",
      where,
      `${unowned} of ${owner.length} fragments belong to no object: deleted objects leave them, or nobody owns their vertices`,
    );
  if (whole) yield* checkOwners(level, first, owner);
}

interface Odd {
  count: number;
  row: number;
  block: number;
}

/** Notes who owns what, and which blocks name what is not there or is owned already. */
function mark(
  { offsets, chunk, first, count }: Placement,
  from: number,
  fragments: Uint32Array,
  known: Uint8Array,
  base: Uint32Array,
  owner: Int32Array,
): { chunk: Odd; fragment: Odd; twice: Odd } {
  const none = (): Odd => ({ count: 0, row: -1, block: -1 });
  const odd = { chunk: none(), fragment: none(), twice: none() };
  const add = (one: Odd, row: number, block: number): void => {
    if (one.count++ > 0) return;
    one.row = row;
    one.block = block;
  };
  for (let o = 0; o + 1 < offsets.length; o++) {
    const row = from + o;
    for (let b = offsets[o]!; b < offsets[o + 1]!; b++) {
      const c = chunk[b]!;
      if (c < 0) {
        add(odd.chunk, row, b);
        continue;
      }
      if (known[c] === 0) continue;
      const end = first[b]! + count[b]!;
      if (end > fragments[c]!) {
        add(odd.fragment, row, b);
        continue;
      }
      for (let f = base[c]! + first[b]!; f < base[c]! + end; f++) {
        if (owner[f] !== NOBODY) add(odd.twice, row, b);
        owner[f] = alsoOf(owner[f]!, row);
      }
    }
  }
  return odd;
}

/** The manifests of a page one by one, where the page as a whole cannot be read: bad ones are findings, and empty. */
async function* rowByRow(
  { nodes, options, at, table }: CheckedLevel,
  { rows, pageRows }: Layout,
  page: number,
  whole: Finding,
): AsyncGenerator<Finding, Manifests | undefined> {
  const where = at("object_index/manifests");
  const array = nodes.dialect.manifests === "vlen" ? await nodes.vlen("object_index/manifests", options) : undefined;
  const from = page * pageRows;
  const blobs = await attempt("manifest-decodes", where, () =>
    array?.read(from, Math.min(rows, from + pageRows), options),
  );
  if (isFinding(blobs) || blobs === undefined) return void (yield whole);
  const limits = withLimits(options.limits);
  const parts: Manifests[] = [];
  for (const [i, blob] of blobs.entries()) {
    try {
      parts.push(Manifests.parse(Blobs.of([blob]), table.rank, limits, where));
    } catch (error) {
      yield failure("manifest-decodes", `${where}, row ${from + i}`, error);
      parts.push(Manifests.parse(Blobs.of([new Uint8Array(4)]), table.rank, limits, where));
    }
  }
  return Manifests.concat(parts, table.rank);
}

/**
 * The column of owners. Readers trust it as long as its seal holds (owner-column.ts): then what is wrong in it is an error.
 * Otherwise they read all manifests, which is slow and right. Fragments beyond its end belong to nobody.
 */
async function* checkOwners(level: CheckedLevel, first: Uint32Array, owner: Int32Array): AsyncGenerator<Finding> {
  const { nodes, options, at, table, ids, fragments, known, meta } = level;
  const cells = await attempt("array", at(OWNERS), () => nodes.cells(OWNERS, options));
  if (isFinding(cells)) return yield cells;
  if (cells === undefined || ids === undefined) return;
  yield* checkDirectory(level, cells);
  let [wrong, where] = [0, ""];
  for (let from = 0; from < table.count; from += 64) {
    const coords = coordsOf(table, from, Math.min(table.count, from + 64));
    for (const [i, bytes] of (await readCells(level, cells, coords, table.rank)).entries()) {
      const chunk = from + i;
      if (isFinding(bytes)) yield bytes;
      if (isFinding(bytes) || known[chunk] === 0) continue;
      const count = fragments[chunk]!;
      const values = Int64.values(bytes ?? new Uint8Array());
      if (bytes !== undefined && (bytes.length % 8 !== 0 || values.length > count))
        yield finding(
          "attribute-rows",
          at(OWNERS, chunk),
          `there should be ${count} owners of int64 at most, found ${bytes.length} bytes`,
        );
      for (let f = 0; f < count; f++) {
        const row = owner[first[chunk]! + f]!;
        if ((values[f] ?? BigInt(NOBODY)) === (row < 0 ? BigInt(row) : ids[row])) continue;
        if (wrong++ === 0) where = at(OWNERS, chunk);
      }
    }
  }
  const trusted = (await ownerColumn(nodes, table, options)) !== undefined;
  const fix = { says: "write the owners that the manifests say", owners: meta.level };
  const says = `the owners of ${wrong} fragments are not those of the manifests`;
  if (wrong > 0 && trusted) {
    const { [SEALS]: _, ...rest } = cells.attributes;
    yield finding("owner-seal", where, says, { says: fix.says, node: `${meta.path}/${OWNERS}`, change: () => rest });
  } else if (wrong > 0) yield finding("owner-column", where, says, fix);
  else if (!trusted && cells.attributes[SEALS] !== undefined)
    yield finding("owner-column", at(OWNERS), "the owners are right, but their seal no longer holds", fix);
}
