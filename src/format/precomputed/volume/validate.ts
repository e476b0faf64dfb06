/** What can be wrong with a volume: its info, the chunks that are there, and what is in them. The rules are in ../rules.ts. */
import { isJsonObject } from "../../../bytes/json.js";
import { withLimits } from "../../../limits.js";
import type { Finding, ValidateOptions } from "../../../model/format.js";
import { parts } from "../../zarr/plan.js";
import { checkValues } from "../check-values.js";
import type { InfoAt } from "../info.js";
import { failure, finding } from "../rules.js";
import { verifySharded } from "../sharded/verify.js";
import type { ValueReader } from "../values.js";
import { type VolumeArray, volumeAt } from "./array.js";
import { ChunkGrid } from "./chunks.js";
import { codingOf, type ScaleCoding } from "./coding.js";
import { chunksOf, chunkUrl } from "./read.js";

export async function* validateVolume(place: InfoAt, options: ValidateOptions = {}): AsyncGenerator<Finding> {
  const { level = 5 } = options;
  let volume: VolumeArray;
  try {
    volume = await volumeAt(place, options);
  } catch (error) {
    yield failure("info", place.where, error);
    return;
  }
  if (level >= 2) yield* checkInfo(place, volume);
  if (level < 3) return;
  for (const scale of volume.levels) yield* validateScale(scale, options);
}

/** What one reader takes and another does not. */
function* checkInfo({ info, where }: InfoAt, volume: VolumeArray): Generator<Finding> {
  const scales = info.scales as readonly unknown[];
  for (const [i, { scale }] of volume.levels.entries()) {
    const json = scales[i];
    const own = `${where} scale ${i}`;
    if (isJsonObject(json as never) && (json as { sharding?: unknown }).sharding === null)
      yield finding("undrawn", own, `scale ${i} says "sharding": null, which Neuroglancer does not open; leave it out`);
    const { encoding } = scale;
    if (encoding.name === "other")
      yield finding(
        "portable",
        own,
        `scale ${i} has the encoding ${JSON.stringify(encoding.spelled)}, which tensorstore refuses and Octavo does not read`,
      );
  }
  const words = [info.type, info.data_type, ...scales.map((scale) => (scale as { encoding?: unknown }).encoding)];
  for (const word of words)
    if (typeof word === "string" && word !== word.toLowerCase())
      yield finding(
        "portable",
        where,
        `${JSON.stringify(word)} is written in lower case: tensorstore and cloud-volume take no other`,
      );
}

async function* validateScale(volume: VolumeArray, options: ValidateOptions): AsyncGenerator<Finding> {
  const { store, chunksAt, scale, url } = volume;
  const { level = 5 } = options;
  let coding: ScaleCoding | undefined;
  try {
    if (scale.encoding.name !== "other") coding = await codingOf(volume.info, scale, url);
  } catch (error) {
    yield failure("info", url, error);
  }
  const reader = await chunksOf(volume, options);
  try {
    if (scale.sharding !== null) yield* verifySharded(store, chunksAt, scale.sharding, options);
    else if (store.can.list) yield* checkNames(volume, options);
    if (store.can.list) yield* checkPresence(volume, reader, options);
  } catch (error) {
    yield failure("values-listed", url, error);
    return;
  }
  if (level < 4 || coding === undefined) return;
  const limits = withLimits(options.limits);
  const check = function* (id: bigint, bytes: Uint8Array): Generator<Finding> {
    const cell = volume.grid.cellOf(id);
    if (cell === undefined) return;
    try {
      coding.codecOf(volume.grid.extentOf(cell)).decode(bytes, limits, "lend");
    } catch (error) {
      yield failure("value-decodes", chunkUrl(volume, cell), error);
    }
  };
  if (store.can.list) yield* checkValues(reader, url, options, check);
  else yield* checkGrid(volume, reader, options, check);
}

/** Files that look like chunks. */
async function* checkNames(volume: VolumeArray, { signal }: ValidateOptions): AsyncGenerator<Finding> {
  const { store, chunksAt, scale } = volume;
  const grids = scale.chunkSizes.map((_, which) => new ChunkGrid(scale, which));
  let compressed = 0;
  for (const key of (await store.children(chunksAt, { signal, bare: true })).keys) {
    const name = key.slice(chunksAt.length);
    const bare = name.replace(/\.gz$/, "");
    if (!/^-?\d+--?\d+_-?\d+--?\d+_-?\d+--?\d+$/.test(bare)) continue;
    if (grids.every((grid) => grid.cellOfName(bare) === undefined))
      yield finding("chunk-outside", key, `${store.url}/${key} is no chunk of the grid, so that nobody reads it`);
    else if (bare !== name && compressed++ === 0)
      yield finding(
        "portable",
        key,
        `${store.url}/${key} and perhaps others are compressed under names that end in .gz, which a web server must know to say; otherwise clients take them for missing`,
      );
  }
}

async function* checkPresence(
  volume: VolumeArray,
  reader: ValueReader,
  { signal, limits }: ValidateOptions,
): AsyncGenerator<Finding> {
  const { grid, url } = volume;
  let present = 0;
  for await (const ids of reader.ids({ signal, limits })) {
    for (const id of ids) {
      if (grid.cellOf(id) !== undefined) present++;
      else
        yield finding("chunk-outside", url, `the chunk ${id} is none of the grid of ${grid.shape.join(" × ")} chunks`);
    }
  }
  if (present < grid.count)
    yield finding("chunk-missing", url, `${grid.count - present} of ${grid.count} chunks are absent and read as zeros`);
}

/** Every chunk that could be there, where the store cannot list those that are. */
async function* checkGrid(
  volume: VolumeArray,
  reader: ValueReader,
  { signal, limits, onProgress }: ValidateOptions,
  check: (id: bigint, bytes: Uint8Array) => Iterable<Finding>,
): AsyncGenerator<Finding> {
  const { grid } = volume;
  const whole = volume.shape.map((count) => ({ start: 0, step: 1, count }));
  let done = 0;
  for (const { chunk } of parts(whole, volume.chunkShape)) {
    signal?.throwIfAborted();
    try {
      const id = grid.idOf(chunk);
      const bytes = await reader.get(id, { signal, limits });
      if (bytes !== undefined) yield* check(id, bytes);
    } catch (error) {
      yield failure("value-decodes", chunkUrl(volume, chunk), error);
    }
    onProgress?.({ done: ++done, total: grid.count, unit: "chunks" });
  }
}
