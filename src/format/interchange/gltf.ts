/**
 * glTF 2.0 as a dataset: each node with a mesh is an object, by its name, in the place where the transforms of the nodes put it. Triangles are a mesh; where there are
 * none, lines are a graph (strips alone are paths), and points are points. NORMAL, TEXCOORD_0 and COLOR_0 are `normal`, `uv`
 * and `color`; what begins with "_" keeps its name without that. Draco is unpacked.
 */
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { type Draco, loadDraco } from "../../codec/draco.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { Column } from "../../model/attributes.js";
import type { Columns } from "../../model/vectors.js";
import { ColumnsBuilder } from "../../query/columns.js";
import { type InputFile, whole } from "./file.js";
import { type Accessor, Gltf } from "./gltf-file.js";
import { moved, nodesOf, type Placed, turned } from "./gltf-nodes.js";
import { writeGlb, writeGltf } from "./gltf-write.js";
import { column, columns, type Surface, surfaceContent } from "./surface.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

/** Either is read, whatever it is called. */
export const file: FileFormat = { open, write: writeGltf };
export const glb: FileFormat = { open, write: writeGlb };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const limits = withLimits(options.limits);
  const bytes = await whole(input, limits.resultBytes, options);
  const gltf = await Gltf.open(bytes, input, limits, options);
  const required = gltf.list("extensionsRequired").map(String);
  const unknown = required.filter(
    (name) => !/^KHR_(draco_mesh_compression|mesh_quantization|materials_\w+|texture_\w+)$/.test(name),
  );
  if (unknown.length > 0)
    throw new Unsupported(`${input.where} needs ${unknown.join(", ").slice(0, 200)}, which is not read`, {
      where: input.where,
    });
  const packed = gltf.list("extensionsUsed").includes(DRACO) || required.includes(DRACO);
  const draco = packed ? await loadDraco() : undefined;
  return surfaceContent(surface(gltf, draco), input, options);
}

const DRACO = "KHR_draco_mesh_compression";

type Kind = "mesh" | "lines" | "points";
const [POINTS, LINES, LOOP, LINE_STRIP, , STRIP, FAN] = [0, 1, 2, 3, 4, 5, 6];
const kindOf = (mode: number): Kind => (mode === POINTS ? "points" : mode <= LINE_STRIP ? "lines" : "mesh");

interface Primitive {
  readonly object: number;
  readonly mode: number;
  readonly positions: Float32Array;
  readonly links: Uint32Array;
  /** Its vertices are in another order than they are stored. */
  readonly indexed: boolean;
  readonly columns: Columns;
}

function surface(gltf: Gltf, draco: Draco | undefined): Surface {
  const { where } = gltf;
  const placed = nodesOf(gltf);
  const primitives: Primitive[] = [];
  let bytes = 0;
  for (const [object, place] of placed.entries()) {
    const list = gltf.item("meshes", place.mesh).primitives;
    for (const own of Array.isArray(list) ? list : []) {
      if (!isJsonObject(own)) continue;
      const primitive = readPrimitive(gltf, own, object, place, draco);
      bytes += primitive.positions.byteLength + primitive.links.byteLength;
      if (bytes > gltf.cap) throw new LimitExceeded(`${where} unpacks to more than ${gltf.cap} bytes`, { where });
      primitives.push(primitive);
    }
  }
  const kinds = new Set(primitives.map(({ mode }) => kindOf(mode)));
  const kind: Kind = kinds.has("mesh") ? "mesh" : kinds.has("lines") ? "lines" : "points";
  const used = primitives.filter(({ mode }) => kindOf(mode) === kind);
  const notes =
    primitives.length > used.length
      ? [`${primitives.length - used.length} primitives of points and lines are left out`]
      : [];
  if (gltf.list("materials").length + gltf.list("animations").length + gltf.list("skins").length > 0)
    notes.push("materials, animations and skins are left out");
  const paths = kind === "lines" && used.every(({ mode, indexed }) => mode === LINE_STRIP && !indexed);
  return {
    version: "glTF 2.0",
    geometry: kind === "lines" ? (paths ? "polylines" : "graph") : kind,
    ...joined(used, placed, paths, kind),
    notes,
  };
}

/** Everything in one: the vertices of each object together. */
function joined(used: readonly Primitive[], placed: readonly Placed[], paths: boolean, kind: Kind) {
  const count = used.reduce((sum, { positions }) => sum + positions.length / 3, 0);
  const positions = new Float32Array(3 * count);
  const links = new Uint32Array(used.reduce((sum, own) => sum + own.links.length, 0));
  const builder = new ColumnsBuilder(count);
  const [parts, owners] = [[0], [] as Placed[]];
  let [vertex, link, last] = [0, 0, -1];
  for (const { object, positions: own, links: ends, columns: more } of used) {
    if (last >= 0 && (paths || object !== last)) parts.push(vertex);
    if (paths || object !== last) owners.push(placed[object]!);
    last = object;
    positions.set(own, 3 * vertex);
    for (let i = 0; i < ends.length; i++) links[link + i] = ends[i]! + vertex;
    builder.put(more, 0, own.length / 3, vertex);
    vertex += own.length / 3;
    link += ends.length;
  }
  parts.push(vertex);
  const ids = owners.map(({ id }) => id);
  const known = ids.every((id): id is bigint => id !== undefined) && new Set(ids).size === ids.length;
  const names = owners.map(({ name }) => name);
  const objects = owners.length > 0 && kind !== "points";
  return {
    positions,
    vertexColumns: builder.done(),
    links: paths || kind === "points" ? undefined : links,
    parts: objects ? Uint32Array.from(parts) : undefined,
    ids: known && objects ? BigInt64Array.from(ids as bigint[]) : undefined,
    objectColumns: objects && names.some((name) => name !== "") ? columns(column("name", names)) : undefined,
    place: (what: "vertex" | "link", i: number) => `${what} ${i} of all primitives`,
  };
}

