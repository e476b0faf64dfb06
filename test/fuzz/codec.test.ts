import { expect, test } from "vitest";
import { codecRegistry } from "../../src/codec/registry.js";
import { fuzzSuite } from "./suite.js";
import { codecTargets } from "./targets-codec.js";

test("every codec has a target", () => {
  const fuzzed = (codec: string) => codecTargets.some(({ name }) => name === codec || name.startsWith(`${codec}-`));
  expect(codecRegistry().names.filter((name) => !fuzzed(name))).toEqual([]);
});

fuzzSuite(codecTargets);
