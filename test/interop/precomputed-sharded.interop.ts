/** Sharded values both ways: what Octavo writes, tensorstore and cloud-volume read equal, and the other way round. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createValues,
  editValues,
  formatSharding,
  openValues,
  type Sharding,
} from "../../src/format/precomputed/index.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("precomputed");
const folder = mkdtempSync(join(tmpdir(), "octavo-pc-sharded-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ids = [
  ...[0n, 1n, 2n, 3n, 7n, 8n, 511n, 512n, 513n, 65535n, 65536n],
  ...[31n, 32n, 53n, 63n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n]),
  2n ** 64n - 1n,
  ...Array.from({ length: 40 }, (_, i) => BigInt.asUintN(64, BigInt(i + 1) * 0x9e3779b97f4a7c15n)),
];
const values = new Map(ids.map((id, i) => [id, i % 9 === 3 ? "" : `value ${id} ${"x".repeat((i * 7) % 50)}`]));
const hexOf = (text: string) => Buffer.from(text).toString("hex");

const shardings: [string, Sharding][] = [];
for (const hash of ["identity", "murmur3"] as const)
  for (const [preshiftBits, minishardBits, shardBits] of [
    [0, 0, 0],
    [0, 1, 1],
    [0, 2, 6],
    [5, 0, 5],
    [5, 3, 0],
    [9, 4, 4],
    [9, 8, 2],
    [0, 3, 13],
  ] as const)
    for (const indexEncoding of ["raw", "gzip"] as const)
      for (const dataEncoding of ["raw", "gzip"] as const) {
        const sharding = { hash, preshiftBits, minishardBits, shardBits, indexEncoding, dataEncoding };
        shardings.push([
          `${hash}-${preshiftBits}-${minishardBits}-${shardBits}-${indexEncoding}-${dataEncoding}`,
          sharding,
        ]);
      }

interface Read {
  readonly values: Record<string, string | null>;
  readonly listed: string[];
}

function jobs(side: string, more: object, some = shardings): string {
  const file = join(folder, `${side}.json`);
  const all = some.map(([name, sharding]) => ({
    folder: join(folder, side, name),
    sharding: formatSharding(sharding),
    ...more,
  }));
  writeFileSync(file, JSON.stringify(all));
  return file;
}

async function write(side: string): Promise<void> {
  for (const [name, sharding] of shardings) {
    mkdirSync(join(folder, side, name), { recursive: true });
    const writer = await createValues(
      fileStore(join(folder, side, name), { durability: "none" }),
      Prefix.root,
      sharding,
    );
    for (const [id, value] of values) await writer.put(id, Buffer.from(value));
    await writer.commit();
  }
}

const asked = { ids: [...ids, 4n, 99n].map(String) };
const theirs = { values: Object.fromEntries([...values].map(([id, value]) => [`${id}`, hexOf(value)])) };

describe.skipIf(reason !== undefined)(`sharded values${reason ? `: ${reason}` : ""}`, { timeout: 300_000 }, () => {
  beforeAll(async () => {
    await write("octavo");
    for (const peer of ["tensorstore", "cloud-volume"])
      runPeer("precomputed", "pc_sharded.py", "write", peer, jobs(peer, theirs));
  }, 300_000);

  it.each(["tensorstore", "cloud-volume"])("%s reads what Octavo writes", (peer) => {
    const read: Read[] = JSON.parse(runPeer("precomputed", "pc_sharded.py", "read", peer, jobs("octavo", asked)));
    for (const [i, [name]] of shardings.entries()) {
      expect([name, read[i]!.values]).toEqual([name, { ...theirs.values, "4": null, "99": null }]);
      expect([name, read[i]!.listed.map(BigInt).sort()]).toEqual([name, [...ids].sort()]);
    }
  });

  it.each(["tensorstore", "cloud-volume"])("Octavo reads what %s writes", async (peer) => {
    for (const [name, sharding] of shardings) {
      const reader = await openValues(fileStore(join(folder, peer, name)), Prefix.root, sharding);
      const found = new Map<bigint, string>();
      for await (const { ids, values } of reader.entries())
        for (let i = 0; i < ids.length; i++) found.set(ids[i]!, Buffer.from(values[i]!).toString());
      expect([name, [...found].sort()]).toEqual([name, [...values].sort()]);
    }
  });

  it("without compression the files are tensorstore's, byte for byte", () => {
    let files = 0;
    for (const [name, { indexEncoding, dataEncoding }] of shardings) {
      const names = readdirSync(join(folder, "octavo", name)).sort();
      expect([name, names]).toEqual([name, readdirSync(join(folder, "tensorstore", name)).sort()]);
      if (indexEncoding === "gzip" || dataEncoding === "gzip") continue;
      for (const file of names) {
        const [ours, other] = ["octavo", "tensorstore"].map((side) => readFileSync(join(folder, side, name, file)));
        expect([name, file, ours!.equals(other!)]).toEqual([name, file, true]);
        files++;
      }
    }
    expect(files).toBeGreaterThan(50);
  });

  it("tensorstore and cloud-volume read shards that Octavo has changed, theirs and its own", async () => {
    for (const [n, side] of ["octavo", "tensorstore", "cloud-volume"].entries()) {
      const some = shardings.filter((_, i) => i % 5 === n);
      for (const [name, sharding] of some) {
        const edit = await editValues(
          fileStore(join(folder, side, name), { durability: "none" }),
          Prefix.root,
          sharding,
        );
        await edit.put(4n, Buffer.from("four"));
        await edit.put(7n, Buffer.from("seven"));
        await edit.delete(3n);
        await edit.commit();
        rmSync(join(folder, side, name, ".octavo"), { recursive: true, force: true });
      }
      const wanted = { ...theirs.values, "3": null, "4": hexOf("four"), "7": hexOf("seven"), "99": null };
      for (const peer of ["tensorstore", "cloud-volume"]) {
        const read: Read[] = JSON.parse(runPeer("precomputed", "pc_sharded.py", "read", peer, jobs(side, asked, some)));
        for (const [i, [name]] of some.entries()) expect([side, name, read[i]!.values]).toEqual([side, name, wanted]);
      }
    }
  });
});