function readPrimitive(
  gltf: Gltf,
  own: JsonObject,
  object: number,
  { matrix }: Placed,
  draco: Draco | undefined,
): Primitive {
  const { where } = gltf;
  const mode = gltf.number(own.mode, "mode", 4);
  if (mode > FAN) throw new Corrupt(`${where} has a primitive of mode ${mode}`, { where });
  const attributes = isJsonObject(own.attributes) ? own.attributes : {};
  const packed = isJsonObject(own.extensions) ? own.extensions[DRACO] : undefined;
  if (isJsonObject(packed) && draco === undefined)
    throw new Corrupt(`${where} is packed with Draco, and does not say so in extensionsUsed`, { where });
  const { read, indices } =
    isJsonObject(packed) && draco !== undefined ? unpack(gltf, packed, draco) : plain(gltf, own);
  const place = read("POSITION", attributes.POSITION);
  if (place.channels !== 3) throw new Corrupt(`${where} has positions of ${place.channels} numbers`, { where });
  const list: Column[] = [];
  for (const [name, index] of Object.entries(attributes)) {
    if (name === "POSITION" || /^(JOINTS|WEIGHTS|TANGENT)/.test(name)) continue;
    const { values, channels, count } = read(name, index);
    if (count !== place.count)
      throw new Corrupt(`${where}: ${name} has ${count} rows, and there are ${place.count} positions`, { where });
    const known = { NORMAL: "normal", TEXCOORD_0: "uv", COLOR_0: "color" }[name];
    const isNormal = name === "NORMAL" && channels === 3 && values instanceof Float32Array;
    list.push(column(known ?? name.replace(/^_/, ""), isNormal ? turned(values, matrix) : values, channels));
  }
  const links = linksOf(mode, indices, place.count);
  for (const end of links)
    if (end >= place.count)
      throw new Corrupt(`${where} has a face that points to vertex ${end}, counted from 0, of ${place.count}`, {
        where,
      });
  const positions = moved(numbersOf(place), matrix);
  return { object, mode, positions, links, indexed: indices !== undefined, columns: columns(...list) };
}

function numbersOf({ values, normalized }: Accessor): Float32Array {
  if (values instanceof Float32Array) return values;
  const most = normalized
    ? 2 ** (8 * values.BYTES_PER_ELEMENT - (/^Int/.test(values.constructor.name) ? 1 : 0)) - 1
    : 1;
  return Float32Array.from(values, (value) => Math.max(-1 * most, value) / most);
}

interface Source {
  read(name: string, index: Json | undefined): Accessor;
  readonly indices: ArrayLike<number> | undefined;
}

function plain(gltf: Gltf, own: JsonObject): Source {
  const indices = own.indices === undefined ? undefined : gltf.accessor(own.indices);
  return { read: (_, index) => gltf.accessor(index), indices: indices?.values };
}

function unpack(gltf: Gltf, packed: JsonObject, draco: Draco): Source {
  const { where } = gltf;
  const { positions, components, points, faces, attributes } = draco.decode(
    gltf.view(packed.bufferView).bytes,
    gltf.limits,
    where,
  );
  const numbers = isJsonObject(packed.attributes) ? packed.attributes : {};
  return {
    indices: faces,
    read(name) {
      if (name === "POSITION") return { values: positions, channels: components, count: points, normalized: false };
      const found = attributes.find(({ id }) => id === numbers[name]);
      if (found === undefined) throw new Corrupt(`${where} has no ${name} in its Draco stream`, { where });
      return { values: found.values, channels: found.components, count: points, normalized: false };
    },
  };
}

/** Triangles, or pairs of lines; of strips as paths nothing is needed besides, but they may be read as lines. */
function linksOf(mode: number, indices: ArrayLike<number> | undefined, vertices: number): Uint32Array {
  const count = indices?.length ?? vertices;
  const at = (i: number): number => indices?.[i] ?? i;
  const out: number[] | Uint32Array =
    mode === LINES || mode === 4 ? new Uint32Array(count - (count % (mode === LINES ? 2 : 3))) : [];
  if (out instanceof Uint32Array) for (let i = 0; i < out.length; i++) out[i] = at(i);
  else if (mode === STRIP) for (let i = 2; i < count; i++) out.push(at(i - 2 + (i % 2)), at(i - 1 - (i % 2)), at(i));
  else if (mode === FAN) for (let i = 2; i < count; i++) out.push(at(0), at(i - 1), at(i));
  else if (mode === LINE_STRIP || mode === LOOP) {
    for (let i = 1; i < count; i++) out.push(at(i - 1), at(i));
    if (mode === LOOP && count > 1) out.push(at(count - 1), at(0));
  }
  return Uint32Array.from(out);
}
