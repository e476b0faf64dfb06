/** Which column of a table is what: as the caller says, else by what columns are usually called. */
import type { DataType } from "../../bytes/dtype.js";
import { InvalidInput } from "../../errors.js";
import { dtypeNamed } from "./table-types.js";
import type { TableOptions } from "./types.js";

export interface NamedColumn {
  readonly name: string;
  /** Numbers in each row: more than one of columns of lists; 0 where these have different lengths, which only relationships may have. */
  readonly channels: number;
}

export interface Roles {
  /** The columns of coordinates: of points once, of lines for both ends. */
  readonly ends: readonly (readonly string[])[];
  readonly axes: readonly string[];
  /** `asked`: by the caller, and so it must be one. */
  readonly id: { readonly name: string; readonly asked: boolean } | undefined;
  readonly relationships: readonly { readonly name: string; readonly column: string }[];
  readonly attributes: readonly { readonly name: string; readonly dtype: DataType | undefined }[];
  /** Columns that nobody wants. */
  readonly left: readonly string[];
  /** Every column that is read. */
  readonly names: readonly string[];
}

const AXES = ["x", "y", "z"];
const POINTS = ["", "position_", "pos_", "pt_", "pt_position_", "ctr_pt_position_", "centroid_"];
const LISTS = ["position", "positions", "points", "vertices", "pt_position", "ctr_pt_position", "coordinates", "xyz"];
/** Pairs of what stands around the name of an axis: "start_x" and "end_x", "x0" and "x1". */
const LINES = [
  ["start_*", "end_*"],
  ["*0", "*1"],
  ["*1", "*2"],
  ["pre_*", "post_*"],
  ["pre_pt_position_*", "post_pt_position_*"],
] as const;
const LIST_LINES = [
  ["start", "end"],
  ["pre_pt_position", "post_pt_position"],
] as const;

/** What is said of a column of lists that is mapped to anything else, or to nothing. */
export const RAGGED = "lists of different lengths, which only a relationship can hold";
/** How a sentence about a column begins that cannot be read. */
export const leftOut = (name: string): string => `the column ${name} is left out: `;

/** `left` are sentences about columns that cannot be read. */
export function rolesOf(
  columns: readonly NamedColumn[],
  given: TableOptions,
  where: string,
  left: readonly string[] = [],
): Roles {
  const known = new Map(columns.map((column) => [column.name, column]));
  const byLower = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  const list = columns.map(({ name }) => name).join(", ");
  const named = (name: string, lists = false): NamedColumn => {
    const column = known.get(name);
    if (column?.channels === 0 && !lists)
      throw new InvalidInput(`${where}: the column ${name} has ${RAGGED}`, {
        where,
        hint: `Ids of other objects: --relationship ${name}=${name}`,
      });
    if (column !== undefined) return column;
    const why = left.find((sentence) => sentence.startsWith(leftOut(name)));
    if (why !== undefined) throw new InvalidInput(`${where}: ${why}`, { where });
    throw new InvalidInput(`${where} has no column ${JSON.stringify(name)}; it has ${list || "none"}`, { where });
  };
  const axesAs = (form: string): string[] =>
    AXES.map((axis) => byLower.get(form.replace("*", axis))?.name).filter((name) => name !== undefined);
  const listAs = (name: string): string[] => {
    const column = byLower.get(name);
    return column !== undefined && column.channels > 1 ? [column.name] : [];
  };
  const firstOf = (tries: readonly (readonly string[])[][]): readonly (readonly string[])[] | undefined =>
    tries.find((ends) => ends.every((end) => widthOf(end, known) >= 2));

  const points = () =>
    firstOf([...POINTS.map((prefix) => [axesAs(`${prefix}*`)]), ...LISTS.map((name) => [listAs(name)])]);
  const lines = () =>
    firstOf([...LINES.map((pair) => pair.map(axesAs)), ...LIST_LINES.map((pair) => pair.map(listAs))]);
  const { kind, position, start, end } = given;
  if ((start === undefined) !== (end === undefined)) throw new InvalidInput("lines have a start and an end: name both");
  if (position !== undefined && (start !== undefined || kind === "line"))
    throw new InvalidInput("a row is a point with a position, or a line with a start and an end, not both");
  const ends =
    position !== undefined
      ? [position]
      : start !== undefined
        ? [start, end!]
        : kind === "line"
          ? lines()
          : kind === "point"
            ? points()
            : (points() ?? lines());
  if (ends === undefined)
    throw new InvalidInput(`${where} has no columns that look like coordinates; it has ${list || "none"}`, {
      where,
      hint: "Say which they are: --position x,y,z, or --start … and --end …",
    });
  for (const name of ends.flat()) named(name);
  const dims = widthOf(ends[0]!, known);
  if (dims < 1 || ends.some((own) => widthOf(own, known) !== dims))
    throw new InvalidInput(`start and end should have as many coordinates, found ${ends.map((own) => own.join(","))}`);

  const id = idOf(given, byLower, named);
  const relationships = Object.entries(given.relationships ?? {}).map(([name, column]) => {
    named(column, true);
    return { name, column };
  });
  const taken = new Set([...ends.flat(), ...(id?.asked ? [id.name] : []), ...relationships.map((own) => own.column)]);
  const rest = columns.filter(({ name, channels }) => channels > 0 && !taken.has(name)).map(({ name }) => name);
  const { properties } = given;
  const asked = properties?.map(({ name, dtype }) => ({
    name: named(name).name,
    dtype: dtype === undefined ? undefined : dtypeNamed(dtype),
  }));
  // A column that only looks like ids is an attribute, if it turns out to be none.
  const others = asked === undefined ? rest : id === undefined || id.asked ? [] : [id.name];
  const attributes = [
    ...(asked ?? []),
    ...others
      .filter((name) => asked?.every((own) => own.name !== name) !== false)
      .map((name) => ({ name, dtype: undefined })),
  ];
  const wanted = new Set(attributes.map(({ name }) => name));
  return {
    ends,
    axes: axisNames(ends[0]!, dims),
    id,
    relationships,
    attributes,
    left: rest.filter((name) => !wanted.has(name)),
    names: [...new Set([...taken, ...wanted])],
  };
}

const widthOf = (names: readonly string[], known: ReadonlyMap<string, NamedColumn>): number =>
  names.reduce((sum, name) => sum + (known.get(name)?.channels ?? 1), 0);

function idOf(
  { id }: TableOptions,
  byLower: ReadonlyMap<string, NamedColumn>,
  named: (name: string) => NamedColumn,
): Roles["id"] {
  if (id !== undefined) return { name: named(id).name, asked: true };
  const usual = byLower.get("id");
  return usual?.channels === 1 ? { name: usual.name, asked: false } : undefined;
}

/** Names of axes that columns have already stay; others are x, y, z. */
function axisNames(columns: readonly string[], dims: number): readonly string[] {
  const last = columns.map((name) => /(?:^|[^a-z])([a-z])\d?$/i.exec(name)?.[1]?.toLowerCase());
  if (columns.length === dims && new Set(last).size === dims && !last.includes(undefined)) return last as string[];
  return Array.from({ length: dims }, (_, axis) => AXES[axis] ?? `axis${axis}`);
}
