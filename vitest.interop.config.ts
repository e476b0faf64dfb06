/** `npm run interop`, `npm run neuroglancer`: what other software writes is read here, and the other way round. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*.interop.ts"], // of the folder that the script names
    globalSetup: ["test/setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
  },
});
