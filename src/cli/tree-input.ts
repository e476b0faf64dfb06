/** Particles for a tree, batch by batch, from whatever is at some addresses: .npy files, arrays of n × 3, datasets of points. */
import { concat } from "../bytes/concat.js";
import { type JsonObject, stringifyJson } from "../bytes/json.js";
import { bytesOf, type NumericType, numericView } from "../codec/numeric.js";
import type { NumericArray } from "../codec/types.js";
import { aboutOf, isKept } from "../convert/particles.js";
import { InvalidInput, NotFound } from "../errors.js";
import { openNpy } from "../format/interchange/npy-rows.js";
import type { ParticleBatch, ParticleStream } from "../format/packed-tree/index.js";
import type { NdArray } from "../model/array.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { ArrayDataset, GroupDataset } from "../model/dataset.js";
import { typed } from "../model/elements.js";
import type { Positions, VectorDataset } from "../model/vectors.js";
import { openLocation } from "../node.js";
import { findSource } from "./source.js";
import type { TreeOptions } from "./tree.js";
import type { Session } from "./verb.js";

/** Particles as they were found. */
export interface Found {
  readonly stream: ParticleStream;
  /** What the dataset says about itself; nothing where there are several that do not say the same. */
  readonly about: JsonObject;
  /** What cannot come along. */
  readonly left: ReadonlySet<string>;
}

interface One extends ParticleStream {
  readonly about: JsonObject;
}

/** Rows of an array that are read together. */
const ROWS = 2 ** 18;

/** The particles at these addresses, one after the other. */
export async function particlesAt(urls: readonly string[], options: TreeOptions, session: Session): Promise<Found> {
  const left = new Set<string>();
  const streams: One[] = [];
  for (const url of urls) streams.push(await streamAt(url, options, session, left));
  const [about = {}, ...others] = streams.map((one) => one.about);
  const isSame = others.every((other) => stringifyJson(other) === stringifyJson(about));
  if (!isSame) left.add("what the datasets say about themselves");
  const stream = {
    count: streams.every(({ count }) => count !== undefined)
      ? streams.reduce((sum, { count }) => sum + count!, 0)
      : undefined,
    precision: streams.some(({ precision }) => precision === "float64") ? ("float64" as const) : undefined,
    async *batches() {
      for (const one of streams) yield* one.batches({ signal: session.signal });
    },
  };
  return { stream, about: isSame ? about : {}, left };
}

async function streamAt(url: string, options: TreeOptions, session: Session, left: Set<string>): Promise<One> {
  const { signal } = session;
  if (url.toLowerCase().endsWith(".npy")) {
    const { store, file } = await openLocation(url, { signal });
    if (file === undefined) throw new NotFound(`${url} is not there, or no file`, { where: url });
    return { ...rowStream(await openNpy(store, file, { signal }), url), about: {} };
  }
  const { match } = await findSource(url, { ...options, as: undefined }, session);
  const dataset = await match.open();
  if (dataset.kind === "array") {
    const { shape, dtype } = dataset;
    const read = (start: number, stop: number) => dataset.read([{ start, stop }], { signal });
    return { ...rowStream({ shape, dtype, read }, url, dataset.chunkShape[0]), about: dataset.attributes };
  }
  if (dataset.kind === "group") return { ...(await axesStream(dataset, url, session)), about: dataset.attributes };
  if (dataset.kind !== "vectors" || !dataset.geometries.includes("points"))
    throw new InvalidInput(`${url} has no points, and is no array of them`);
  for (const one of await lostOf(dataset, session)) left.add(one);
  return { ...pointStream(dataset, url), about: aboutOf(dataset) };
}

interface Rows extends Pick<NdArray, "shape" | "dtype"> {
  read(start: number, stop: number): Promise<NdArray>;
}

/** An array of n × 3 floats, whole chunks at a time. */
function rowStream({ shape, dtype, read }: Rows, url: string, chunk = 1): ParticleStream {
  if (shape.length !== 2 || shape[1] !== 3 || dtype.kind !== "float")
    throw new InvalidInput(`${url} should be an array of n × 3 floats, found ${dtype.kind} of ${shape.join(" × ")}`);
  if (dtype.size === 2) throw new InvalidInput(`${url} should have float32 or float64, found float16`);
  const count = shape[0]!;
  const step = Math.max(1, Math.floor(ROWS / chunk)) * chunk;
  return {
    count,
    precision: dtype.size === 4 ? "float32" : "float64",
    async *batches() {
      for (let start = 0; start < count; start += step)
        yield { positions: typed(await read(start, Math.min(count, start + step))) as Positions, columns: [] };
    },
  };
}

