/** Random queries, and the comparison of what the engine says with what they mean. */
import { OctavoError } from "../../src/errors.js";
import type { Batch, Query } from "../../src/model/vectors.js";
import { select } from "../../src/query/select.js";
import { Where } from "../../src/query/where.js";
import { brute, vertexCount } from "./brute.js";
import { type Listed, listAnswer, listBatches } from "./compare.js";
import { anyWhere } from "./conditions.js";
import type { Answer } from "./found.js";
import { Dice, type PlainDataset, plainDataset } from "./plain.js";
import { plainSource } from "./source.js";

export function anyQuery(dice: Dice, { levels }: PlainDataset): Query {
  const choice = dice.below(levels.length > 1 ? 4 : 1);
  const level = levels[choice === 1 ? dice.below(levels.length) : 0]!;
  const where = dice.one(2) ? anyWhere(dice, level) : undefined;
  const sameSchema = choice < 2 || where === undefined; // a level may not have the attribute
  const { dims, geometry } = level;
  const region = dice.below(5);
  const clip = dice.of([undefined, undefined, true, true, "vertices"] as const);
  const ids = level.objects?.map(({ id }) => id) ?? [];
  const groups = choice < 2 ? level.groups.map((_, group) => group) : [];
  return {
    ...(choice === 1 && { level: level.level }),
    ...(choice === 2 && sameSchema && { maxVertices: 1 + dice.below(60) }),
    ...(choice === 3 && sameSchema && { resolution: dice.of([0.1, 0.5, 1, 2, 4]) }),
    ...(region < 2 && { box: anyBox(dice, dims) }),
    ...(region === 2 &&
      !(clip === true && geometry === "mesh") && { sphere: [...anyPlace(dice, dims), dice.below(33) / 4] }),
    ...(dice.one(6) && { nearest: [...anyPlace(dice, dims), 1 + dice.below(6)] }),
    ...(dice.one(6) && choice < 2 && ids.length > 0 && { object: dice.some(ids, 4) }),
    ...(dice.one(6) && groups.length > 0 && { group: dice.some(groups, 2) }),
    ...(where !== undefined && { where: Where.format(where) }),
    ...(clip !== undefined && { clip }),
    ...(dice.one(6) && { limit: dice.below(6) }),
  };
}

const anyPlace = (dice: Dice, dims: number): number[] => Array.from({ length: dims }, () => (dice.below(65) - 32) / 4);

function anyBox(dice: Dice, dims: number): number[] {
  const min = anyPlace(dice, dims);
  const size = dice.of([0, 4, 16, 40]);
  return [...min, ...min.map((low) => low + dice.below(size + 1) / 4)];
}

/** What is wrong with the engine's answer to one random query; undefined is good. */
export async function tryOne(seed: number): Promise<string | undefined> {
  const dataset = plainDataset(seed);
  const dice = new Dice(seed + 1_000_000);
  const query = anyQuery(dice, dataset);
  const wrong = await compare(dataset, query, dice).catch((error: Error) => `${error.stack}`);
  return wrong && `seed ${seed} ${JSON.stringify(query, plain)}: ${wrong}`;
}

const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value);

async function compare(dataset: PlainDataset, query: Query, dice: Dice): Promise<string | undefined> {
  const source = plainSource(dataset, dice.below(1000));
  const selection = select(source, query);
  const expected = brute(dataset, query);
  if (typeof expected === "string") {
    const error = await selection.read().catch((found: unknown) => found);
    return error instanceof OctavoError && error.name === expected ? undefined : `should be refused: ${expected}`;
  }
  const all = !dice.one(4);
  const options = all ? {} : { attributes: ["vertex.serial"] };
  const list = listAnswer(expected, { all });
  const read = await selection.read(options);
  const whole = different(listBatches([read], expected.cut, all), list);
  if (whole !== undefined) return `read: ${whole}`;
  for (const batchVertices of [1, 1 + dice.below(20), undefined]) {
    source.recorded.chunks.clear();
    const batches: Batch[] = [];
    for await (const batch of selection.batches({ ...options, batchVertices })) batches.push(batch);
    const wrong =
      different(listBatches(batches, expected.cut, all), list) ??
      wellFormed(batches) ??
      (query.maxVertices === undefined ? await plannedFor(selection, source.recorded.chunks.size) : undefined);
    if (wrong !== undefined) return `batches of ${batchVertices}: ${wrong}`;
  }
  return countsFor(selection, expected);
}

function different(found: Listed, expected: Listed): string | undefined {
  for (const what of ["objects", "lone", "links"] as const) {
    const [is, should] = [found[what], expected[what]];
    const at = is.findIndex((line, i) => line !== should[i]);
    if (at >= 0 || is.length !== should.length)
      return `${is.length} ${what}, should be ${should.length}; first: ${is[Math.max(0, at)]}\n  should be: ${should[Math.max(0, at)]}`;
  }
  return undefined;
}

/** What every batch promises. */
function wellFormed(batches: readonly Batch[]): string | undefined {
  for (const { positions, dims, parts, objects, ids, links, fragments, vertexColumns } of batches) {
    const count = positions.length / dims;
    if (parts[0] !== 0 || parts.at(-1) !== count || parts.length !== objects.length + 1)
      return `parts ${parts} of ${count}`;
    if (parts.some((start, p) => p > 0 && start <= parts[p - 1]!)) return "an empty part";
    if (objects.some((object) => object < -1 || object >= ids.length)) return "objects without ids";
    if (links?.ends.some((end) => end >= count)) return "links without vertices";
    if (fragments !== undefined && (fragments.offsets[0] !== 0 || fragments.offsets.at(-1) !== count))
      return "fragments";
    for (const { info, values } of vertexColumns.values())
      if (values.length !== count * info.channels) return `${info.name} has ${values.length} values`;
  }
  return undefined;
}

type Selected = ReturnType<typeof select>;

async function plannedFor(selection: Selected, chunks: number): Promise<string | undefined> {
  const { requests } = await selection.plan();
  return requests < chunks ? `planned ${requests} chunks, read ${chunks}` : undefined;
}

async function countsFor(selection: Selected, expected: Answer): Promise<string | undefined> {
  const vertices = vertexCount(expected);
  const objects = expected.items.filter(({ row }) => row >= 0).length;
  const kept = expected.items.reduce(
    (sum, { parts }) => sum + parts.flat().filter(({ at: [a, b, c] }) => a === b && a === c).length,
    0,
  );
  const exact = await selection.count({ exact: true });
  if (exact.vertices !== vertices || exact.objects !== objects || !exact.exact)
    return `count ${JSON.stringify(exact)}, should be ${vertices} vertices of ${objects} objects`;
  const bound = await selection.count();
  const right = bound.exact
    ? bound.vertices === vertices && bound.objects === objects
    : bound.vertices >= kept && bound.objects >= objects;
  return right ? undefined : `bound ${JSON.stringify(bound)} of ${kept} vertices of ${objects} objects`;
}
