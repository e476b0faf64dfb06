/** The primitives of glTF: what each has, and the links of its mode. */
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import type { Draco, DracoGeometry } from "../../codec/draco.js";
import { Corrupt, LimitExceeded, type Unsupported } from "../../errors.js";
import type { Accessor, Values, ValuesOf } from "./gltf-accessor.js";
import type { Gltf } from "./gltf-file.js";

export type Kind = "mesh" | "lines" | "points";
const [POINTS, LINES, LOOP, LINE_STRIP, TRIANGLES, STRIP, FAN] = [0, 1, 2, 3, 4, 5, 6];
export const kindOf = (mode: number): Kind => (mode === POINTS ? "points" : mode <= LINE_STRIP ? "lines" : "mesh");

const DRACO = "KHR_draco_mesh_compression";

/** Whether primitives may be packed with Draco. */
export const usesDraco = (gltf: Gltf): boolean =>
  ["extensionsUsed", "extensionsRequired"].some((list) => gltf.list(list).includes(DRACO));

/** A primitive as the document has it. */
export interface Given {
  /** The number of its node. */
  readonly object: number;
  readonly own: JsonObject;
  readonly mode: number;
}

export function modeOf(own: JsonObject, gltf: Gltf): number {
  const mode = gltf.number(own.mode, "mode", TRIANGLES);
  if (mode > FAN) throw new Corrupt(`${gltf.where} has a primitive of mode ${mode}`, { where: gltf.where });
  return mode;
}

const packedOf = ({ extensions }: JsonObject): JsonObject | undefined => {
  const packed = isJsonObject(extensions) ? extensions[DRACO] : undefined;
  return isJsonObject(packed) ? packed : undefined;
};

/** A path as it is stored: its vertices one after the other. */
export const isPath = ({ mode, own }: Given): boolean =>
  mode === LINE_STRIP && own.indices === undefined && packedOf(own) === undefined;

export interface Primitive extends Given {
  readonly positions: Accessor;
  readonly indices: Accessor | undefined;
  /** By what they are called in the document. */
  readonly attributes: readonly (readonly [semantic: string, rows: Accessor])[];
  /** Of faces or lines. */
  readonly links: number;
}

/** What streams of Draco decode to: the last one that was asked for, or all of them. */
export class DracoStreams {
  readonly #draco: Draco;
  readonly #room: { readonly bytes: number; readonly refusal: Unsupported } | undefined;
  readonly #kept = new Map<Json | undefined, DracoGeometry<Float32Array>>();

  /** `room`: where not all may be held, the bytes that one may take, and what is said of one that takes more. */
  constructor(draco: Draco, room: { readonly bytes: number; readonly refusal: Unsupported } | undefined) {
    this.#draco = draco;
    this.#room = room;
  }

  async decoded(gltf: Gltf, index: Json | undefined): Promise<DracoGeometry<Float32Array>> {
    let own = this.#kept.get(index);
    if (own !== undefined) return own;
    const room = this.#room;
    const { size, read } = gltf.view(index);
    if (room !== undefined && size > room.bytes) throw room.refusal;
    if (room !== undefined) this.#kept.clear();
    const { limits, where } = gltf;
    const most = Math.min(limits.chunkBytes, room?.bytes ?? limits.chunkBytes);
    try {
      own = this.#draco.decode(await read(0, size), { ...limits, chunkBytes: most }, where);
    } catch (error) {
      throw error instanceof LimitExceeded && most < limits.chunkBytes ? room!.refusal : error;
    }
    this.#kept.set(index, own);
    return own;
  }
}

/** Everything that must be right before numbers are read. */
export async function primitiveOf(given: Given, gltf: Gltf, streams: DracoStreams | undefined): Promise<Primitive> {
  const { where } = gltf;
  const { own, mode } = given;
  const packed = packedOf(own);
  if (packed !== undefined && streams === undefined)
    throw new Corrupt(`${where} is packed with Draco, and does not say so in extensionsUsed`, { where });
  const { indices, read } =
    packed === undefined || streams === undefined ? await plain(gltf, own) : await unpacked(gltf, packed, streams);
  const attributes = isJsonObject(own.attributes) ? own.attributes : {};
  const positions = await read("POSITION", attributes.POSITION);
  const { channels, count } = positions;
  if (channels !== 3) throw new Corrupt(`${where} has positions of ${channels} numbers`, { where });
  const others: [string, Accessor][] = [];
  for (const [name, index] of Object.entries(attributes)) {
    if (name === "POSITION" || /^(JOINTS|WEIGHTS|TANGENT)/.test(name)) continue;
    const rows = await read(name, index);
    if (rows.count !== count)
      throw new Corrupt(`${where}: ${name} has ${rows.count} rows, and there are ${count} positions`, { where });
    others.push([name, rows]);
  }
  return { ...given, positions, indices, attributes: others, links: linkCount(mode, indices?.count ?? count) };
}

