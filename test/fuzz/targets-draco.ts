/**
 * Draco, whose decoder is somebody else's: every method and kind of attribute, with and without dequantizing. What it accepts
 * is decoded once more in a second instance, whose memory has seen less: what an earlier stream left there must not pass for
 * content.
 */
import { isDeepStrictEqual } from "node:util";
import { type Draco, type DracoGeometry, dracoWith, loadDraco } from "../../src/codec/draco.js";
import { binary as decoder } from "../../src/codec/draco-decoder-wasm.js";
import { type DracoInput, loadDracoEncoder } from "../../src/codec/draco-encode.js";
import { binary as encoder } from "../../src/codec/draco-encoder-wasm.js";
import { type DracoInstance, dracoHost } from "../../src/codec/draco-host.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import type { Target } from "./driver.js";
import { random } from "./mutate.js";

const cap = 1 << 20;
const limits: Limits = { ...defaultLimits, chunkBytes: cap };

async function seeds(): Promise<Uint8Array[]> {
  const { encode } = await loadDracoEncoder();
  const dice = random(3);
  const cloud = Float32Array.from({ length: 90 }, () => dice.below(1000) / 7);
  const sheet = grid(7);
  const inputs: DracoInput[] = [
    { positions: cloud },
    sheet,
    { positions: Int32Array.from(sheet.positions, (value) => Math.round(8 * value)), faces: sheet.faces },
    { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), faces: Uint32Array.of(0, 1, 2) },
  ];
  const plain = inputs.flatMap((input) => [encode(input), encode(input, { keepOrder: false, quantizationBits: 9 })]);
  const host = await dracoHost(encoder);
  const rich = [0, 1].map((method) =>
    host.run(
      1 << 26,
      "a seed",
      () => new Error("no seed"),
      (draco) => dressed(draco, grid(4), method),
    ),
  );
  return [...plain, ...rich];
}

function grid(side: number): { positions: Float32Array; faces: Uint32Array } {
  const positions = new Float32Array(3 * side * side);
  const faces: number[] = [];
  for (let i = 0; i < side * side; i++) {
    const [x, y] = [i % side, Math.floor(i / side)];
    positions.set([x, y, Math.sin(x * y)], 3 * i);
    if (x + 1 < side && y + 1 < side) faces.push(i, i + 1, i + side, i + 1, i + side + 1, i + side);
  }
  return { positions, faces: Uint32Array.from(faces) };
}

/** A mesh that has everything: normals, texture coordinates, colours, numbers and metadata. */
function dressed(
  { call, make, put, bytes }: DracoInstance,
  { positions, faces }: ReturnType<typeof grid>,
  method: number,
) {
  const points = positions.length / 3;
  const [mesh, builder, encoder] = [make("Mesh"), make("MeshBuilder"), make("Encoder")];
  const data = (values: Float32Array | Uint32Array) => put(new Uint8Array(values.buffer));
  const add = (kind: number, components: number, values: Float32Array | Uint32Array) => {
    const name = values instanceof Float32Array ? "AddFloatAttribute" : "AddUInt32Attribute";
    return call(`MeshBuilder_${name}_5`, builder, mesh, kind, points, components, data(values));
  };
  call("MeshBuilder_AddFacesToMesh_3", builder, mesh, faces.length / 3, data(faces));
  add(0, 3, positions);
  add(
    1,
    3,
    Float32Array.from(positions, (value) => Math.cos(value)),
  );
  add(3, 2, positions.slice(0, 2 * points));
  add(
    2,
    4,
    Uint32Array.from({ length: 4 * points }, (_, i) => i % 256),
  );
  const numbered = add(
    4,
    1,
    Uint32Array.from({ length: points }, (_, i) => i * i),
  );
  const [metadata, writer] = [make("Metadata"), make("MetadataBuilder")];
  call("MetadataBuilder_AddIntEntry_3", writer, metadata, put(new TextEncoder().encode("n\0")), 7);
  call("MeshBuilder_SetMetadataForAttribute_3", builder, mesh, numbered, metadata);
  for (const kind of [0, 1, 3]) call("Encoder_SetAttributeQuantization_2", encoder, kind, 10);
  call("Encoder_SetSpeedOptions_2", encoder, 0, 0); // every prediction that there is
  call("Encoder_SetEncodingMethod_1", encoder, method);
  const output = make("DracoInt8Array");
  const size = call("Encoder_EncodeMeshToDracoBuffer_2", encoder, mesh, output);
  const start = new DataView(bytes().buffer).getUint32(output, true);
  return bytes().slice(start, start + size);
}

export const dracoTargets: readonly Target[] = [
  {
    name: "draco",
    cap,
    load: async () => {
      const draco = await loadDraco();
      const second = dracoWith(await dracoHost(decoder));
      const decode = (some: Draco, bytes: Uint8Array): DracoGeometry<Float32Array | Int32Array> =>
        (bytes.length & 1 ? some.decode : some.decodeQuantized)(bytes, limits, "fuzz");
      const run = (bytes: Uint8Array): void => {
        const geometry = decode(draco, bytes);
        if (!isDeepStrictEqual(decode(second, bytes), geometry))
          throw new Error("a second instance decodes something else");
      };
      return { seeds: await seeds(), run };
    },
  },
];
