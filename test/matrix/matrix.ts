/**
 * Every format to every other and back, for each kind of data that both can hold: what comes back is what the table of formats.ts
 * says, by `diff`, with a tolerance of 0 where no format on the way has a precision of its own. Reports name what was lost and
 * nothing else, and `strict` refuses exactly where there is something to name.
 */
import { describe, expect, it } from "vitest";
import type { VectorDataset } from "../../src/model/vectors.js";
import { convert, open } from "../../src/node.js";
import { held, ROWS, type Row } from "./formats.js";
import { type Kind, type Scene, sceneOf, stored } from "./scenes.js";
import { differences, lostBetween, sayings, unfounded, untold } from "./steps.js";

const SEEDS = { holds: [20, 21], pairs: [20] };

/** One step, and whether its report is right. */
async function step(from: VectorDataset | string, to: string, row: Row, before: Scene, after: Scene) {
  const report = await convert(from, to, { ...row.options, overwrite: true });
  const lost = lostBetween(before, after);
  expect(untold(sayings(report, row), lost), `${to}: ${report.losses.join("; ")}`).toEqual([]);
  return { report, lost };
}

/** Several files call this, to run side by side. */
export function matrix(...kinds: readonly Kind[]): void {
  describe.each(kinds)("%s", (kind) => {
    const able = ROWS.filter((row) => held(sceneOf(kind, 1), row) !== undefined);

    it.each(able)("$name holds what the table says, and tells the rest", async (row) => {
      for (const seed of SEEDS.holds) {
        const scene = sceneOf(kind, seed);
        const after = held(scene, row)!;
        const source = await stored(scene);
        const url = `memory:matrix/${kind}/${seed}/${row.file}`;
        const { report, lost } = await step(source, url, row, scene, after);
        const told = report.losses.filter((sentence) => row.says?.test(sentence) !== true);
        expect(unfounded(told, lost, scene)).toEqual([]);
        expect(await differences(after, url, [row])).toEqual([]);
        const strict = `memory:matrix/${kind}/${seed}/strict/${row.file}`;
        const strictly = convert(source, strict, { ...row.options, strict: true });
        if (report.losses.length === 0) await strictly;
        else {
          await expect(strictly).rejects.toThrow("nothing may be");
          await expect(open(strict)).rejects.toThrow();
        }
      }
    });

    it.each(able)("$name → every other → $name", async (row) => {
      for (const seed of SEEDS.pairs) {
        const first = held(sceneOf(kind, seed), row)!;
        const from = `memory:matrix/${kind}/${seed}/${row.file}`;
        await convert(await stored(sceneOf(kind, seed)), from, { ...row.options, overwrite: true });
        for (const other of able) {
          const second = held(first, other);
          const third = second && held(second, row);
          if (second === undefined || third === undefined) continue;
          const at = `memory:matrix/${kind}/${seed}/${`${row.file}-${other.file}`.replaceAll(".", "_")}`;
          await step(from, `${at}/${other.file}`, other, first, second);
          await convert(`${at}/${other.file}`, `${at}/back/${row.file}`, { ...row.options, overwrite: true });
          const found = await differences(third, `${at}/back/${row.file}`, [row, other]);
          expect([other.name, found]).toEqual([other.name, []]);
        }
      }
    });
  });
}
