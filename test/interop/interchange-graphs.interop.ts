/** Graphs both ways: what networkx writes goes through a store of Zarr Vectors, and networkx reads what comes out as it reads the original. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { convert as convertTo } from "../../src/node.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("interchange");
const folder = mkdtempSync(join(tmpdir(), "octavo-graphs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
const convert: typeof convertTo = (from, to, options) => convertTo(from, to, { durability: "none", ...options });
const ask = (...names: string[]) => JSON.parse(runPeer("interchange", "ic_graphs.py", "read", ...names.map(at)));

describe.skipIf(reason !== undefined)(`graphs, networkx${reason === undefined ? "" : `: ${reason}`}`, () => {
  beforeAll(() => void runPeer("interchange", "ic_graphs.py", "write", folder));

  it.each(["graphml", "edges"])("%s is the same after a store", async (kind) => {
    await convert(at(`a.${kind}`), at(`${kind}.zv`), { chunkShape: [40, 40, 40] });
    const { losses } = await convert(at(`${kind}.zv`), at(`b.${kind}`));
    expect(losses).toEqual([]);
    const said = ask(`a.${kind}`, `b.${kind}`);
    expect(said[`b.${kind}`]).toEqual(said[`a.${kind}`]);
    expect(said[`a.${kind}`].edges).toHaveLength(500);
  });
});
