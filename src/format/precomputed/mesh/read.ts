/** Meshes by their ids, of both kinds. What is stored for an id is its outline; geometry is read when it is asked for. */
import { loadDraco } from "../../../codec/draco.js";
import { Corrupt, LimitExceeded, NotFound } from "../../../errors.js";
import { type Limits, withLimits } from "../../../limits.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { FormatOptions } from "../../../model/format.js";
import { Key, Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { type InfoAt, readInfo, typeOf } from "../info.js";
import { ahead } from "../sharded/ahead.js";
import { decimalNames, readWhole } from "../unsharded.js";
import { openValues, type ValueNames, type ValueReader } from "../values.js";
import { boxOf, decodeFragments, joinMeshes, type MeshFragment, placeFragments } from "./fragment.js";
import { LEGACY, MeshInfo, MULTI, type MultiMeshInfo } from "./info.js";
import { LegacyFragment, LegacyManifest, legacyNames, type Mesh } from "./legacy.js";
import { Manifest } from "./manifest.js";

/** A mesh without its geometry. */
export interface MeshOutline {
  readonly id: bigint;
  /** The manifest, of meshes of several resolutions. */
  readonly manifest: Manifest | undefined;
  /** The files of its parts, of older meshes. */
  readonly fragments: readonly string[] | undefined;
  /** Its levels, from 0, the finest. */
  readonly levels: number;
  /** min, then max of a level in nanometres; undefined: nobody knows. */
  box(level: number): Float64Array | undefined;
  /** The geometry of a level, in nanometres; of one that it does not have, the next finer one that it has. */
  read(level?: number, options?: ReadOptions): Promise<Mesh>;
  /** The same as it is stored, cell by cell; nothing of older meshes, which have none. */
  cells(level?: number, options?: ReadOptions): Promise<Iterable<MeshFragment>>;
}

/** A folder of meshes, opened. */
export interface Meshes {
  readonly url: string;
  readonly info: MeshInfo;
  readonly values: ValueReader;
  /** The names of files where values are not sharded. */
  readonly names: ValueNames;
  /** What bytes of `values` say. */
  outlineOf(id: bigint, bytes: Uint8Array): MeshOutline;
  /** The mesh of an id; undefined where there is none. */
  get(id: bigint, level?: number, options?: ReadOptions): Promise<Mesh | undefined>;
  /** Those of many ids, without geometry, as they come; `row` is the place of the id among those asked for. */
  outlines(
    ids: BigUint64Array,
    options?: ReadOptions,
  ): AsyncIterable<{ readonly row: number; readonly outline: MeshOutline | undefined }>;
}

const LANES = 8;
/** The manifests of meshes of several resolutions, and their fragments. */
export const multiNames: ValueNames = {
  nameOf: (id) => `${id}.index`,
  idOf: (name) => (name.endsWith(".index") ? decimalNames.idOf(name.slice(0, -6)) : undefined),
  beforeOf: (id) => `${id}`,
};

/**
 * Opens the meshes at a place; NotFound where there are none. Those of the older form need no info: as cloud-volume leaves it
 * out, and Neuroglancer does without where it is told that these are meshes, a folder with their documents is enough.
 */
export async function openMeshes(store: Store, at: Prefix = Prefix.root, options: FormatOptions = {}): Promise<Meshes> {
  const place = (await readInfo(store, at, options)) ?? (await withoutInfo(store, at, options));
  const type = place && typeOf(place);
  if (type !== LEGACY && type !== MULTI)
    throw new NotFound(`${store.url}/${at}info should be the info of meshes, but it is not there, or another`);
  return meshesAt(place!, options);
}

async function withoutInfo(store: Store, at: Prefix, { signal }: FormatOptions): Promise<InfoAt | undefined> {
  if (!store.can.list) return undefined;
  const { keys } = await store.children(at, { signal, bare: true });
  const documents = keys.some((key) => legacyNames.idOf(key.slice(at.length)) !== undefined);
  return documents ? { store, at, info: { "@type": LEGACY }, where: `${store.url}/${at}` } : undefined;
}

export async function meshesAt(place: InfoAt, options: FormatOptions = {}): Promise<Meshes> {
  const { store, at } = place;
  const info = MeshInfo.parse(place.info, place.where);
  const names = info.kind === "legacy" ? legacyNames : multiNames;
  const limits = withLimits(options.limits);
  const values = await openValues(store, at, info.sharding, { signal: options.signal, limits, names });
  const url = `${store.url}/${at}`.replace(/\/$/, "");
  const opened: Opened = { store, at, values, url, limits };
  const outlineOf = (id: bigint, bytes: Uint8Array): MeshOutline =>
    info.kind === "legacy" ? legacyOutline(opened, id, bytes) : multiOutline(opened, info, id, bytes);
  return {
    url,
    info,
    values,
    names,
    outlineOf,
    async get(id, level, call) {
      const bytes = await values.get(id, call);
      return bytes && outlineOf(id, bytes).read(level, call);
    },
    async *outlines(ids, call) {
      for await (const { rows, values: found } of values.getMany(ids, call))
        for (let i = 0; i < rows.length; i++) {
          const row = rows[i]!;
          const bytes = found[i];
          yield { row, outline: bytes && outlineOf(ids[row]!, bytes) };
        }
    },
  };
}

interface Opened {
  readonly store: Store;
  readonly at: Prefix;
  readonly values: ValueReader;
  readonly url: string;
  readonly limits: Limits;
}

function legacyOutline({ store, at, url, limits }: Opened, id: bigint, bytes: Uint8Array): MeshOutline {
  const where = `${url}/${legacyNames.nameOf(id)}`;
  const fragments = LegacyManifest.parse(bytes, limits, where);
  return {
    id,
    manifest: undefined,
    fragments,
    levels: 1,
    box: () => undefined,
    async read(_level, call = {}) {
      const allowed = { ...limits, ...call.limits };
      const parts: ReturnType<typeof LegacyFragment.parse>[] = [];
      let room = allowed.chunkBytes;
      const read = (name: string) => readWhole(store, Key.join(at, name), allowed, call.signal);
      for await (const part of ahead(fragments, LANES, read)) {
        const name = `${url}/${fragments[parts.length]}`;
        if (part === undefined) throw new Corrupt(`${name} is not there, but ${where} names it`, { where: name });
        room -= part.length;
        if (room < 0)
          throw new LimitExceeded(`the parts that ${where} names have more than ${allowed.chunkBytes} bytes together`, {
            where,
          });
        parts.push(LegacyFragment.parse(part, name));
      }
      return joinMeshes(parts, Float32Array);
    },
    cells: async () => [],
  };
}

function multiOutline(opened: Opened, info: MultiMeshInfo, id: bigint, bytes: Uint8Array): MeshOutline {
  const { values, url } = opened;
  const where = `${url}/${values.sharding === null ? multiNames.nameOf(id) : id}`;
  const manifest = Manifest.parse(bytes, where);
  async function cells(level = 0, call: ReadOptions = {}): Promise<Iterable<MeshFragment>> {
    const limits = { ...opened.limits, ...call.limits };
    const lod = Manifest.lodAt(manifest, level);
    const stored = lod === undefined ? new Uint8Array() : await fragmentsOf(opened, id, manifest, lod, limits, call);
    if (stored.length === 0) return [];
    return decodeFragments(manifest, lod!, stored, info.quantizationBits, await loadDraco(), limits, where);
  }
  return {
    id,
    manifest,
    fragments: undefined,
    levels: manifest.lods.length,
    box(level) {
      const lod = Manifest.lodAt(manifest, level);
      return lod === undefined ? undefined : boxOf(manifest, lod, info.transform);
    },
    async read(level = 0, call) {
      return placeFragments(await cells(level, call), manifest, Manifest.lodAt(manifest, level) ?? 0, info);
    },
    cells,
  };
}

/** The fragments of a lod, in one request. */
async function fragmentsOf(
  { store, at, values, url }: Opened,
  id: bigint,
  manifest: Manifest,
  lod: number,
  limits: Limits,
  { signal }: ReadOptions,
): Promise<Uint8Array> {
  const { offset, length, total } = Manifest.range(manifest, lod);
  if (length === 0) return new Uint8Array();
  const where = `${url}/${id}`;
  if (length > limits.chunkBytes)
    throw new LimitExceeded(`${where} has ${length} bytes of lod ${lod}, at most ${limits.chunkBytes} are allowed`, {
      where,
    });
  // A file of fragments may be longer than they are, so that its end says nothing.
  const bytes =
    values.sharding === null
      ? await store.get(Key.join(at, multiNames.beforeOf!(id)), { range: { offset, length }, signal })
      : await values.before(id, total - offset, length, { signal });
  if (bytes !== undefined) return bytes;
  throw new Corrupt(`${where} should have the fragments that its manifest names, but is not there`, { where });
}
