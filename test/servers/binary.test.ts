import { afterEach, expect, it, vi } from "vitest";
import { availability, find } from "./binary.js";

const nothing = { name: "octavo-no-such-server", variable: "OCTAVO_NO_SUCH_SERVER", source: "example.test/none@v0" };
afterEach(() => vi.unstubAllEnvs());

it("skips with a reason what is not there, and fails in CI", () => {
  vi.stubEnv("CI", "");
  expect(availability(nothing)).toEqual({ path: undefined, title: expect.stringContaining("is not installed: run") });
  vi.stubEnv("CI", "true");
  expect(() => availability(nothing)).toThrow(/is not installed/);
});

it("takes the variable at its word", () => {
  vi.stubEnv("OCTAVO_NO_SUCH_SERVER", process.execPath);
  expect(find(nothing)).toBe(process.execPath);
  vi.stubEnv("OCTAVO_NO_SUCH_SERVER", "/nowhere/at/all");
  expect(() => find(nothing)).toThrow(/cannot be run/);
});
