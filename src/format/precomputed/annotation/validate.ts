/**
 * Everything that can be said against annotations.
 *
 * | level | looks at                                                                                              |
 * |-------|-------------------------------------------------------------------------------------------------------|
 * | 1     | the info                                                                                              |
 * | 2     | whether all software reads it; bounds and grids                                                       |
 * | 4     | every value of every index decodes                                                                    |
 * | 5     | each annotation in one level, there in the cells that it touches; the same in all indexes             |
 */
import type { Json } from "../../../bytes/json.js";
import type { Finding, ValidateOptions } from "../../../model/format.js";
import { Morton } from "../../../space/morton.js";
import type { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { checkValues } from "../check-values.js";
import { folderOf, type InfoAt } from "../info.js";
import { failure, finding } from "../rules.js";
import { openValues, type ValueReader, verifyValues } from "../values.js";
import { cellBox, extent, touchedCells } from "./cells.js";
import { Crosscheck } from "./crosscheck.js";
import { AnnotationInfo } from "./info.js";
import { Layout } from "./layout.js";
import { parseList, parseOne } from "./list.js";
import { type AnnotationCollection, annotationsAt } from "./read.js";

export async function* validateAnnotations(place: InfoAt, options: ValidateOptions = {}): AsyncGenerator<Finding> {
  const { where } = place;
  const { level = 5 } = options;
  let info: AnnotationInfo;
  try {
    info = AnnotationInfo.parse(place.info, where);
  } catch (error) {
    yield failure("info", where, error);
    return;
  }
  if (level >= 2) yield* checkInfo(info, place);
  if (level < 4) return;
  const collection = await annotationsAt(place, options);
  if (collection.flawed)
    yield finding("alignment", where, collection.notes[0]!, "write the records again, with each value in its place");
  else for (const note of collection.notes) yield finding("alignment-unknown", where, note);
  const check = new Crosscheck(info);
  yield* checkCells(place, collection, check, options);
  yield* checkIds(place, collection, check, options);
  yield* checkRelated(place, collection, check, options);
  if (level >= 5) yield* check.end(collection.url);
}

function* checkInfo(info: AnnotationInfo, { info: document, where }: InfoAt): Generator<Finding> {
  if (document.annotation_type !== info.type.toUpperCase())
    yield finding(
      "portable",
      where,
      `cloud-volume knows the type ${info.type.toUpperCase()} in upper case only`,
      "write the type in upper case",
    );
  const order = Layout.sorted(info.properties);
  if (order.some((own, i) => own !== info.properties[i]))
    yield finding(
      "portable",
      where,
      `cloud-volume and Neuroglancer's Python reader expect the properties in the order of their bytes: ${order.map(({ id }) => id).join(", ")}`,
      "list the properties in that order",
    );
  for (const name of ["relationships", "by_id", "spatial", "properties"])
    if (document[name] === undefined)
      yield finding("undrawn", where, `Neuroglancer does not open an info without ${name}`);
  const indexes = [document.by_id, ...list(document.relationships), ...list(document.spatial)] as { sharding?: Json }[];
  if (indexes.some((own) => own?.sharding === null))
    yield finding("undrawn", where, 'Neuroglancer does not open an info with "sharding": null', "take it away");
  if (info.spatial.some(({ limit }) => limit < 1))
    yield finding("undrawn", where, "Neuroglancer does not open a level of the spatial index with the limit 0");
  if (info.spatial.length === 0)
    yield finding("undrawn", where, "without a spatial index Neuroglancer shows annotations of chosen segments only");
  if (info.lower.some((low, axis) => low > info.upper[axis]!)) {
    yield finding("bounds", where, `the bounds [${info.lower}] to [${info.upper}] contain nothing`);
    return;
  }
  for (const [i, { gridShape, chunkSize }] of info.spatial.entries()) {
    const coarser = info.spatial[i - 1]?.chunkSize;
    const fits = gridShape.every((count, axis) => {
      const size = info.upper[axis]! - info.lower[axis]!;
      const ratio = (coarser?.[axis] ?? chunkSize[axis]!) / chunkSize[axis]!;
      return count * chunkSize[axis]! >= size * (1 - 1e-5) && Math.abs(ratio - Math.round(ratio)) < 1e-5;
    });
    if (!fits)
      yield finding("grids", where, `level ${i} of the spatial index has cells of [${chunkSize}], which do not fit`);
  }
}

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** What shards are like by themselves; that values decode is looked at one by one. */
async function* checkShards(store: Store, at: Prefix, { sharding }: ValueReader, options: ValidateOptions) {
  if (sharding !== null) yield* verifyValues(store, at, sharding, { ...options, level: 3 });
}

async function* checkCells(
  { store }: InfoAt,
  { url, info, form, levels }: AnnotationCollection,
  check: Crosscheck,
  options: ValidateOptions,
): AsyncGenerator<Finding> {
  for (const [number, { values, folder, key, gridShape, chunkSize, limit }] of levels.entries()) {
    const grid = { lower: info.lower, gridShape, chunkSize };
    yield* checkShards(store, folder, values, options);
    yield* checkValues(values, `${url}/${key}`, options, function* (code, bytes) {
      const cell = Morton.decode(code, gridShape);
      const where = `${url}/${key}/${cell?.join("_") ?? code}`;
      const found = parseList(bytes, form, where);
      if (cell === undefined)
        yield finding("cell-outside", where, `the grid of [${gridShape}] has no cell of this code`);
      if (found.ids.length > limit)
        yield finding("cell-limit", where, `${found.ids.length} annotations, at most ${limit} should be here`);
      if ((options.level ?? 5) < 5 || cell === undefined) return;
      const box = cellBox(info, levels[number]!, cell);
      let [outside, first] = [0, 0n];
      const ids = new Set<bigint>();
      for (let i = 0; i < found.ids.length; i++) {
        const [from, to] = [found.offsets[i]!, found.offsets[i + 1]!];
        let cells = 0;
        touchedCells(info.type, found.points, from, to, grid, () => cells++);
        if (!near(extent(info.type, found.points, from, to, gridShape.length), box, chunkSize) && outside++ === 0)
          first = found.ids[i]!;
        check.cell(found, i, number, cells);
        ids.add(found.ids[i]!);
      }
      if (ids.size < found.ids.length)
        yield finding("cell-repeats", where, `${found.ids.length - ids.size} annotations are here twice`);
      if (outside > 0)
        yield finding("cell-outside", where, `${outside} annotations do not touch this cell; the first is ${first}`);
    });
  }
}

/** Many writers list an annotation in every cell that the box around it meets; and they round. */
function near([min, max]: ReturnType<typeof extent>, box: readonly number[], size: readonly number[]): boolean {
  const rank = size.length;
  return min.every((low, axis) => {
    const slack = 1e-5 * size[axis]!;
    return low <= box[rank + axis]! + slack && max[axis]! >= box[axis]! - slack;
  });
}

async function* checkIds(
  { store }: InfoAt,
  { url, info, form, byId }: AnnotationCollection,
  check: Crosscheck,
  options: ValidateOptions,
): AsyncGenerator<Finding> {
  const folder = `${url}/${info.byId.key}`;
  yield* checkShards(store, byId.folder, byId.values, options);
  yield* checkValues(byId.values, folder, options, function* (id, bytes) {
    const one = parseOne(bytes, id, form, `${folder}/${id}`);
    check.byId(one);
    yield* [];
  });
}

async function* checkRelated(
  { store, at, where }: InfoAt,
  { url, info, form }: AnnotationCollection,
  check: Crosscheck,
  options: ValidateOptions,
): AsyncGenerator<Finding> {
  for (const { id: relationship, key, sharding } of info.relationships) {
    const folder = folderOf(at, key, where);
    const values = await openValues(store, folder, sharding, options);
    yield* checkShards(store, folder, values, options);
    yield* checkValues(values, `${url}/${key}`, options, function* (object, bytes) {
      const found = parseList(bytes, form, `${url}/${key}/${object}`);
      for (let i = 0; i < found.ids.length; i++) check.related(found, i, relationship, object);
      yield* [];
    });
  }
}
