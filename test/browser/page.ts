/**
 * The page of the browser tests: opens each array named in the address, reads all of it, and leaves the SHA-256 of the
 * bytes (or the error) where the test finds it.
 */
import { open } from "../../src/index.js"; // or an installed package: see harness.ts

export interface Outcome {
  readonly path: string;
  readonly shape?: readonly number[];
  readonly sha256?: string;
  readonly error?: string;
}

async function readArray(path: string): Promise<Outcome> {
  try {
    const dataset = await open(new URL(path, location.href).href);
    if (dataset.kind !== "array") return { path, error: `${dataset.kind}, not an array` };
    const { shape, data } = await dataset.read();
    const digest = await crypto.subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>);
    const sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    await dataset.read(shape.map(() => 0)); // one element: of a shard, only a part is asked for
    return { path, shape, sha256 };
  } catch (error) {
    return { path, error: String(error) };
  }
}

const paths = new URLSearchParams(location.search).getAll("array");
const outcomes: Outcome[] = [];
for (const path of paths) outcomes.push(await readArray(path));
Object.assign(globalThis, { outcomes });
