import { describe, expect, it } from "vitest";
import { fill, runStoreSuite, storeBehaviours } from "../testing/index.js";
import { memoryStore } from "./memory.js";

const can = { list: true, write: true, conditional: true };
runStoreSuite({ describe, it }, "memory", can, (values) => fill(memoryStore(), values));

it("the suite has at least 60 behaviours, each under its own name", () => {
  expect(new Set(storeBehaviours.map(({ name }) => name)).size).toBe(storeBehaviours.length);
  expect(storeBehaviours.length).toBeGreaterThanOrEqual(60);
});
