/**
 * Writing meshes, in several resolutions or in the older form. `info` comes last, so that whoever finds it finds the rest.
 *
 * A mesh of several resolutions is made when it is put: what is held is one mesh, not all. A mesh without faces is stored as
 * that, a mesh without geometry, which is something else than none.
 */
import { loadDracoEncoder } from "../../../codec/draco-encode.js";
import { Conflict, InvalidInput } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import { Affine } from "../../../space/transform.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { writeInfo } from "../info.js";
import type { Sharding } from "../sharded/types.js";
import { createValues, type ValueNames, type ValuesWritten, type WriteValuesOptions } from "../values.js";
import { type EncodedMesh, encodeMesh, type MeshChanges } from "./encode.js";
import { MeshInfo } from "./info.js";
import { LegacyFragment, LegacyManifest, legacyNames, type Mesh } from "./legacy.js";
import { multiNames } from "./read.js";
import { CELL_BITS } from "./zcurve.js";

interface AnyMeshDescription {
  /** 12 numbers, 3 rows of 4, from the coordinates that are given to nanometres; absent: they are that. */
  readonly transform?: readonly number[] | undefined;
  /** The folder of their properties, relative to this one. */
  readonly segmentProperties?: string | undefined;
}

/** Meshes of the older form: float32 as they are, in one level, a file for each; never sharded. */
export interface LegacyMeshDescription extends AnyMeshDescription {
  readonly kind: "legacy";
}

/** Meshes of several resolutions. */
export interface MultiMeshDescription extends AnyMeshDescription {
  readonly kind?: "multi" | undefined;
  /** Steps of a vertex within its cell: 2^10 or 2^16. 16 unless told; 10 takes about half of the bytes. */
  readonly quantizationBits?: 10 | 16 | undefined;
  /** Levels of detail, at most; unless told, until the coarsest has some ten thousand faces. */
  readonly levels?: number | undefined;
  /** x, y, z of a cell of the finest level, in the units given; unless told, so that a cell has some ten thousand faces. */
  readonly chunkShape?: readonly number[] | undefined;
  /** Above 1, Neuroglancer shows finer levels from further away. 1 unless told: an edge is then about a pixel. */
  readonly lodScaleMultiplier?: number | undefined;
  /** Absent or null: two files for each. `chooseSharding` finds a good one, of values that are compressed. */
  readonly sharding?: Sharding | null | undefined;
}

/** What the meshes are to be. */
export type MeshDescription = MultiMeshDescription | LegacyMeshDescription;

/** How to write them. */
export type MeshWriteOptions = Pick<WriteValuesOptions, "signal" | "limits" | "maxMemory" | "scratch" | "overwrite">;

/** What was written, and what of all meshes together is otherwise. */
export interface MeshesWritten extends ValuesWritten, MeshChanges {}

/** Meshes on their way into a store. */
export interface MeshWriter {
  /** Takes a mesh, in any order of ids; an id may come once. */
  put(id: bigint, mesh: Mesh): Promise<void>;
  /** Writes what was put, and then the info. */
  commit(): Promise<MeshesWritten>;
  /** Removes everything that was written. */
  abort(): Promise<void>;
}

/** Begins a folder of meshes; Conflict where something is. */
export async function createMeshes(
  store: Store,
  at: Prefix,
  description: MeshDescription = {},
  options: MeshWriteOptions = {},
): Promise<MeshWriter> {
  const { signal } = options;
  const form = description.kind === "legacy" ? legacyForm(description) : multiForm(description, options);
  const key = Key.join(at, "info");
  if (options.overwrite) await store.delete(key, { signal });
  else if ((await store.stat(key, { signal })) !== undefined)
    throw new Conflict(`${store.url}/${key} is there already`, { where: `${store.url}/${key}` });
  const values = await createValues(store, at, form.info.sharding, { ...options, names: form.names });
  let changes: MeshChanges = { collapsed: 0, cut: 0, unused: 0, moved: 0 };
  return {
    async put(id, mesh) {
      if (values.wants?.(id) === false) return;
      const encoded = await form.encode(id, mesh);
      await values.put(id, encoded.manifest, encoded.fragments);
      changes = {
        collapsed: changes.collapsed + encoded.collapsed,
        cut: changes.cut + encoded.cut,
        unused: changes.unused + encoded.unused,
        moved: Math.max(changes.moved, encoded.moved),
      };
    },
    async commit() {
      const written = await values.commit();
      await writeInfo(store, at, MeshInfo.format(form.info), signal);
      return { ...written, ...changes };
    },
    abort: () => values.abort(),
  };
}

