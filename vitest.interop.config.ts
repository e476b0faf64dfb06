/** `npm run interop`: what other software writes is read here, and the other way round. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/interop/*.interop.ts"],
    globalSetup: ["test/setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
  },
});
