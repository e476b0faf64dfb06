/** What people type: the text of a condition on attributes, which the server takes from anybody. */
import { decodeUtf8, encodeUtf8 } from "../../src/bytes/text.js";
import type { Schema } from "../../src/model/vectors.js";
import { Where } from "../../src/query/where.js";
import type { Target } from "./driver.js";

const seeds = [
  "fa > 0.3 and type in ('a','b')",
  "not (vertex.fa <= -1.5e-3 or object.type != 'it''s') and color[r] between 1 and 9007199254740993",
  `"odd ""name""" is not absent or flag = TRUE and color[2] not in (0, 1)`,
];
const schema: Partial<Schema> = {
  vertex: [
    { name: "fa", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 },
    { name: "color", dtype: { kind: "int", size: 8, endian: "little" }, channels: 3, channelNames: ["r", "g", "b"] },
    { name: "flag", dtype: { kind: "bool", size: 1 }, channels: 1 },
  ],
  object: [
    { name: "type", dtype: { kind: "uint", size: 1, endian: "little" }, channels: 1, categories: ["a", "b"] },
    { name: 'odd "name"', dtype: { kind: "string" }, channels: 1 },
  ],
};

export const queryTargets: readonly Target[] = [
  {
    name: "where",
    cap: 1 << 20,
    load: async () => ({
      seeds: seeds.map((text) => encodeUtf8(text, "it")),
      run: (bytes) => {
        const tree = Where.parse(decodeUtf8(bytes, "it"));
        const again = Where.format(tree);
        // Not one of Octavo's errors: what parses must come back from its own text, or it is a find.
        if (Where.format(Where.parse(again)) !== again) throw new Error(`${again} does not come back as it was`);
        Where.check(tree, schema);
      },
    }),
  },
];
