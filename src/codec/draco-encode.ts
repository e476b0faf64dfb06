/** Writing Draco: positions, and the triangles between them. Its code is another binary, which only writers load. */
import { InvalidInput, LimitExceeded } from "../errors.js";
import { type DracoHost, type DracoInstance, dracoHost } from "./draco-host.js";
import { bytesOf } from "./numeric.js";

export interface DracoEncoder {
  encode(geometry: DracoInput, options?: DracoEncodeOptions): Uint8Array;
}

export interface DracoInput {
  /** Three numbers per point. Floats are quantized, integers are stored as they are. */
  readonly positions: Float32Array | Int32Array | Uint32Array;
  /** Three points per face; without them it becomes a point cloud. */
  readonly faces?: Uint32Array | undefined;
}

export interface DracoEncodeOptions {
  /** 1 to 30 per axis of the longest side; 11, because that is what Draco and its users take. */
  readonly quantizationBits?: number | undefined;
  /**
   * On, because everything else that is known about points goes by their order. Off makes faces several times smaller: equal
   * points become one, those without a face are lost, and the rest are moved around.
   */
  readonly keepOrder?: boolean | undefined;
}

let loaded: Promise<DracoEncoder> | undefined;

export function loadDracoEncoder(): Promise<DracoEncoder> {
  loaded ??= import("./draco-encoder-wasm.js").then(({ binary }) => dracoHost(binary)).then(encoderWith);
  return loaded;
}

const POSITION = 0;
const SEQUENTIAL = 0;
const SPEED = 5; // of 10; Draco's own choice

const encoderWith = (host: DracoHost): DracoEncoder => ({
  encode({ positions, faces }, { quantizationBits = 11, keepOrder = true } = {}) {
    check(positions, faces, quantizationBits);
    const what = `a Draco stream of ${positions.length / 3} points and ${(faces?.length ?? 0) / 3} faces`;
    const failure = (cause: unknown) => new InvalidInput(`${what} cannot be made: Draco gave up on it`, { cause });
    return host.run(2 ** 31, what, failure, (draco) => {
      const { call, make, put } = draco;
      const kind = faces === undefined ? "PointCloud" : "Mesh";
      const cloud = make(kind);
      const builder = make(`${kind}Builder`);
      const add = `${kind}Builder_Add${typeOf(positions)}Attribute_5`;
      const attribute = call(add, builder, cloud, POSITION, positions.length / 3, 3, put(bytesOf(positions)));
      if (faces !== undefined)
        call("MeshBuilder_AddFacesToMesh_3", builder, cloud, faces.length / 3, put(bytesOf(faces)));
      const encoder = make("ExpertEncoder", cloud);
      call("ExpertEncoder_SetSpeedOptions_2", encoder, SPEED, SPEED);
      if (positions instanceof Float32Array)
        call("ExpertEncoder_SetAttributeQuantization_2", encoder, attribute, quantizationBits);
      if (keepOrder) call("ExpertEncoder_SetEncodingMethod_1", encoder, SEQUENTIAL);
      const output = make("DracoInt8Array");
      const size = call("ExpertEncoder_EncodeToDracoBuffer_2", encoder, keepOrder ? 0 : 1, output);
      if (size <= 0) throw failure("it wrote nothing");
      return contentOf(draco, output, size);
    });
  },
});

const typeOf = (positions: DracoInput["positions"]): string =>
  positions instanceof Float32Array ? "Float" : positions instanceof Int32Array ? "Int32" : "UInt32";

function check(positions: DracoInput["positions"], faces: Uint32Array | undefined, bits: number): void {
  const points = positions.length / 3;
  if (points === 0 || !Number.isInteger(points))
    throw new InvalidInput(`Draco positions should be three numbers per point, found ${positions.length} numbers`);
  if (!Number.isInteger(bits) || bits < 1 || bits > 30)
    throw new InvalidInput(`quantizationBits should be from 1 to 30, found ${bits}`);
  for (let i = 0; i < positions.length; i++) {
    if (!Number.isFinite(positions[i]!))
      throw new InvalidInput(`Draco positions should be finite, found ${positions[i]} at point ${Math.floor(i / 3)}`);
  }
  if (faces === undefined) return;
  if (faces.length === 0 || faces.length % 3 !== 0)
    throw new InvalidInput(`Draco faces should be three points each, found ${faces.length} numbers`);
  for (let i = 0; i < faces.length; i++) {
    if (faces[i]! >= points)
      throw new InvalidInput(`face ${Math.floor(i / 3)} should refer to one of ${points} points, found ${faces[i]}`);
  }
}

/** A DracoInt8Array is a std::vector, which begins with the addresses of its content and of its end. */
function contentOf(draco: DracoInstance, array: number, size: number): Uint8Array {
  const memory = draco.bytes();
  const view = new DataView(memory.buffer);
  const [start, end] = [view.getUint32(array, true), view.getUint32(array + 4, true)];
  if (end - start !== size) throw new LimitExceeded(`Draco wrote ${size} bytes, of which ${end - start} were found`);
  return memory.slice(start, end);
}
