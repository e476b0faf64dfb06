/**
 * Draco: points and triangles, small. Positions are usually quantized to a grid of 2^bits steps per axis; the order of points
 * is the encoder's, which may have changed it. Google's decoder does the work (draco-host.ts), loaded when first needed.
 *
 * Before it runs, the header's counts are compared with the limits; while it runs, its memory is bounded; after it, what it
 * says is checked once more: sizes, that faces refer to points that exist, and that every point has values at all.
 */
import { Corrupt, LimitExceeded } from "../errors.js";
import { decodedCap, type Limits } from "../limits.js";
import { parseDracoHeader } from "./draco-header.js";
import { type DracoHost, type DracoInstance, dracoHost } from "./draco-host.js";
import {
  attributesOf,
  checkMapping,
  type Decoded,
  type DracoArray,
  type DracoAttribute,
  type DracoQuantization,
  POSITION,
  quantizationOf,
  readFaces,
  readFloats,
  readIntegers,
  readStored,
  type StoredAttribute,
} from "./draco-read.js";

export type { DracoArray, DracoAttribute, DracoQuantization } from "./draco-read.js";

export interface Draco {
  /** Positions as they are meant. Integers are given where float32 holds them exactly, else they are Unsupported. */
  decode(bytes: Uint8Array, limits: Limits, where: string): DracoGeometry<Float32Array>;
  /** Positions as the integers that are stored, on the grid that `quantization` describes where the stream does. */
  decodeQuantized(bytes: Uint8Array, limits: Limits, where: string): DracoGeometry<Int32Array>;
}

export interface DracoGeometry<Positions> {
  readonly points: number;
  /** Of one position: 3, or what the stream says. */
  readonly components: number;
  /** `points` × `components`. */
  readonly positions: Positions;
  /** position = origin + stored · range / (2^bits − 1); only from `decodeQuantized`. */
  readonly quantization: DracoQuantization | undefined;
  /** Three points each; undefined in a point cloud. */
  readonly faces: Uint32Array | undefined;
  /** Everything else that points have. */
  readonly attributes: readonly DracoAttribute[];
}

let loaded: Promise<Draco> | undefined;

export function loadDraco(): Promise<Draco> {
  loaded ??= import("./draco-decoder-wasm.js").then(({ binary }) => dracoHost(binary)).then(dracoWith);
  return loaded;
}

export const dracoWith = (host: DracoHost): Draco => ({
  decode: (bytes, limits, where) => decode(host, bytes, limits, where, readFloats),
  decodeQuantized: (bytes, limits, where) =>
    decode(host, bytes, limits, where, readIntegers, (draco, decoder) => {
      draco.call("Decoder_SkipAttributeTransform_1", decoder, POSITION);
    }),
});

/** Bytes that Draco needs while it works, over those that it gives: 3 were measured for meshes, less for points. */
const WORKING = 8;

function decode<Positions extends DracoArray>(
  host: DracoHost,
  bytes: Uint8Array,
  limits: Limits,
  where: string,
  readPositions: (decoded: Decoded, attribute: StoredAttribute) => Positions,
  prepare?: (draco: DracoInstance, decoder: number) => void,
): DracoGeometry<Positions> {
  const header = parseDracoHeader(bytes, where);
  const what = `the Draco stream of ${where}`;
  const cap = decodedCap(bytes.length, limits);
  const within = (size: number): void => {
    if (size > cap)
      throw new LimitExceeded(`${what} should decode to at most ${cap} bytes, found at least ${size}`, { where });
  };
  within(12 * (header.points + header.faces));

  const failure = (cause: unknown) => new Corrupt(`${what} is damaged: Draco gave up on it`, { where, cause });
  return host.run(bytes.length + WORKING * cap, what, failure, (draco) => {
    const { call, make } = draco;
    const mesh = header.kind === "mesh";
    const decoder = make("Decoder");
    prepare?.(draco, decoder);
    const cloud = make(mesh ? "Mesh" : "PointCloud");
    const run = mesh ? "Decoder_DecodeArrayToMesh_3" : "Decoder_DecodeArrayToPointCloud_3";
    const status = call(run, decoder, draco.put(bytes), bytes.length, cloud);
    if (call("Status_ok_0", status) === 0)
      throw new Corrupt(`${what} is damaged: ${textAt(draco, call("Status_error_msg_0", status))}`, { where });

    const points = call("PointCloud_num_points_0", cloud) >>> 0;
    const decoded: Decoded = { draco, decoder, cloud, points, what, where };
    const stored = attributesOf(decoded);
    const faceCount = mesh ? call("Mesh_num_faces_0", cloud) >>> 0 : 0;
    within(stored.reduce((sum, { components }) => sum + 4 * points * components, 12 * faceCount));
    const faces = mesh ? readFaces(decoded, faceCount) : undefined;
    checkMapping(header, decoded, stored, faces);

    const first = stored.find(({ kind }) => kind === "position");
    if (first === undefined) throw new Corrupt(`${what} should hold positions, found none`, { where });
    return {
      points,
      components: first.components,
      positions: readPositions(decoded, first),
      quantization: prepare && quantizationOf(decoded, first),
      faces,
      attributes: stored
        .filter((each) => each !== first)
        .map((each) => ({
          kind: each.kind,
          id: each.id,
          components: each.components,
          values: readStored(decoded, each),
        })),
    };
  });
}

function textAt(draco: DracoInstance, at: number): string {
  const bytes = draco.bytes();
  const end = bytes.indexOf(0, at);
  return new TextDecoder().decode(bytes.subarray(at, end));
}
