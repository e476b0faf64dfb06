/** Tests in the client: a folder to write into, a browser for all of them, and the reason where they are skipped. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { type Client, missingClient, openClient, type Shown } from "./viewer.js";

export interface Place {
  /** The folder of a name, to write into. */
  folder(name: string): string;
  /** What the client opens it by. */
  source(name: string): string;
  show: Client["show"];
}

export function inNeuroglancer(what: string, tests: (place: Place) => void): void {
  const reason = missingClient();
  describe.skipIf(reason !== undefined)(`${what}${reason === undefined ? "" : `: ${reason}`}`, () => {
    const root = mkdtempSync(join(tmpdir(), "octavo-neuroglancer-"));
    let client: Client;
    beforeAll(async () => {
      client = await openClient(root);
    });
    afterAll(async () => {
      await client?.close();
      rmSync(root, { recursive: true, force: true });
    });
    tests({
      folder: (name) => join(root, name),
      source: (name) => `precomputed://${client.url}/${name}`,
      show: (...args) => client.show(...args),
    });
  });
}

/** A copy whose shards have a byte turned round in the middle of each quarter. */
export function damage(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  for (const entry of readdirSync(to, { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(".shard")) continue;
    const bytes = readFileSync(join(to, entry));
    for (const part of [1, 3, 5, 7]) bytes[(bytes.length * part) >> 3]! ^= 0xff;
    writeFileSync(join(to, entry), bytes);
  }
}

/** How often files were asked for, by the folder that they are in. */
export function requestsIn({ asked }: Shown): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { path } of asked) {
    const folder = path.slice(1, path.lastIndexOf("/"));
    counts[folder] = (counts[folder] ?? 0) + 1;
  }
  return counts;
}
