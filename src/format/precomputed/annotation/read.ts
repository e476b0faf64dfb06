/** A collection of annotations: by their ids, by the objects that they belong to, and by cells of the spatial index. */
import { InvalidInput, LimitExceeded, NotFound, Unsupported } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { FormatOptions } from "../../../model/format.js";
import { Morton } from "../../../space/morton.js";
import { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { once } from "../../zarr-vectors/nodes/once.js";
import { allIds } from "../ids.js";
import { folderOf, type InfoAt, readInfo, typeOf } from "../info.js";
import { openValues, type ValueNames, type ValueReader } from "../values.js";
import { cellBox } from "./cells.js";
import { judge } from "./defect.js";
import { AnnotationInfo, type SpatialLevel, type ValuesAt } from "./info.js";
import { Layout } from "./layout.js";
import { type Annotations, parseList, parseOne, type RecordForm } from "./list.js";

/** One level of the spatial index, opened. */
export interface OpenedLevel extends SpatialLevel {
  readonly folder: Prefix;
  readonly names: ValueNames;
  readonly values: ValueReader;
  /** The codes of the cells that may hold something, ascending; of those that meet a box (min, then max), where one is given. */
  codes(box: readonly number[] | undefined, options?: ReadOptions): Promise<BigUint64Array>;
}

/** A collection, opened. */
export interface AnnotationCollection {
  readonly url: string;
  readonly info: AnnotationInfo;
  /** How records lie: see layout.ts. */
  readonly form: RecordForm;
  /** Whether they lie as the Python writer up to 2.41.2 puts them; they are read rightly all the same. */
  readonly flawed: boolean;
  readonly notes: readonly string[];
  readonly byId: { readonly folder: Prefix; readonly values: ValueReader };
  readonly levels: readonly OpenedLevel[];
  /** One annotation, with the objects that it belongs to; undefined where there is none. */
  get(id: bigint, options?: ReadOptions): Promise<Annotations | undefined>;
  /** The annotations of an object by a relationship; undefined where it has none. */
  related(relationship: string, object: bigint, options?: ReadOptions): Promise<Annotations | undefined>;
}

/** Opens the collection at a place; NotFound where there is none. */
export async function openAnnotations(
  store: Store,
  at: Prefix = Prefix.root,
  options: FormatOptions = {},
): Promise<AnnotationCollection> {
  const place = await readInfo(store, at, options);
  if (place === undefined || typeOf(place) !== "neuroglancer_annotations_v1")
    throw new NotFound(`${store.url}/${at}info should be the info of annotations, but it is not there, or another`);
  return annotationsAt(place, options);
}

export async function annotationsAt(place: InfoAt, options: FormatOptions = {}): Promise<AnnotationCollection> {
  const { store, at, where } = place;
  const { signal, limits } = options;
  const info = AnnotationInfo.parse(place.info, where);
  const url = `${store.url}/${at}`.replace(/\/$/, "");
  const folder = ({ key }: ValuesAt): Prefix => folderOf(at, key, where);
  const open = (own: ValuesAt, names?: ValueNames): Promise<ValueReader> =>
    openValues(store, folder(own), own.sharding, { signal, limits, names });
  const levels = await Promise.all(
    info.spatial.map(async (level): Promise<OpenedLevel> => {
      const names = cellNames(level.gridShape);
      const values = await open(level, names);
      return { ...level, folder: folder(level), names, values, codes: codesOf(info, level, values, store.url) };
    }),
  );
  const byId = { folder: folder(info.byId), values: await open(info.byId) };
  const { form, flawed, notes } = await formOf(info, levels, url, options);
  const relationships = new Map(info.relationships.map((own) => [own.id, once(() => open(own))]));
  return {
    url,
    info,
    form,
    flawed,
    notes,
    byId,
    levels,
    async get(id, call) {
      const bytes = await byId.values.get(id, call);
      return bytes && parseOne(bytes, id, form, `${store.url}/${byId.folder}${id}`);
    },
    async related(relationship, object, call) {
      const values = await relationships.get(relationship)?.(call);
      if (values === undefined) {
        const known = info.relationships.map(({ id }) => id).join(", ") || "none";
        throw new InvalidInput(`there is no relationship ${JSON.stringify(relationship)}; there are: ${known}`);
      }
      const bytes = await values.get(object, call);
      return bytes && parseList(bytes, form, `${url}, ${relationship} ${object}`);
    },
  };
}

/** How the records lie; where two ways are possible, the first cells of each level tell. */
async function formOf(info: AnnotationInfo, levels: readonly OpenedLevel[], url: string, options: FormatOptions) {
  const sound = { info, layout: Layout.of(info.properties) };
  const layout = Layout.defect(info.properties, sound.layout);
  if (layout === undefined) return { form: sound, flawed: false, notes: [] };
  const flawed = { info, layout };
  let told = false;
  for (const level of levels) {
    const codes = await level.codes(undefined, options).catch(() => new BigUint64Array()); // reading will say why
    for (const code of codes.subarray(0, SAMPLED)) {
      const bytes = await level.values.get(code, options).catch(() => undefined);
      if (bytes === undefined) continue;
      const verdict = judge(bytes, sound, flawed);
      if (verdict === "flawed") return { form: flawed, flawed: true, notes: [MISPLACED] };
      if (verdict === "sound") return { form: sound, flawed: false, notes: [] };
      told ||= verdict === "either";
    }
  }
  return { form: sound, flawed: false, notes: told ? [UNDECIDED(url)] : [] };
}

const SAMPLED = 4;
const MISPLACED =
  "Written by Neuroglancer's Python writer up to 2.41.2, which puts values of uint32 in wrong places: Octavo reads what was meant, other software does not. `octavo repair` writes them as they should be.";
const UNDECIDED = (url: string): string =>
  `Whether the values of uint32 in ${url} are in their places cannot be told from the records: all other values there are small. They are taken for sound.`;

/** Cells in files of their own are named by their coordinates, in shards by their Morton code. */
export function cellNames(gridShape: readonly number[]): ValueNames {
  return {
    nameOf: (code) => (Morton.decode(code, gridShape) ?? [`${code}`]).join("_"),
    idOf: (name) => {
      const cell = name.split("_").map((text) => (/^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : -1));
      const fits = cell.length === gridShape.length && cell.every((own, axis) => own >= 0 && own < gridShape[axis]!);
      return fits ? Morton.encode(cell, gridShape) : undefined;
    },
  };
}

const MOST_CELLS = 2 ** 16; // that are asked for one by one, where the store cannot say which there are

function codesOf(info: AnnotationInfo, level: SpatialLevel, values: ValueReader, url: string): OpenedLevel["codes"] {
  const { gridShape } = level;
  const listed = once(async (now): Promise<BigUint64Array | undefined> => {
    try {
      return await allIds(values, now);
    } catch (error) {
      if (error instanceof Unsupported) return undefined;
      throw error;
    }
  });
  return async (box, options) => {
    const all = await listed(options);
    if (all !== undefined)
      return all.filter((code) => {
        const cell = Morton.decode(code, gridShape);
        // A code that no cell has is damage, which reading it will not tell: `validate` does.
        return cell !== undefined && (box === undefined || meets(cellBox(info, level, cell), box));
      });
    const count = gridShape.reduce((product, own) => product * own, 1);
    if (count > MOST_CELLS && box === undefined)
      throw new LimitExceeded(`${url} cannot be listed, and a level of the spatial index may have ${count} cells`, {
        hint: "ask for a region",
      });
    const codes: bigint[] = [];
    for (const cell of cellsMeeting(info, level, box)) {
      codes.push(Morton.encode(cell, gridShape));
      if (codes.length > MOST_CELLS)
        throw new LimitExceeded(
          `${url} cannot be listed, and the region meets more than ${MOST_CELLS} cells of a level`,
        );
    }
    return BigUint64Array.from(codes).sort();
  };
}

/** Whether two boxes, both closed, have a point in common. */
function meets(a: readonly number[], b: readonly number[]): boolean {
  const rank = a.length / 2;
  for (let axis = 0; axis < rank; axis++)
    if (!(a[axis]! <= b[rank + axis]! && a[rank + axis]! >= b[axis]!)) return false;
  return true;
}

function* cellsMeeting(
  info: AnnotationInfo,
  level: SpatialLevel,
  box: readonly number[] | undefined,
): Generator<readonly number[]> {
  const rank = info.lower.length;
  const axes = level.gridShape.map((count, axis) => {
    const [low, high] = box === undefined ? [-Infinity, Infinity] : [box[axis]!, box[rank + axis]!];
    const sound = info.lower[axis]! <= info.upper[axis]!;
    const index = (value: number): number =>
      Math.min(count - 1, Math.max(0, Math.floor((value - info.lower[axis]!) / level.chunkSize[axis]!)));
    // One more on either side: what is decided here by a division is decided below by the borders.
    return sound ? [Math.max(0, index(low) - 1), Math.min(count - 1, index(high) + 1)] : [0, count - 1];
  });
  const cell = axes.map(([first]) => first!);
  for (;;) {
    if (box === undefined || meets(cellBox(info, level, cell), box)) yield cell;
    let axis = 0;
    while (axis < rank && ++cell[axis]! > axes[axis]![1]!) {
      cell[axis] = axes[axis]![0]!;
      axis++;
    }
    if (axis === rank) return;
  }
}
