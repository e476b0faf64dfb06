/** Tables of synapses as annotations: ids, relationships and properties, 64 bits exact. */
import { describe, expect, it } from "vitest";
import { openBytes } from "../../../test/interchange.js";
import { file } from "../../format/interchange/csv.js";
import type { TableOptions } from "../../format/interchange/types.js";
import { openAnnotations } from "../../format/precomputed/index.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { convertToPrecomputed } from "./index.js";

const TABLE = `id,pre_root_id,post_root_id,size,kind,pre_x,pre_y,pre_z,x,y,z
9007199254740993,864691135000000001,864691135000000002,10,a,1,2,3,4,5,6
18446744073709551615,864691135000000001,,200,b,7,8,9,10,11,12
`;

async function annotations(table: TableOptions) {
  const store = memoryStore();
  const dataset = await openBytes(file, "s.csv", new TextEncoder().encode(TABLE), {
    table: { units: "voxel", resolution: [4, 4, 40], ...table },
  });
  const report = await convertToPrecomputed(dataset, store, Prefix.root, {});
  return { report, collection: await openAnnotations(store) };
}

const related = {
  relationships: { pre: "pre_root_id", post: "post_root_id" },
  properties: [{ name: "size", dtype: "uint8" }],
};

describe("synapses", () => {
  it("as points", async () => {
    const { report, collection } = await annotations(related);
    expect(report.losses).toEqual([
      "memory:/s.csv: the columns kind, pre_x, pre_y, pre_z: others are named to be read",
    ]);
    expect(collection.info.relationships.map(({ id }) => id)).toEqual(["pre", "post"]);
    expect(collection.info.properties).toMatchObject([{ id: "size", type: "uint8" }]);
    const one = await collection.get(9007199254740993n);
    expect([...one!.points]).toEqual([16, 20, 240]);
    expect([...one!.properties.get("size")!]).toEqual([10]);
    expect([...(await collection.related("pre", 864691135000000001n))!.ids.slice().sort()]).toEqual([
      9007199254740993n,
      18446744073709551615n,
    ]);
    expect([...(await collection.related("post", 864691135000000002n))!.ids]).toEqual([9007199254740993n]);
    expect((await collection.get(18446744073709551615n))!.related!.get("post")!.ids.length).toBe(0);
  });

  it("as lines", async () => {
    const { collection } = await annotations({ ...related, start: ["pre_x", "pre_y", "pre_z"], end: ["x", "y", "z"] });
    const one = await collection.get(18446744073709551615n);
    expect([...one!.points]).toEqual([28, 32, 360, 40, 44, 480]);
    expect([...one!.related!.get("pre")!.ids]).toEqual([864691135000000001n]);
  });
});
