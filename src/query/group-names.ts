/** Groups by what they are called: by their attribute `name`, which a group has alone or shares with another. */
import { InvalidInput, NotFound } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, ObjectSource } from "../model/source.js";

/** The numbers of groups; a number stands for itself. */
export async function groupNumbers(
  source: LevelSource,
  objects: ObjectSource,
  group: Iterable<number | string>,
  options: ReadOptions,
): Promise<readonly number[]> {
  const asked = [...group];
  if (asked.every((one) => typeof one === "number")) return asked;
  const names = await namesOf(source, objects, options);
  return asked.map((one) => {
    if (typeof one === "number") return one;
    const found = names.flatMap((name, number) => (name === one ? [number] : []));
    if (found.length === 1) return found[0]!;
    const called = `called ${JSON.stringify(one)}`;
    if (found.length > 1)
      throw new InvalidInput(
        `level ${source.level} has ${found.length} groups ${called}: say which by number, ${found.join(" or ")}`,
      );
    const known = names.filter((name) => name !== undefined).map((name) => JSON.stringify(name));
    const more = known.length > MOST ? ` and ${known.length - MOST} more` : "";
    throw new NotFound(
      `level ${source.level} has no group ${called}; ` +
        (known.length > 0 ? `there are ${known.slice(0, MOST).join(", ")}${more}` : "its groups have no names"),
    );
  });
}

const MOST = 10;

/** What each group is called; undefined where it has no name. */
async function namesOf(
  source: LevelSource,
  objects: ObjectSource,
  options: ReadOptions,
): Promise<readonly (string | undefined)[]> {
  if (!(await source.schema(options)).group.some(({ name }) => name === "name")) return [];
  const { count, columns } = await objects.groupColumns(["name"], options);
  const { info, values } = columns.get("name")!;
  return Array.from({ length: count }, (_, group) => {
    const value = values[group] as number | bigint | string;
    const name = info.categories === undefined ? value : info.categories[Number(value)];
    return name === undefined || value === info.absent ? undefined : `${name}`;
  });
}
