/** What the tour is about: a landscape, a bundle of nerve fibres, a neuron, the surface of its cell body, particles; all computed. */
import { createArray, writeRegion } from "../format/zarr/index.js";
import { createZarrVectors } from "../format/zarr-vectors/index.js";
import type { Column } from "../model/attributes.js";
import { ndarray } from "../model/elements.js";
import type { Axis } from "../model/vectors.js";
import { fileStore } from "../store/file.js";
import { Prefix } from "../store/key.js";

export const SIDE = 512;

/** Heights, as the first Zarr wrote them. */
export async function makeLandscape(at: string, signal: AbortSignal): Promise<void> {
  const heights = new Int16Array(SIDE * SIDE);
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      heights[y * SIDE + x] = 900 * Math.sin(x / 41) * Math.cos(y / 59) + 300 * Math.sin((x + 2 * y) / 17);
    }
  }
  const description = {
    version: 0,
    shape: [SIDE, SIDE],
    chunkShape: [64, 64],
    dtype: "int16",
    attributes: { unit: "m" },
  } as const;
  const array = await createArray(fileStore(at), Prefix.root, description, { signal });
  await writeRegion(array, undefined, ndarray([SIDE, SIDE], heights), { signal });
}

const axesIn = (unit: string): Axis[] => ["x", "y", "z"].map((name) => ({ name, type: "space", unit }));
const micrometres = axesIn("micrometer");
const float32 = { kind: "float", size: 4, endian: "little" } as const;

const column = (name: string, values: Float32Array, unit?: string): [string, Column] => [
  name,
  { info: { name, dtype: float32, channels: 1, unit }, values },
];

/** Fibres that fan out from a stem: streamlines with a value at each vertex and a length each. */
export async function makeTracts(at: string, count: number, signal: AbortSignal, unit = "millimeter"): Promise<void> {
  const [positions, fa, length, parts] = [[], [], [], [0]] as [number[], number[], number[], number[]];
  for (let fibre = 0; fibre < count; fibre++) {
    const angle = fibre * 2.4; // radians; no two fibres alike
    const spread = Math.sqrt((fibre + 0.5) / count);
    const steps = 12 + ((fibre * 7) % 30);
    for (let step = 0; step < steps; step++) {
      const t = step / 41;
      const bend = 8 + 42 * spread * t * t;
      positions.push(50 + bend * Math.cos(angle + t), 50 + bend * Math.sin(angle + t), 4 + 92 * t);
      fa.push(0.75 - 0.5 * spread * t);
    }
    parts.push(positions.length / 3);
    length.push(2.3 * steps);
  }
  const writer = await createZarrVectors(
    fileStore(at, { durability: "file" }),
    Prefix.root,
    { geometry: "streamlines", axes: axesIn(unit), chunkShape: 50 },
    { signal },
  );
  await writer.add({
    positions: Float32Array.from(positions),
    parts: Uint32Array.from(parts),
    objects: Int32Array.from(length, (_, fibre) => fibre),
    ids: BigInt64Array.from(length, (_, fibre) => BigInt(fibre)),
    vertexColumns: new Map([column("fa", Float32Array.from(fa))]),
    objectColumns: new Map([column("length", Float32Array.from(length), unit)]),
  });
  await writer.commit();
}

/** A neuron: a thick body and branches that fork, each vertex linked to its parent. */
export async function makeNeuron(at: string, signal: AbortSignal): Promise<void> {
  const [positions, radius, ends] = [[0, 0, 0], [6], []] as [number[], number[], number[]];
  const grow = (parent: number, depth: number, angle: number): void => {
    let from = parent;
    for (let step = 0; step < 6; step++) {
      const [x, y, z] = positions.slice(3 * from, 3 * from + 3) as [number, number, number];
      positions.push(x + 5 * Math.cos(angle), y + 5 * Math.sin(angle), z + 2 * Math.sin(3 * angle + step));
      radius.push(4 / (depth + 1 + step / 6));
      ends.push(radius.length - 1, from);
      from = radius.length - 1;
    }
    if (depth < 4) for (const turn of [-0.5, 0.4]) grow(from, depth + 1, angle + turn);
  };
  for (const angle of [0.3, 2.5, 4.4]) grow(0, 1, angle);
  const writer = await createZarrVectors(
    fileStore(at, { durability: "file" }),
    Prefix.root,
    { geometry: "skeletons", axes: micrometres, chunkShape: 50 },
    { signal },
  );
  await writer.add({
    positions: Float32Array.from(positions),
    ids: BigInt64Array.of(720n),
    links: { width: 2, ends: Uint32Array.from(ends), columns: new Map() },
    vertexColumns: new Map([column("radius", Float32Array.from(radius), "micrometer")]),
  });
  await writer.commit();
}

/** A bumpy ball of triangles. */
export async function makeSurface(at: string, signal: AbortSignal): Promise<void> {
  const [rings, around] = [24, 48];
  const [positions, ends] = [[], []] as [number[], number[]];
  for (let ring = 0; ring <= rings; ring++)
    for (let i = 0; i < around; i++) {
      const [polar, turn] = [(Math.PI * ring) / rings, (2 * Math.PI * i) / around];
      const r = 20 + 1.5 * Math.sin(5 * turn) * Math.sin(4 * polar);
      positions.push(r * Math.sin(polar) * Math.cos(turn), r * Math.sin(polar) * Math.sin(turn), r * Math.cos(polar));
      if (ring === rings) continue;
      const [a, b] = [ring * around + i, ring * around + ((i + 1) % around)];
      ends.push(a, b, a + around, b, b + around, a + around);
    }
  const writer = await createZarrVectors(
    fileStore(at, { durability: "file" }),
    Prefix.root,
    { geometry: "mesh", axes: micrometres, chunkShape: 20 },
    { signal },
  );
  await writer.add({
    positions: Float32Array.from(positions),
    ids: BigInt64Array.of(720n),
    links: { width: 3, ends: Uint32Array.from(ends), columns: new Map() },
  });
  await writer.commit();
}

/** Particles that swirl inwards, each with its speed: points that stand for themselves. */
export async function makeParticles(at: string, count: number, signal: AbortSignal): Promise<void> {
  const [positions, speed] = [new Float32Array(3 * count), new Float32Array(count)];
  for (let i = 0; i < count; i++) {
    const far = 60 * Math.sqrt((i + 0.5) / count);
    const turn = (i % 2) * Math.PI + far / 9 + 0.9 * Math.sin(i * 12.9898);
    positions.set([far * Math.cos(turn), far * Math.sin(turn), 5 * Math.sin(i * 78.233) - 40], 3 * i);
    speed[i] = 100 / Math.sqrt(far + 4);
  }
  const writer = await createZarrVectors(
    fileStore(at, { durability: "file" }),
    Prefix.root,
    { geometry: "points", axes: micrometres, chunkShape: 40 },
    { signal },
  );
  await writer.add({ positions, vertexColumns: new Map([column("speed", speed)]) });
  await writer.commit();
}
