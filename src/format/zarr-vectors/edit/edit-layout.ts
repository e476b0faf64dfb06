/**
 * Other layouts of the same data: shards, and chunks of another size. Both write everything anew within one transaction; shards
 * hold one array at a time in memory, chunks what the streaming writer holds.
 */
import { type Json, type JsonObject, parseJson } from "../../../bytes/json.js";
import type { CodecSpec } from "../../../codec/types.js";
import { InvalidInput, Unsupported } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import { Key, Prefix } from "../../../store/key.js";
import { type Committed, Transaction } from "../../../store/transaction.js";
import { LOGS } from "../../../store/transaction-log.js";
import type { Store } from "../../../store/types.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import { datasetOf } from "../read/dataset.js";
import { membersOf, readGroups } from "../read/read-groups.js";
import { createZarrVectors, type VectorWriter } from "../write/write.js";
import type { EditOptions } from "./edit.js";
import { cellArrays } from "./edit-grid.js";
import { editLevel } from "./edit-level.js";
import { planFor } from "./edit-put.js";
import { openTree, type Tree } from "./edit-tree.js";

/** Shards of this shape in cells for every per-chunk array, or none. */
export async function reshard(tree: Tree, shape: readonly number[] | undefined): Promise<void> {
  const dims = tree.opened.root.axes.length;
  if (shape !== undefined && (shape.length !== dims || !shape.every((n) => Number.isInteger(n) && n >= 1)))
    throw new InvalidInput(`a shard should have ${dims} whole numbers of cells, found [${shape}]`);
  for (const number of tree.opened.levels) {
    const { path } = await tree.opened.level(number, tree.options);
    for (const array of await cellArrays(tree, path)) {
      const cells = (await tree.cells(path, array))!;
      const lead = cells.meta.shape.length - dims;
      await cells.regrid(cells.grid, shape && [...new Array<number>(lead).fill(1), ...shape]);
    }
  }
}

/** Chunks of another size. Only the finest level can be cut anew: coarser ones are made from it. */
export function rechunk(
  store: Store,
  at: Prefix,
  chunkShape: readonly number[] | number,
  options: EditOptions = {},
): Promise<Committed> {
  return Transaction.run(
    store,
    at,
    async (view) => {
      // Read from below the transaction, where nothing moves until it is committed; who else commits meanwhile is met at that commit.
      const tree = await openTree(store, at, options);
      const { opened } = tree;
      const { root, url } = opened;
      const level = await editLevel(tree, opened.levels[0]!);
      const plan = await planFor(level);
      const dataset = await datasetOf(opened, options);
      const schema = await dataset.schema(level.meta.level, options);
      const refuse = (why: string): Unsupported =>
        new Unsupported(`${url} cannot be cut into other chunks: ${why}`, { where: url });
      if (opened.levels.length > 1) throw refuse(`it has ${opened.levels.length} levels, and only the finest can be`);
      if (schema.fragment.some(({ name }) => name !== "object_id"))
        throw refuse("its fragments have attributes, and would become others");
      if (root.coordinateOffset !== undefined) throw refuse("its coordinates are relative to an offset");
      const [document, vertices] = await Promise.all([
        documentOf(view, at, options),
        tree.cells(level.meta.path, "vertices"),
      ]);
      const { codecs, shard } = innerOf(vertices!.meta.codecs, vertices!.meta.chunkShape);
      const size = typeof chunkShape === "number" ? root.axes.map(() => chunkShape) : chunkShape;
      const bins = level.meta.binShape.every((bin, axis) => Number.isInteger(size[axis]! / bin))
        ? level.meta.binShape
        : undefined;
      const writer = await createZarrVectors(
        view,
        at,
        {
          geometry: plan.geometry,
          axes: root.axes,
          crs: root.crs,
          dtype: level.dtype,
          chunkShape: size,
          ...(bins === undefined || `${bins}` === `${level.meta.chunkShape}` ? {} : { binShape: bins }),
          bounds: root.bounds,
          attributes: { vertex: schema.vertex, link: schema.link, object: schema.object },
          objects: level.objects !== undefined,
          ...(plan.kind.width > 0
            ? {
                links: {
                  width: plan.linkWidth,
                  directed: plan.directed,
                  store: plan.duplicate ? "duplicate" : "canonical",
                },
              }
            : {}),
          codecs,
          sharding: shard ?? "none",
          userMetadata: root.userMetadata,
          headers: Object.fromEntries(await opened.headers(options)),
          sharedFragments: level.meta.sharedFragments && plan.kind.width === 0,
        },
        { ...options, overwrite: true, scratch: { store, at: Prefix.join(at, LOGS) } },
      );
      const all = dataset.select({ level: level.meta.level });
      if (plan.kind.width > 0) await writer.add(await all.read(options));
      else for await (const batch of all.batches(options)) await writer.add(batch);
      const present = await dataset.objectIds(level.meta.level, options);
      await addEmpty(writer, level.objects?.ids ?? new BigInt64Array(), present, schema.vertex);
      const groups = await readGroups(await opened.nodes(level.meta.level, options), options);
      if (groups !== undefined)
        writer.groups(
          Array.from({ length: groups.count }, (_, g) => groups.ranges.get(g) ?? membersOf(groups, g)!),
          await dataset.groupColumns(level.meta.level, options),
        );
      await writer.commit();
      await keepRest(view, at, document, options);
    },
    options,
  ).then(({ result: _, ...committed }) => committed);
}

/** Objects without vertices keep their ids, which are not given again. */
async function addEmpty(
  writer: VectorWriter,
  ids: BigInt64Array,
  present: Iterable<bigint>,
  vertex: readonly AttributeInfo[],
): Promise<void> {
  const known = new Set(present);
  const empty = ids.filter((id) => !known.has(id));
  if (empty.length === 0) return;
  const none = vertex.map((info) => [info.name, AttributeCell.parse(new Uint8Array(), info, 0, info.name)] as const);
  const nothing = { positions: new Float32Array(), parts: Uint32Array.of(0), objects: new Int32Array() };
  await writer.add({ ...nothing, ids: empty, vertexColumns: new Map(none) });
}

/** The codecs after vlen-bytes, and the shape of shards. */
function innerOf(
  codecs: readonly CodecSpec[],
  shape: readonly number[],
): { codecs: CodecSpec[]; shard: readonly number[] | undefined } {
  const [outer] = codecs;
  const sharded = outer?.name === "sharding_indexed";
  const inner = sharded ? (outer.configuration.codecs as unknown as CodecSpec[]) : codecs;
  return {
    codecs: inner.slice(1).map(({ name, configuration = {} }) => ({ name, configuration })),
    shard: sharded ? shape : undefined,
  };
}

async function documentOf(store: Store, at: Prefix, options: EditOptions): Promise<JsonObject> {
  const bytes = (await store.get(Key.join(at, "zarr.json"), { signal: options.signal }))!;
  return parseJson(bytes, withLimits(options.limits), "zarr.json", { tokens: true }) as JsonObject;
}

/** What the root said beside the layout is said again. */
async function keepRest(store: Store, at: Prefix, before: JsonObject, options: EditOptions): Promise<void> {
  const tree = await openTree(store, at, options);
  const root = (await tree.group(""))!;
  const old = before.attributes as JsonObject;
  root.attributes = { ...old, ...root.attributes, ...(old.ome === undefined ? {} : { ome: old.ome as Json }) };
  await tree.flush();
}
