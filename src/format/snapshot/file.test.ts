/** Points of any source as a snapshot, and back. */
import { describe, expect, it } from "vitest";
import { dataOf, openBytes } from "../../../test/interchange.js";
import { convert, open } from "../../node.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { scratchIn } from "../../store/scratch.js";
import { file as csv } from "../interchange/csv.js";
import type { FileData } from "../interchange/types.js";
import { file } from "./file.js";
import { openSnapshot } from "./open.js";

const TABLE = "x,y,z,mass,n,kind\n1,2,3,0.5,9007199254740993,a\n4,5,6,0.25,-1,b\n";

async function written(data: FileData) {
  const store = memoryStore();
  const sink = await store.write(Key.of("a.hdf5"));
  const report = await file.write!(sink, data, { scratch: scratchIn({ store }, 1 << 20) });
  await sink.commit();
  return { report, store };
}
const table = async (text: string) => dataOf(await openBytes(csv, "a.csv", new TextEncoder().encode(text)));

describe("a snapshot", () => {
  it("holds points with their numbers; what is no number is told", async () => {
    const { report, store } = await written(await table(TABLE));
    expect(report).toEqual({
      vertices: 2,
      objects: 0,
      losses: ["the attribute kind, which is no number that a field can have"],
    });
    const dataset = await openSnapshot(store, Key.of("a.hdf5"));
    const { positions, vertexColumns } = await dataset.select().read();
    expect([...positions]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(vertexColumns.get("mass")!.values).toEqual(Float64Array.of(0.5, 0.25));
    expect(vertexColumns.get("n")!.values).toEqual(BigInt64Array.of(9007199254740993n, -1n));
  });

  it("holds nothing but points in three dimensions", async () => {
    await expect(written(await table("x,y\n1,2\n"))).rejects.toThrow(/points of three axes, and .* has points of 2/);
    await expect(written(await table("start_x,start_y,end_x,end_y\n1,2,3,4\n"))).rejects.toThrow(/has lines of 2/);
  });

  it("of no points is one all the same", async () => {
    const data = await table(TABLE);
    const { report } = await written({ ...data, async *batches() {} });
    expect(report).toMatchObject({ vertices: 0 });
  });
});

it("convert writes one, and reads it again", async () => {
  await convert(await openBytes(csv, "a.csv", new TextEncoder().encode(TABLE)), "memory:snapshots/a.hdf5");
  const dataset = await open("memory:snapshots/a.hdf5");
  expect(dataset).toMatchObject({ format: "snapshot", levels: [{ vertices: 2 }] });
});
