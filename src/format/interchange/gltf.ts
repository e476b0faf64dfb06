/**
 * glTF 2.0 as a dataset: each node with a mesh is an object, by its name, in the place where the transforms of the nodes put it. Triangles are a mesh; where there are
 * none, lines are a graph (strips alone are paths), and points are points. NORMAL, TEXCOORD_0 and COLOR_0 are `normal`, `uv`
 * and `color`; what begins with "_" keeps its name without that. Draco is unpacked.
 *
 * | too large to be held    |                                                                                  |
 * |-------------------------|----------------------------------------------------------------------------------|
 * | the document            | is held, without large data in base64; refused where it is too large for that    |
 * | numbers                 | are read by ranges, where they are; of a packed file they are put aside before   |
 * | a stream of Draco       | is held, one at a time; refused where it is too large for that                   |
 * | a path                  | the same                                                                         |
 */
import { isJsonObject } from "../../bytes/json.js";
import { loadDraco } from "../../codec/draco.js";
import { LimitExceeded, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import { absentColumn } from "../../query/columns.js";
import { fileAside } from "./bytes-aside.js";
import { bytesFile, type InputFile, passingRoom, refusalOf, sized, wholeOrPassing } from "./file.js";

import { type Accessor, asNumbers, numbersOf } from "./gltf-accessor.js";
import { readDocument } from "./gltf-document.js";
import { Gltf } from "./gltf-file.js";
import { moved, nodesOf, type Placed, turned } from "./gltf-nodes.js";
import {
  DracoStreams,
  type Given,
  isPath,
  type Kind,
  kindOf,
  linksOf,
  modeOf,
  type Primitive,
  primitiveOf,
  usesDraco,
} from "./gltf-primitives.js";
import { writeGlb, writeGltf } from "./gltf-write.js";
import { column, columns } from "./surface.js";
import { blocksContent, NO_LINKS, NO_VERTICES } from "./surface-blocks.js";
import type { SurfaceBlock, SurfaceFile } from "./surface-passing.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

/** Either is read, whatever it is called. */
export const file: FileFormat = { open, write: writeGltf };
export const glb: FileFormat = { open, write: writeGlb };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const { where } = input;
  const limits = withLimits(options.limits);
  const bytes = await wholeOrPassing(input, options);
  const beyond = bytes instanceof Unsupported ? bytes : undefined;
  const source = bytes instanceof Unsupported ? await sized(input, options) : bytesFile(input, bytes);
  const document = await readDocument(source, options, beyond);
  const gltf = await Gltf.open(document, source, limits, options);
  const refusal = beyond ?? refusalOf(where, gltf.size, options);
  if (refusal === undefined) await gltf.hold();
  const unknown = gltf
    .list("extensionsRequired")
    .map(String)
    .filter((name) => !/^KHR_(draco_mesh_compression|mesh_quantization|materials_\w+|texture_\w+)$/.test(name));
  if (unknown.length > 0)
    throw new Unsupported(`${where} needs ${unknown.join(", ").slice(0, 200)}, which is not read`, { where });
  const scene = sceneOf(gltf);
  const room = refusal && { bytes: passingRoom(options), refusal };
  return blocksContent(
    { version: "glTF 2.0", geometry: scene.geometry },
    refusal,
    async ({ rows, makeScratch, ...now }) => {
      const packed = makeScratch !== undefined && beyond !== undefined && input.size === undefined;
      const from = packed ? await fileAside(source, makeScratch(), now) : source;
      const own = refusal === undefined ? gltf : await Gltf.open(document, from, limits, now);
      const streams = usesDraco(own) ? new DracoStreams(await loadDraco(), room) : undefined;
      const primitives: Primitive[] = [];
      for (const given of scene.used) primitives.push(await primitiveOf(given, own, streams));
      return surfaceFile(own, scene, primitives, room, rows);
    },
    input,
    options,
  );
}

type Room = { readonly bytes: number; readonly refusal: Unsupported } | undefined;

/** What the document says of everything, before anything is read. */
interface Scene {
  readonly placed: readonly Placed[];
  /** Primitives of the kind that is read. */
  readonly used: readonly Given[];
  readonly kind: Kind;
  readonly geometry: "mesh" | "polylines" | "graph" | "points";
  readonly notes: readonly string[];
}

const LEAST = 64; // bytes that a primitive takes, whatever it has

function sceneOf(gltf: Gltf): Scene {
  const { where, cap } = gltf;
  const placed = nodesOf(gltf);
  const all: Given[] = [];
  for (const [object, place] of placed.entries()) {
    const list = gltf.item("meshes", place.mesh).primitives;
    for (const own of Array.isArray(list) ? list : [])
      if (isJsonObject(own)) all.push({ object, own, mode: modeOf(own, gltf) });
    if (LEAST * all.length > cap) throw new LimitExceeded(`${where} unpacks to more than ${cap} bytes`, { where });
  }
  const kinds = new Set(all.map(({ mode }) => kindOf(mode)));
  const kind: Kind = kinds.has("mesh") ? "mesh" : kinds.has("lines") ? "lines" : "points";
  const used = all.filter(({ mode }) => kindOf(mode) === kind);
  const notes =
    all.length > used.length ? [`${all.length - used.length} primitives of points and lines are left out`] : [];
  if (gltf.list("materials").length + gltf.list("animations").length + gltf.list("skins").length > 0)
    notes.push("materials, animations and skins are left out");
  const geometry = kind !== "lines" ? kind : used.every(isPath) ? "polylines" : "graph";
  return { placed, used, kind, geometry, notes };
}

