/** Everything that can be said against segment properties: what cannot be parsed, and what a browser would choke on. */
import type { Finding, ValidateOptions } from "../../../model/format.js";
import { Key } from "../../../store/key.js";
import type { InfoAt } from "../info.js";
import { failure, finding } from "../rules.js";
import { SegmentProperties } from "./properties.js";
import { LARGE, largeWarning } from "./write.js";

export async function* validateProperties(place: InfoAt, options: ValidateOptions = {}): AsyncGenerator<Finding> {
  const { store, at, info, where } = place;
  const { level = 5, signal } = options;
  let table: SegmentProperties;
  try {
    table = SegmentProperties.parse(info, where);
  } catch (error) {
    yield failure("info", where, error);
    return;
  }
  if (level >= 2) {
    const size = (await store.stat(Key.join(at, "info"), { signal }))?.size ?? 0;
    if (size > LARGE) yield finding("size", where, largeWarning(size));
    for (const own of table.properties)
      if (own.type === "tags" && own.tags.some((tag) => /\s|^#/.test(tag)))
        yield finding("undrawn", where, `tags of ${own.id} have spaces or begin with #, and cannot be searched for`);
  }
  if (level < 3) return;
  const repeated = table.ids.length - new Set(table.ids).size;
  if (repeated > 0) yield finding("properties-ids", where, `${repeated} ids have more than one row`);
}