/** A group with an array for each axis: x, y and z. */
async function axesStream(group: GroupDataset, url: string, { signal }: Session): Promise<ParticleStream> {
  const names = ["x", "y", "z"];
  const there = (await group.children({ signal })) ?? names.map((name) => ({ name }));
  const found = names.map((name) => there.find((child) => child.name.toLowerCase() === name)?.name);
  if (found.includes(undefined))
    throw new InvalidInput(`${url} should be an array of n × 3, or a group with the arrays x, y and z`);
  const axes = await Promise.all(found.map((name) => group.open(name!, { signal })));
  const [count, ...others] = axes.map((axis) =>
    axis.kind === "array" && axis.shape.length === 1 ? axis.shape[0]! : -1,
  );
  if (count! < 0 || others.some((other) => other !== count))
    throw new InvalidInput(`${url} should have arrays x, y and z that are equally long, found ${[count, ...others]}`);
  const arrays = axes as readonly ArrayDataset[];
  const wide = arrays.some(({ dtype }) => !(dtype.kind === "float" && dtype.size === 4));
  if (!arrays.every(({ dtype }) => dtype.kind === "float" && dtype.size >= 4))
    throw new InvalidInput(`${url} should have float32 or float64 in x, y and z`);
  return {
    count: count!,
    precision: wide ? "float64" : "float32",
    async *batches() {
      for (let start = 0; start < count!; start += ROWS) {
        const stop = Math.min(count!, start + ROWS);
        const parts = await Promise.all(arrays.map((array) => array.read([{ start, stop }], { signal })));
        const positions = wide ? new Float64Array(3 * (stop - start)) : new Float32Array(3 * (stop - start));
        for (const [axis, part] of parts.entries()) {
          const values = typed(part) as Positions;
          for (let i = 0, at = axis; i < values.length; i++, at += 3) positions[at] = values[i]!;
        }
        yield { positions, columns: [] };
      }
    },
  };
}

/** What points have and particles have not. */
async function lostOf(dataset: VectorDataset, { signal }: Session): Promise<string[]> {
  const { vertex, object } = await dataset.schema(0, { signal });
  const lost = vertex.filter((info) => !isKept(info)).map(({ name }) => name);
  const { objects } = await dataset.source(0, { signal }, "points");
  if (objects !== undefined) lost.push("the ids of objects");
  const headers = await dataset.headers({ signal });
  return [
    ...lost,
    ...object.map(({ name }) => `object.${name}`),
    ...Array.from(headers.keys(), (format) => `the header of ${format}`),
  ];
}

function pointStream(dataset: VectorDataset, url: string): ParticleStream {
  return {
    async *batches(options) {
      for await (const { dims, positions, vertexColumns } of dataset.select({ geometry: "points" }).batches(options)) {
        if (dims !== 3) throw new InvalidInput(`the points of ${url} have ${dims} coordinates, and a tree needs 3`);
        yield { positions, columns: [...vertexColumns.values()].filter(({ info }) => isKept(info)) };
      }
    },
  };
}

/** All of it in memory. */
export async function collected({ precision, batches }: ParticleStream): Promise<ParticleBatch> {
  const all: ParticleBatch[] = [];
  for await (const batch of batches()) all.push(batch);
  const length = all.reduce((sum, { positions }) => sum + positions.length, 0);
  const isWide = precision === "float64" || all.some(({ positions }) => positions instanceof Float64Array);
  const positions = isWide ? new Float64Array(length) : new Float32Array(length);
  let at = 0;
  for (const batch of all) {
    positions.set(batch.positions, at);
    at += batch.positions.length;
  }
  const first = all[0]?.columns ?? [];
  const more = all.find((batch) => batch.columns.length > first.length)?.columns[first.length];
  if (more !== undefined)
    throw new InvalidInput(`all particles should have the attribute ${more.info.name}, and the first have none`);
  const columns = first.map(({ info }, i): Column => {
    const parts = all.map((batch) => valuesOf(batch.columns[i], info));
    return { info, values: numericView(info.dtype as NumericType, concat(parts.map(bytesOf))) };
  });
  return { positions, columns };
}

function valuesOf(column: Column | undefined, { name, dtype, channels }: AttributeInfo): NumericArray {
  const { info, values } = column ?? {};
  if (info?.name !== name || info.channels !== channels || JSON.stringify(info.dtype) !== JSON.stringify(dtype))
    throw new InvalidInput(
      `all particles should have the attribute ${name} as the first have it, found ${info?.name ?? "none"}`,
    );
  return values as NumericArray;
}