interface Source {
  read(name: string, index: Json | undefined): Promise<Accessor>;
  readonly indices: Accessor | undefined;
}

async function plain(gltf: Gltf, { indices }: JsonObject): Promise<Source> {
  return {
    indices: indices === undefined ? undefined : await gltf.accessor(indices),
    read: (_, index) => gltf.accessor(index),
  };
}

async function unpacked(gltf: Gltf, packed: JsonObject, streams: DracoStreams): Promise<Source> {
  const { where } = gltf;
  const decoded = () => streams.decoded(gltf, packed.bufferView);
  const { points, components, faces, attributes, positions } = await decoded();
  const numbers = isJsonObject(packed.attributes) ? packed.attributes : {};
  type Take = (from: DracoGeometry<Float32Array>) => Values;
  const rows = (values: Values, channels: number, count: number, take: Take): Accessor => ({
    channels,
    count,
    Type: values.constructor as ValuesOf,
    normalized: false,
    read: async (from, to) => take(await decoded()).slice(from * channels, to * channels),
  });
  return {
    indices: faces && rows(faces, 1, faces.length, (own) => own.faces!),
    async read(name) {
      if (name === "POSITION") return rows(positions, components, points, (own) => own.positions);
      const found = attributes.findIndex(({ id }) => id === numbers[name]);
      if (found < 0) throw new Corrupt(`${where} has no ${name} in its Draco stream`, { where });
      const { values, components: channels } = attributes[found]!;
      return rows(values, channels, points, (own) => own.attributes[found]!.values);
    },
  };
}

/** How many links so many corners make. */
function linkCount(mode: number, corners: number): number {
  if (mode === TRIANGLES) return Math.floor(corners / 3);
  if (mode === STRIP || mode === FAN) return Math.max(0, corners - 2);
  if (mode === LINES) return Math.floor(corners / 2);
  if (mode === LOOP) return corners > 1 ? corners : 0;
  return mode === LINE_STRIP ? Math.max(0, corners - 1) : 0;
}

/** The corners of a link of strips, fans and loops, by their places. */
function cornersOf(mode: number, link: number, corners: number): readonly number[] {
  if (mode === STRIP) return [link + (link % 2), link + 1 - (link % 2), link + 2]; // every second one is turned
  if (mode === FAN) return [0, link + 1, link + 2];
  return [link, (link + 1) % corners];
}

/** Links from one up to another, between the vertices of the primitive. */
export async function linksOf(primitive: Primitive, from: number, to: number, where: string): Promise<Uint32Array> {
  const { mode, positions } = primitive;
  const ends =
    mode === TRIANGLES || mode === LINES ? await apart(primitive, from, to) : await joint(primitive, from, to);
  for (const end of ends)
    if (end >= positions.count)
      throw new Corrupt(`${where} has a face that points to vertex ${end}, counted from 0, of ${positions.count}`, {
        where,
      });
  return ends;
}

/** Of links that share no corners. */
async function apart({ mode, indices }: Primitive, from: number, to: number): Promise<Uint32Array> {
  const width = mode === LINES ? 2 : 3;
  if (indices === undefined) return Uint32Array.from({ length: width * (to - from) }, (_, i) => width * from + i);
  return Uint32Array.from(await indices.read(width * from, width * to));
}

/** Of links each of which goes on from the one before; all of a fan, and the last of a loop, are at the first corner. */
async function joint({ mode, indices, positions }: Primitive, from: number, to: number): Promise<Uint32Array> {
  const corners = indices?.count ?? positions.count;
  const width = kindOf(mode) === "mesh" ? 3 : 2;
  const ends = new Uint32Array(width * (to - from));
  for (let link = from; link < to; link++) ends.set(cornersOf(mode, link, corners), width * (link - from));
  if (indices === undefined || ends.length === 0) return ends;
  const own = await indices.read(from, Math.min(corners, to + 2));
  const [first] = await indices.read(0, 1);
  return ends.map((place) => (place < from ? first! : own[place - from]!));
}
