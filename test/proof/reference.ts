/** R6 and R7: golden stores are read equal, peers read equal what is written, and every store keeps the suite. Both by their own tests. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { storeBehaviours } from "../../src/testing/index.js";
import { runCase } from "../conformance/case.js";
import { zarrCases } from "../conformance/zarr.js";
import { fixtures } from "../fixtures.js";
import { many, type Outcome, type Row } from "./row.js";

export const reference: Row = {
  id: "R6",
  promise: "interoperable",
  async run() {
    const cases = zarrCases(fixtures("zarr"));
    const rows = [];
    for (const one of cases) rows.push(await runCase(one));
    const broken = rows.filter(({ passed }) => !passed).map(({ case: name, detail }) => `${name}: ${detail}`);
    const live = vitest("--config", "vitest.interop.config.ts");
    return {
      tried: `${many(cases.length)} golden cases; ${live.tried} against zarr-python, tensorstore and zarrita`,
      broken: [...broken, ...live.broken],
    };
  },
};

export const stores: Row = {
  id: "R7",
  promise: "stores are interchangeable",
  async run() {
    const outcome = vitest("src/store");
    return { ...outcome, tried: `${storeBehaviours.length} behaviours on every backend and wrapper: ${outcome.tried}` };
  },
};

/** A part of the test suite in a process of its own. */
function vitest(...args: readonly string[]): Outcome {
  const root = join(import.meta.dirname, "../..");
  const result = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--reporter=json", ...args], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const report = JSON.parse(result.stdout.slice(result.stdout.indexOf("{"))) as {
    numPassedTests: number;
    numPendingTests: number;
    testResults: { assertionResults: { status: string; fullName: string }[] }[];
  };
  const failed = report.testResults
    .flatMap((file) => file.assertionResults)
    .filter(({ status }) => status === "failed");
  const skipped = report.numPendingTests === 0 ? "" : `, ${many(report.numPendingTests)} skipped`;
  return {
    tried: `${many(report.numPassedTests)} tests passed${skipped}`,
    broken: failed.map(({ fullName }) => fullName),
  };
}
