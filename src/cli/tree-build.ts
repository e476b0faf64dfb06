/** `octavo tree build`: from positions, wherever they are, to a `.ptree` file or to the bytes of a packed tree. */
import { InvalidInput, NotFound } from "../errors.js";
import { readNpy } from "../format/interchange/npy.js";
import { buildTree, encodeParticles, encodeTree, joinParticles } from "../format/packed-tree/index.js";
import type { NdArray } from "../model/array.js";
import type { Column } from "../model/attributes.js";
import { typed } from "../model/elements.js";
import type { Positions } from "../model/vectors.js";
import { openLocation } from "../node.js";
import { createPool } from "../worker/pool.js";
import { bytesText, counted } from "./output.js";
import { openSink } from "./sink.js";
import { findSource } from "./source.js";
import type { TreeOptions } from "./tree.js";
import type { ExitCode, Session } from "./verb.js";

/** Particles as they were found. */
interface Found {
  readonly positions: Positions;
  readonly attributes: readonly Column[];
  /** What could not come along. */
  readonly left: readonly string[];
}

export async function build(from: string, to: string, options: TreeOptions, session: Session): Promise<ExitCode> {
  const { output, signal } = session;
  const { positions, attributes, left } = await particlesAt(from, options, session);
  const { box, threshold } = options;
  if (box !== undefined && box.length !== 6) throw new InvalidInput(`--box should be six numbers, found ${box.length}`);
  const size = (axis: number): number => box![axis + 3]! - box![axis]!;
  const built = await buildTree(positions, {
    threshold,
    pool: createPool(),
    ...(box !== undefined && { box: { origin: [box[0]!, box[1]!, box[2]!], size: [size(0), size(1), size(2)] } }),
  });
  const pieces = to.toLowerCase().endsWith(".ptree")
    ? encodeParticles(await joinParticles(built), { attributes })
    : [encodeTree(built.tree)];
  const sink = await openSink(to, options.overwrite, session);
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      signal.throwIfAborted();
      await sink.write(piece);
      bytes += piece.length;
    }
    await sink.commit();
  } catch (error) {
    await sink.abort();
    throw error;
  }
  const { count, nodes } = built.tree;
  if (left.length > 0) output.remark(`note: attributes that are no numbers are left out: ${left.join(", ")}`);
  if (output.json) output.document({ to, particles: count, nodes: nodes.length, bytes, left });
  else if (to !== "-")
    output.line(`${counted(count, "particle")}, ${counted(nodes.length, "node")}: ${bytesText(bytes)}`);
  return 0;
}

async function particlesAt(url: string, options: TreeOptions, session: Session): Promise<Found> {
  const { signal } = session;
  if (url.toLowerCase().endsWith(".npy")) {
    const { store, file } = await openLocation(url, { signal });
    const bytes = file && (await store.get(file, { signal }));
    if (bytes === undefined) throw new NotFound(`${url} is not there, or no file`, { where: url });
    return { positions: rowsOf(readNpy(bytes, undefined, url), url), attributes: [], left: [] };
  }
  const { match } = await findSource(url, { ...options, as: undefined }, session);
  const dataset = await match.open();
  if (dataset.kind === "array")
    return { positions: rowsOf(await dataset.read(undefined, { signal }), url), attributes: [], left: [] };
  if (dataset.kind !== "vectors" || !dataset.geometries.includes("points"))
    throw new InvalidInput(`${url} has no points, and is no array of them`);
  const batch = await dataset.select({ geometry: "points" }).read({ signal });
  if (batch.dims !== 3)
    throw new InvalidInput(`the points of ${url} have ${batch.dims} coordinates, and a tree needs 3`);
  const columns = [...batch.vertexColumns.values()].filter(({ info }) => info.name !== "original");
  const isNumbers = ({ info, values }: Column): boolean =>
    ArrayBuffer.isView(values) && info.categories === undefined && ["int", "uint", "float"].includes(info.dtype.kind);
  const left = columns.filter((column) => !isNumbers(column)).map(({ info }) => info.name);
  return { positions: batch.positions, attributes: columns.filter(isNumbers), left };
}

/** An array of n × 3 floats as positions. */
function rowsOf(array: NdArray, url: string): Positions {
  const { shape, dtype } = array;
  if (shape.length !== 2 || shape[1] !== 3 || dtype.kind !== "float")
    throw new InvalidInput(`${url} should be an array of n × 3 floats, found ${dtype.kind} of ${shape.join(" × ")}`);
  const values = typed(array);
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  throw new InvalidInput(`${url} should have float32 or float64, found float16`);
}
