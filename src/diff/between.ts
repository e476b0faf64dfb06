/**
 * Links between objects. The same links have the same words: whose vertices they join, where these are, and what they carry. What is left then is
 * matched once more where vertices may be apart or values are rounded, which words do not allow for.
 */
import type { Batch } from "../model/vectors.js";
import { pickRows } from "../query/columns.js";
import type { Comparing } from "./objects.js";
import { apart, type Vertices } from "./pairing.js";
import { comparer, rowText } from "./values.js";

export interface LinkBetween {
  readonly text: string;
  /** What it takes to match it once more. */
  readonly loose?: {
    /** The ids of its ends. */
    readonly whose: string;
    readonly ends: Vertices;
    readonly columns: NonNullable<Batch["links"]>["columns"];
  };
}

/** Those of a batch. */
export function addLinks(
  to: LinkBetween[],
  { positions, dims, parts, objects, ids, links }: Batch,
  { scale }: { scale: readonly number[] },
  { names, tolerance, units }: Comparing,
): void {
  if (links === undefined) return;
  const owner = new Int32Array(positions.length / dims);
  for (let part = 0; part < objects.length; part++) owner.fill(objects[part]!, parts[part]!, parts[part + 1]!);
  const { width, ends, columns } = links;
  const texts = names.link.map((name) => rowText(columns.get(name)!));
  const isLoose = tolerance > 0 || units.link.size > 0;
  for (let link = 0; link < ends.length / width; link++) {
    const own = ends.subarray(link * width, (link + 1) * width);
    if (own.every((end) => owner[end] === owner[own[0]!])) continue;
    const whose = Array.from(own, (end) => `${owner[end]! < 0 ? "" : ids[owner[end]!]}`);
    const places = Array.from(own, (end) => scale.map((factor, axis) => positions[end * dims + axis]! * factor));
    const told = whose.map((id, i) => `${id} (${places[i]!.join(", ")})`).join(" – ");
    to.push({
      text: `${told} ${texts.map((text) => text(link)).join(" ")}`.trimEnd(),
      ...(isLoose && {
        loose: {
          whose: whose.join(" "),
          ends: {
            positions: Float64Array.from(places.flat()),
            rows: Uint32Array.from(whose, (_, i) => i),
            scale: scale.map(() => 1),
          },
          columns: pickRows(columns, [link]),
        },
      }),
    });
  }
}

/** Those that only one of the two has. */
export function unmatched(
  first: readonly LinkBetween[],
  second: readonly LinkBetween[],
  how: Comparing,
): { readonly first: readonly LinkBetween[]; readonly second: readonly LinkBetween[] } {
  const [own, its] = [without(first, second), without(second, first)];
  if (own[0]?.loose === undefined) return { first: own, second: its };
  const byEnds = new Map<string, LinkBetween[]>();
  for (const link of its) {
    const { whose } = link.loose!;
    const others = byEnds.get(whose);
    if (others === undefined) byEnds.set(whose, [link]);
    else others.push(link);
  }
  const lost = own.filter((link) => {
    const others = byEnds.get(link.loose!.whose) ?? [];
    const at = others.findIndex((other) => alike(link.loose!, other.loose!, how));
    if (at >= 0) others.splice(at, 1);
    return at < 0;
  });
  return { first: lost, second: [...byEnds.values()].flat() };
}

/** What the others do not have, or not as often. */
function without(links: readonly LinkBetween[], others: readonly LinkBetween[]): LinkBetween[] {
  const times = new Map<string, number>();
  for (const { text } of others) times.set(text, (times.get(text) ?? 0) + 1);
  return links.filter(({ text }) => {
    const left = times.get(text) ?? 0;
    if (left > 0) times.set(text, left - 1);
    return left === 0;
  });
}

function alike(
  a: NonNullable<LinkBetween["loose"]>,
  b: NonNullable<LinkBetween["loose"]>,
  { names, tolerance, units, findings }: Comparing,
): boolean {
  for (const end of a.ends.rows) if (!(apart(a.ends, end, b.ends, end) <= tolerance)) return false;
  return names.link.every((name) => {
    const [own, its] = [a.columns.get(name)!, b.columns.get(name)!];
    const rounded = (): void =>
      void findings.notes.add(`values of ${name} are the same but for the rounding of float32`);
    return (
      own.info.channels === its.info.channels &&
      comparer(own, its, units.link.get(name)?.single ? rounded : undefined)(0, 0)
    );
  });
}
