import { describe, expect, it } from "vitest";
import { parse } from "./args.js";
import { tableOf, tableOptions } from "./table-options.js";

const said = (...args: string[]) => tableOf(parse(tableOptions, args).options);

describe("options of tables", () => {
  it("are what `open` understands", () => {
    expect(
      said(
        "--start",
        "a,b,c",
        "--end",
        "d,e,f",
        "--id",
        "n",
        "--relationship",
        "pre=pre_root_id",
        "--relationship",
        "post=q",
        "--property",
        "size:uint8",
        "--property",
        "note",
        "--units",
        "voxel",
      ),
    ).toEqual({
      start: ["a", "b", "c"],
      end: ["d", "e", "f"],
      id: "n",
      relationships: { pre: "pre_root_id", post: "q" },
      properties: [{ name: "size", dtype: "uint8" }, { name: "note" }],
      units: "voxel",
    });
    expect(tableOf({ kind: "line", units: "voxel", resolution: [4, 4, 40] })).toEqual({
      kind: "line",
      units: "voxel",
      resolution: [4, 4, 40],
    });
    expect(tableOf({ kind: "annotations", resolution: [4, 4, 40] })).toBeUndefined();
  });

  it("relationships need two names", () => {
    expect(() => said("--relationship", "pre")).toThrow("expected NAME=COLUMN");
  });
});
