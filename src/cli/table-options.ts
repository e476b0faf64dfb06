/** Options of tables: which columns of a CSV, Parquet, Arrow or numpy file are what. */
import { InvalidInput } from "../errors.js";
import type { TableOptions } from "../format/interchange/types.js";
import { choice, list, sizes, text, type Values, value } from "./args.js";

const names = (given: string): readonly string[] => given.split(",").map((name) => name.trim());

/** Those whose names mean nothing else in any verb. */
export const columnOptions = {
  position: value("X,Y,Z", "of a table: the columns of coordinates, or one of lists (default: x, y, z)", names),
  start: value("X,Y,Z", "of a table of lines: the columns of their starts", names),
  end: value("X,Y,Z", "of a table of lines: the columns of their ends", names),
  id: text("COLUMN", "of a table: the column of ids, 64 bits exact (default: id)"),
  relationship: list("NAME=COLUMN", "of a table: ids of other objects, such as pre=pre_root_id", relationship),
  property: list("NAME[:TYPE]", "of a table: read these columns only, as this type", property),
  units: text("UNIT", "of a table: what coordinates count, such as nm; voxel: they are multiplied by --resolution"),
};

/** All of them. */
export const tableOptions = {
  kind: choice(["point", "line"] as const, "of a table: what its rows are (default: as its columns are called)"),
  ...columnOptions,
  resolution: value("X,Y,Z", "of a table in voxels: the size of one, in nm", sizes),
};

function relationship(given: string): readonly [string, string] {
  const [, name = "", column = ""] = /^([^=]+)=(.+)$/s.exec(given) ?? [];
  if (name === "")
    throw new InvalidInput(`expected NAME=COLUMN such as pre=pre_root_id, found ${JSON.stringify(given)}`);
  return [name, column];
}

function property(given: string): { readonly name: string; readonly dtype?: string } {
  const [, name = given, dtype] = /^(.+):(\w+)$/s.exec(given) ?? [];
  return { name, ...(dtype !== undefined && { dtype }) };
}

/** What may have been said of tables, among other things. */
export type TableGiven = Partial<Values<typeof columnOptions>> & {
  /** Of `--kind`, which has other words for other sources. */
  readonly kind?: string | undefined;
  readonly resolution?: number | readonly number[] | undefined;
};

/** What was said of tables; undefined where nothing was. */
export function tableOf({
  kind,
  position,
  start,
  end,
  id,
  relationship: pairs,
  property: properties,
  units,
  resolution,
}: TableGiven): TableOptions | undefined {
  const table: TableOptions = {
    ...((kind === "point" || kind === "line") && { kind }),
    ...(position !== undefined && { position }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(id !== undefined && { id }),
    ...(pairs !== undefined && pairs.length > 0 && { relationships: Object.fromEntries(pairs) }),
    ...(properties !== undefined && properties.length > 0 && { properties }),
    ...(units !== undefined && { units }),
    ...(units !== undefined && typeof resolution === "object" && { resolution }),
  };
  return Object.keys(table).length === 0 ? undefined : table;
}