/** What is the same of both forms: what the info says, what files are called, and how a mesh becomes bytes. */
interface Form {
  readonly info: Parameters<typeof MeshInfo.format>[0];
  readonly names: ValueNames;
  encode(id: bigint, mesh: Mesh): Promise<EncodedMesh>;
}

function legacyForm({ segmentProperties, ...description }: LegacyMeshDescription): Form {
  const transform = transformOf(description);
  const beforeOf = (id: bigint): string => `${id}:0:1`; // as cloud-volume calls it
  return {
    info: { kind: "legacy", sharding: null, segmentProperties },
    names: { ...legacyNames, beforeOf },
    async encode(id, { positions, faces }) {
      const placed = transform === undefined ? positions : Affine.applyAll(transform, positions);
      const mesh = { positions: placed, faces };
      checkMesh(id, mesh);
      const fragments = LegacyFragment.encode(mesh);
      let moved = 0;
      for (let i = 0; i < placed.length; i++) moved = Math.max(moved, Math.abs(Math.fround(placed[i]!) - placed[i]!));
      const manifest = LegacyManifest.encode([beforeOf(id)]);
      return { manifest, fragments, collapsed: 0, cut: 0, unused: 0, moved };
    },
  };
}

function multiForm(description: MultiMeshDescription, { limits }: MeshWriteOptions): Form {
  const { quantizationBits = 16, lodScaleMultiplier = 1, sharding = null, levels, chunkShape } = description;
  const transform = transformOf(description);
  if (quantizationBits !== 10 && quantizationBits !== 16)
    throw new InvalidInput(`vertices of meshes are stored with 10 or 16 bits, found ${quantizationBits}`);
  if (!(lodScaleMultiplier > 0 && lodScaleMultiplier < Number.POSITIVE_INFINITY))
    throw new InvalidInput(`lodScaleMultiplier should be above 0, found ${lodScaleMultiplier}`);
  if (levels !== undefined && !(Number.isInteger(levels) && levels >= 1 && levels <= CELL_BITS + 1))
    throw new InvalidInput(`meshes have 1 to ${CELL_BITS + 1} levels, found ${levels}`);
  if (chunkShape !== undefined && !(chunkShape.length === 3 && chunkShape.every((size) => Math.fround(size) > 0)))
    throw new InvalidInput(`chunkShape should be three numbers above 0, found [${chunkShape}]`);
  const { segmentProperties } = description;
  const form = { quantizationBits, transform, levels, chunkShape };
  const { chunkBytes } = withLimits(limits);
  return {
    info: { kind: "multi", quantizationBits, transform, lodScaleMultiplier, sharding, segmentProperties },
    names: multiNames,
    async encode(id, mesh) {
      checkMesh(id, mesh);
      return encodeMesh(mesh, form, await loadDracoEncoder(), chunkBytes);
    },
  };
}

function transformOf({ transform }: AnyMeshDescription): Affine | undefined {
  if (transform === undefined) return undefined;
  if (transform.length !== 12) throw new InvalidInput(`a transform has 12 numbers, found ${transform.length}`);
  const affine = Affine.of(transform);
  Affine.invert(affine); // one that flattens space leaves nothing to be seen
  return affine;
}

const LARGEST = 2 ** 127; // of float32, less a factor of two: differences can be stored as well

function checkMesh(id: bigint, { positions, faces }: Mesh): void {
  const count = positions.length / 3;
  if (!Number.isInteger(count) || faces.length % 3 !== 0)
    throw new InvalidInput(
      `mesh ${id} should have 3 numbers for each vertex and face, found ${positions.length} and ${faces.length}`,
    );
  for (let i = 0; i < positions.length; i++)
    if (!(Math.abs(positions[i]!) < LARGEST))
      throw new InvalidInput(
        `mesh ${id} should have coordinates that float32 can hold, found ${positions[i]} at vertex ${Math.floor(i / 3)}`,
      );
  for (let i = 0; i < faces.length; i++)
    if (faces[i]! >= count)
      throw new InvalidInput(
        `face ${Math.floor(i / 3)} of mesh ${id} should have vertices below ${count}, found ${faces[i]}`,
      );
}
