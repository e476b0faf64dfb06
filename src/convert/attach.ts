/**
 * `--attach name=file`: values of other files become attributes of streamlines, in the order that both have. Of a file that is its own
 * order; of a store that of its ids, which are the numbers in the file that it was made of.
 */
import type { NumericArray } from "../codec/types.js";
import { InvalidInput, Unsupported } from "../errors.js";
import { domainOf, type Values } from "../format/interchange/values-file.js";
import type { Column } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, ObjectSource, Tile } from "../model/source.js";
import type { Columns, Schema, VectorDataset } from "../model/vectors.js";
import { pick, roomLike } from "../query/columns.js";
import { select } from "../query/select.js";

/** The same dataset with more attributes at level 0. Whether they are of streamlines or of vertices follows from how many values there are. */
export async function attached(
  dataset: VectorDataset,
  all: readonly Values[],
  options: ReadOptions = {},
): Promise<VectorDataset> {
  const { url } = dataset;
  const own = await withValues(await dataset.source(0, options), url, all, options);
  const more: VectorDataset = {
    ...dataset,
    schema: async (level = 0, now) => (level === 0 ? own.schema(now) : dataset.schema(level, now)),
    async source(level, _now, geometry = own.geometry) {
      if (level === 0 && geometry === own.geometry) return own;
      throw new Unsupported(`values are attached to the ${own.geometry} of level 0 of ${url}, and to nothing else`, {
        where: url,
      });
    },
    select: (query) => ({ ...select(more, query), dataset: more }),
  };
  return more;
}

async function withValues(
  source: LevelSource,
  url: string,
  all: readonly Values[],
  options: ReadOptions,
): Promise<LevelSource> {
  const { objects } = source;
  if (objects === undefined) throw new Unsupported(`${url} has no objects that values could be of`, { where: url });
  if (source.scattered !== true) await refuseUnordered(objects, url, options);
  const { count } = await source.chunks(options);
  const chunks = Array.from({ length: count }, (_, chunk) => chunk);
  const vertices = (await source.counts(chunks, options)).reduce((sum, own) => sum + own, 0);
  const known = await source.schema(options);
  const of = { vertex: [] as Values[], object: [] as Values[] };
  for (const values of all) {
    const domain = domainOf(values, objects.rows, vertices);
    const { where, info } = values;
    if ([...known[domain], ...of[domain].map((other) => other.info)].some(({ name }) => name === info.name))
      throw new InvalidInput(`there already is an attribute ${info.name}, which ${where} shall be`, { where });
    of[domain].push(values);
  }
  const infosOf = (own: readonly Values[]) => own.map(({ info }) => info);
  const schema: Schema = {
    ...known,
    vertex: [...known.vertex, ...infosOf(of.vertex)],
    object: [...known.object, ...infosOf(of.object)],
  };
  const asked = (own: readonly Values[], names: readonly string[]) =>
    own.filter(({ info }) => names.includes(info.name));
  const others = (own: readonly Values[], names: readonly string[]) =>
    names.filter((name) => own.every(({ info }) => info.name !== name));
  const first = of.vertex.length > 0 ? await firstValues(source, objects, url, chunks, of.vertex, options) : undefined;
  return {
    ...source,
    schema: async () => schema,
    async *tiles(wanted, want, now) {
      const own = asked(of.vertex, want.vertex);
      for await (const tile of source.tiles(wanted, { ...want, vertex: others(of.vertex, want.vertex) }, now))
        yield own.length === 0 ? tile : { ...tile, vertexColumns: ofTile(tile, own, first!.get(tile.chunk)!) };
    },
    cost: (wanted, want, now) => source.cost(wanted, { ...want, vertex: others(of.vertex, want.vertex) }, now),
    objects: {
      ...objects,
      async columns(names, rows, now): Promise<Columns> {
        const columns = await objects.columns(others(of.object, names), rows, now);
        const own = asked(of.object, names).map(({ info, values }): [string, Column] => [
          info.name,
          { info, values: pick(values, info.channels, rows) },
        ]);
        return new Map([...columns, ...own]);
      },
    },
  };
}

/** Unsupported where nobody knows which value is whose. */
async function refuseUnordered(objects: ObjectSource, url: string, options: ReadOptions): Promise<void> {
  const ids = await objects.ids(undefined, options);
  for (let row = 1; row < ids.length; row++)
    if (ids[row]! <= ids[row - 1]!)
      throw new Unsupported(`${url} has object ${ids[row]} after ${ids[row - 1]}: values have no order to go by`, {
        where: url,
      });
}

/** For each part of each chunk, which value is that of its first vertex. */
async function firstValues(
  source: LevelSource,
  objects: ObjectSource,
  url: string,
  chunks: readonly number[],
  all: readonly Values[],
  options: ReadOptions,
): Promise<ReadonlyMap<number, Float64Array>> {
  const sizes = new Map<number, Uint32Array>();
  const want = { positions: false, vertex: [], fragment: [] };
  for await (const { chunk, parts } of source.tiles(chunks, want, options)) sizes.set(chunk, parts.slice());
  const first = new Map([...sizes].map(([chunk, parts]) => [chunk, new Float64Array(parts.length - 1).fill(-1)]));
  const rows = Uint32Array.from({ length: objects.rows }, (_, row) => row);
  const place = await objects.place(rows, options);
  let next = 0;
  for (const row of rows) {
    const start = next;
    for (let block = place.offsets[row]!; block < place.offsets[row + 1]!; block++) {
      const [parts, own] = [sizes.get(place.chunk[block]!)!, first.get(place.chunk[block]!)!];
      for (let part = place.first[block]!, end = part + place.count[block]!; part < end; part++) {
        if (own[part]! >= 0) throw shared(url);
        own[part] = next;
        next += parts[part + 1]! - parts[part]!;
      }
    }
    for (const { lengths, where } of all)
      if (lengths !== undefined && lengths[row] !== next - start)
        throw new InvalidInput(
          `${where} has ${lengths[row]} values for streamline ${row}, which has ${next - start} vertices`,
          { where },
        );
  }
  for (const [chunk, own] of first)
    if (own.some((value, part) => value < 0 && sizes.get(chunk)![part + 1]! > sizes.get(chunk)![part]!))
      throw shared(url);
  return first;
}

const shared = (url: string): Unsupported =>
  new Unsupported(`${url} has vertices of several objects, or of none: values of vertices have no order to go by`, {
    where: url,
  });

/** The columns of a tile, and the values that are attached to its vertices. */
function ofTile({ vertices, parts, vertexColumns }: Tile, all: readonly Values[], first: Float64Array): Columns {
  const own = all.map(({ info, values }): [string, Column] => {
    const [from, { channels }] = [values as NumericArray, info];
    const out = roomLike(from, vertices * channels);
    for (let part = 0; part + 1 < parts.length; part++) {
      const shift = (first[part]! - parts[part]!) * channels;
      for (let i = parts[part]! * channels; i < parts[part + 1]! * channels; i++) out[i] = from[i + shift]!;
    }
    return [info.name, { info, values: out }];
  });
  return new Map([...vertexColumns, ...own]);
}
