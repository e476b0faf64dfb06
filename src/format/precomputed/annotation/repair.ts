/**
 * Repair of annotations. What the Python writer of Neuroglancer up to 2.41.2 misplaces (layout.ts) is read as it was meant and
 * written as it should be, under the same names; and the info gets the form that all software reads: the type in upper case,
 * properties in the order of their bytes, no sharding that is null. All of it together, so that nobody who reads with Octavo
 * meets a mixture.
 */
import type { JsonObject } from "../../../bytes/json.js";
import type { Finding, FormatOptions, RepairOptions, RepairReport } from "../../../model/format.js";
import { memoryStore } from "../../../store/memory.js";
import { folderOf, type InfoAt, withoutNullSharding, writeInfo } from "../info.js";
import { together } from "../together.js";
import { editValues, openValues, type ValueNames } from "../values.js";
import { AnnotationInfo, type ValuesAt } from "./info.js";
import { Layout } from "./layout.js";
import { encodeList, encodeOne, encodeRecords, parseList, parseOne, type RecordForm } from "./list.js";
import { annotationsAt } from "./read.js";
import { validateAnnotations } from "./validate.js";

export async function repairAnnotations(place: InfoAt, options: RepairOptions = {}): Promise<RepairReport> {
  const { store, at, where } = place;
  const before = await look(place, options);
  const fixed = before.filter(({ fix }) => fix !== undefined);
  if (options.dryRun || fixed.length === 0) return { fixed, left: before.filter(({ fix }) => fix === undefined) };
  const info = portable(place.info, where);
  await together(store, at, options, async (view) => {
    const here = { ...place, store: view };
    const collection = await annotationsAt(here, options);
    if (collection.flawed) {
      const sound = { info: collection.info, layout: Layout.of(collection.info.properties) };
      await rewrite(here, collection.form, sound, options);
    }
    await writeInfo(view, at, info, options.signal);
  });
  return { fixed, left: await look({ ...place, info }, options) };
}

async function look(place: InfoAt, options: FormatOptions): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const one of validateAnnotations(place, { signal: options.signal, limits: options.limits }))
    found.push(one);
  return found;
}

/** The same info, as all software reads it. */
export function portable(document: JsonObject, where: string): JsonObject {
  const { type, properties } = AnnotationInfo.parse(document, where);
  const listed = document.properties as readonly JsonObject[] | undefined;
  const order = Layout.sorted(properties).map((own) => listed![properties.indexOf(own)]!);
  return {
    ...withoutNullSharding(document),
    annotation_type: type.toUpperCase(),
    ...(listed && { properties: order }),
  };
}

/** Every value of every index, from one layout to the other. */
async function rewrite(place: InfoAt, from: RecordForm, to: RecordForm, options: FormatOptions): Promise<void> {
  const { store, at, where } = place;
  const info = AnnotationInfo.parse(place.info, where);
  const { levels } = await annotationsAt(place, options);
  const list = (bytes: Uint8Array): Uint8Array => {
    const found = parseList(bytes, from, where);
    return encodeList(
      encodeRecords(found, to),
      found.ids,
      Uint32Array.from(found.ids, (_, i) => i),
    );
  };
  const change = async (own: ValuesAt, edit: (bytes: Uint8Array, id: bigint) => Uint8Array, names?: ValueNames) => {
    const folder = folderOf(at, own.key, where);
    const opening = { ...options, names, transaction: false, scratch: { store: memoryStore() } };
    const values = await openValues(store, folder, own.sharding, opening);
    const editor = await editValues(store, folder, own.sharding, opening);
    for await (const { ids, values: some } of values.entries(options))
      for (const [i, id] of ids.entries()) await editor.put(id, edit(some[i]!, id));
    await editor.commit();
  };
  await change(info.byId, (bytes, id) => {
    const one = parseOne(bytes, id, from, where);
    const related = info.relationships.map(({ id: name }) => one.related!.get(name)!.ids);
    return encodeOne(encodeRecords(one, to), 0, related);
  });
  for (const own of info.relationships) await change(own, list);
  for (const own of levels) await change(own, list, own.names);
}
