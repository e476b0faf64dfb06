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

/**
 * Groups as one text names them: by number or name, with commas between. A name with a comma, or of digits alone, is in quotes, which
 * are doubled inside: `3,basket,"left, upper","7"`.
 */
export function parseGroups(given: string): (number | string)[] {
  const found: (number | string)[] = [];
  if (given.trim() === "") return found;
  const item = /\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^",][^,]*|))(,|$)/y;
  for (;;) {
    const [, quoted, plain = "", end] = item.exec(given) ?? [];
    if (end === undefined)
      throw new InvalidInput(`expected groups by number or name, with commas between, found ${JSON.stringify(given)}`, {
        hint: 'A name with a comma or quotes is in quotes, which are doubled inside: "left, upper".',
      });
    const name = plain.trim();
    found.push(quoted !== undefined ? quoted.replaceAll('""', '"') : /^\d{1,15}$/.test(name) ? Number(name) : name);
    if (end === "") return found;
  }
}

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