/** Everything in one: the vertices of each object together. */
function surfaceFile(
  gltf: Gltf,
  scene: Scene,
  primitives: readonly Primitive[],
  room: Room,
  rows: number,
): SurfaceFile {
  const { where, cap } = gltf;
  const { geometry, placed } = scene;
  const linked = geometry === "mesh" || geometry === "graph";
  const width = geometry === "mesh" ? 3 : 2;
  const lanes = lanesOf(primitives);
  const bytes = primitives.reduce((sum, { positions, links }) => sum + 12 * positions.count + 4 * width * links, 0);
  if (bytes > cap) throw new LimitExceeded(`${where} unpacks to more than ${cap} bytes`, { where });
  const row = lanes.reduce((sum, { info: { channels } }) => sum + 4 * channels, 12);
  if (
    room !== undefined &&
    geometry === "polylines" &&
    primitives.some(({ positions }) => positions.count * row > room.bytes)
  )
    throw room.refusal;

  async function vertices(primitive: Primitive, from: number, to: number, first: number): Promise<SurfaceBlock> {
    const { positions, object } = primitive;
    const { matrix } = placed[object]!;
    const own: Column[] = [];
    for (const lane of lanes) own.push(await lane.read(primitive, from, to, matrix));
    return {
      ...NO_LINKS,
      positions: moved(numbersOf(await positions.read(from, to), positions.normalized), matrix),
      vertexColumns: columns(...own),
      place: (what, i) => `${what} ${first + from + i} of all primitives`,
    };
  }

  async function* blocks(what?: "vertices" | "links"): AsyncGenerator<SurfaceBlock> {
    let [first, firstLink] = [0, 0];
    for (const primitive of primitives) {
      const { count } = primitive.positions;
      const step = geometry === "polylines" ? count : rows; // paths come whole
      for (let from = 0; what !== "links" && from < count; from += step)
        yield vertices(primitive, from, Math.min(from + step, count), first);
      for (let from = 0; linked && what !== "vertices" && from < primitive.links; from += rows) {
        const links = await linksOf(primitive, from, Math.min(from + rows, primitive.links), where);
        const [base, before] = [first, firstLink + from];
        const place = (_: unknown, i: number): string => `link ${before + i} of all primitives`;
        yield { ...NO_VERTICES, links: links.map((end) => end + base), linkColumns: columns(), place };
      }
      first += count;
      firstLink += primitive.links;
    }
  }
  const told = { notes: scene.notes, ...objectsOf(scene, primitives) };
  return { where, geometry, blocks, told: () => told };
}

/** Each node is an object, or each path. */
function objectsOf({ placed, geometry }: Scene, primitives: readonly Primitive[]) {
  const paths = geometry === "polylines";
  const [parts, owners] = [[0], [] as Placed[]];
  let [vertex, last] = [0, -1];
  for (const { object, positions } of primitives) {
    if (last >= 0 && (paths || object !== last)) parts.push(vertex);
    if (paths || object !== last) owners.push(placed[object]!);
    last = object;
    vertex += positions.count;
  }
  parts.push(vertex);
  if (owners.length === 0 || geometry === "points") return {};
  const ids = owners.map(({ id }) => id);
  const known = ids.every((id): id is bigint => id !== undefined) && new Set(ids).size === ids.length;
  const names = owners.map(({ name }) => name);
  return {
    parts: Uint32Array.from(parts),
    ids: known ? BigInt64Array.from(ids as bigint[]) : undefined,
    objectColumns: names.some((name) => name !== "") ? columns(column("name", names)) : undefined,
  };
}

/** An attribute of vertices, of all primitives. */
interface Lane {
  readonly info: AttributeInfo;
  read(primitive: Primitive, from: number, to: number, matrix: readonly number[]): Promise<Column>;
}

const KNOWN: { readonly [semantic: string]: string } = { NORMAL: "normal", TEXCOORD_0: "uv", COLOR_0: "color" };

/** Attributes by their names; one that is of another type elsewhere has a number after its name there. */
function lanesOf(primitives: readonly Primitive[]): Lane[] {
  type Own = { readonly rows: Accessor; readonly semantic: string };
  const found = new Map<string, { readonly like: Accessor; readonly by: Map<Primitive, Own> }>();
  for (const primitive of primitives)
    for (const [semantic, given] of primitive.attributes) {
      const rows = semantic === "COLOR_0" ? given : asNumbers(given); // colours stay bytes
      const plain = KNOWN[semantic] ?? semantic.replace(/^_/, "");
      for (let name = plain, k = 2; ; name = `${plain}_${k++}`) {
        const own = found.get(name) ?? { like: rows, by: new Map() };
        found.set(name, own);
        const isSame = own.like.Type === rows.Type && own.like.channels === rows.channels;
        if (!isSame || own.by.has(primitive)) continue;
        own.by.set(primitive, { rows, semantic });
        break;
      }
    }
  return [...found].map(([name, { like, by }]) => {
    const { channels, Type } = like;
    const plain = column(name, new Type(0), channels).info;
    const info = by.size < primitives.length ? absentColumn(plain, 1).info : plain;
    return {
      info,
      async read(primitive, from, to, matrix) {
        const own = by.get(primitive);
        if (own === undefined) return absentColumn(info, to - from);
        const values = await own.rows.read(from, to);
        const isNormal = own.semantic === "NORMAL" && channels === 3 && values instanceof Float32Array;
        return { info, values: isNormal ? turned(values, matrix) : values };
      },
    };
  });
}
