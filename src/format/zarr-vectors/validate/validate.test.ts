/** Every rule, broken by hand; and the stores before that, which no rule says anything against. */
import { describe, expect, test } from "vitest";
import {
  type Files,
  floats,
  golden,
  manifest,
  ragged,
  ranges,
  rows,
  tinyGraph,
  tinyPoints,
} from "../../../../test/zarr-vectors-tiny.js";
import type { Finding, ValidateOptions } from "../../../model/format.js";
import { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { Int64 } from "../payload/int64.js";
import { sealOf } from "../read/owner-column.js";
import { validateZarrVectors } from "./validate.js";
import { type RuleId, rules } from "./validate-rules.js";

async function findings(store: Store, options: ValidateOptions = {}): Promise<Finding[]> {
  const out: Finding[] = [];
  for await (const found of validateZarrVectors(store, Prefix.root, options)) out.push(found);
  return out;
}
const named = (list: readonly Finding[]): string[] => list.map(({ rule }) => rule.replace("zarr-vectors/", ""));

interface Damage {
  /** What is broken; the tiny graph unless told. */
  readonly store?: () => Files;
  readonly break: (files: Files) => void;
  /** In the sentence or the place. */
  readonly says?: string;
}

const graph = (change: (files: Files) => void, says?: string): Damage => ({ break: change, ...(says && { says }) });
const points = (change: (files: Files) => void): Damage => ({ store: tinyPoints, break: change });
const OWNERS = "0/fragment_attributes/object_id";
const explicit = (...lists: number[][]): Uint8Array =>
  FragmentIndex.encode(FragmentIndex.of(lists, { forceExplicit: true }));

const damages: { readonly [rule in Exclude<RuleId, "unavailable" | "note">]: Damage | readonly Damage[] } = {
  metadata: [
    graph((files) => files.root((own) => delete own.bounds), "bounds"),
    graph((files) => files.delete("1/zarr.json"), "level 1"),
    graph((files) => files.root((own) => (own.required_capabilities = ["telepathy"])), "telepathy"),
  ],
  levels: [
    graph((files) => {
      for (const level of ["0", "1"]) files.remove(level);
    }, "no level"),
    graph((files) => files.remove("0"), "gap"),
  ],
  vertices: graph((files) => files.remove("0/vertices"), "level 0"),
  array: graph(
    (files) => files.document("0/vertex_attributes/w/zarr.json", (own) => (own.shape = [1])),
    "vertex_attributes/w",
  ),
  "object-index": [
    graph((files) => files.remove("0/object_index/manifests"), "manifests"),
    graph((files) => files.attributes("0/object_index", (own) => (own.sid_ndim = 3)), "3 coordinates"),
    graph((files) => files.attributes("0/object_index", (own) => delete own.num_objects), "num_objects"),
    graph((files) => {
      files.dense("0/object_index/data", "int64", [1]);
      files.dense("0/object_index/offsets", "int64", [1]);
    }, "one layout"),
    { store: () => golden("v0.3/points_sharded_legacy"), break: () => undefined, says: "6 objects" },
  ],
  "object-index-absent": graph((files) => files.remove("0/object_index")),
  "fragments-absent": graph((files) => files.remove("0/vertex_fragments")),
  "link-deltas": [
    graph((files) => files.group("0/links/+7", {}), "level 7"),
    graph((files) => files.group("0/links/x", {}), "no delta"),
    graph((files) => {
      for (const delta of ["0", "+1"]) files.remove(`0/links/${delta}`);
    }, "no delta below"),
  ],
  "ome-absent": graph((files) => files.attributes("", (own) => delete own.ome)),
  "torn-transaction": graph((files) => {
    const pending = { id: "1-a", applier: "1-a", beat: 0, lease: 1 };
    files.set(".octavo/head", Buffer.from(JSON.stringify({ octavo: 1, generation: 1, recent: ["1-a"], pending })));
  }),
  "leftover-partial": graph((files) => files.set("zarr.json.0123.partial", Uint8Array.of(1))),
  version: [
    graph((files) => files.root((own) => (own.zv_version = "0.7.0")), "from 0.9 on"),
    graph((files) => files.root((own) => (own.zv_version = "7.0.0")), "newest"),
  ],
  "geometry-types": [
    graph((files) => files.root((own) => (own.geometry_types = ["blob"])), "blob"),
    graph((files) => files.root((own) => (own.geometry_types = [])), "no kind"),
  ],
  "links-convention": graph((files) => files.root((own) => (own.links_convention = "implicit_sequential")), "explicit"),
  capabilities: [
    graph((files) => files.root((own) => (own.format_capabilities = ["telepathy"])), "telepathy"),
    graph((files) => files.level(0, (own) => (own.shared_fragments = true)), "shares"),
  ],
  axes: [
    graph((files) => files.attributes("", (own) => (own.multiscales[0].axes[1].name = "x")), "names"),
    graph((files) => files.attributes("", (own) => (own.multiscales[0].axes[1].type = "time")), "order"),
  ],
  bins: graph((files) =>
    files.attributes("", (own) => (own.multiscales[0].datasets[1].coordinateTransformations[1].translation = [6, 6])),
  ),
  "level-metadata": [
    graph((files) => files.level(1, (own) => (own.level = 3)), "level 3"),
    graph((files) => files.level(1, (own) => (own.parent_level = 4)), "level 4"),
    graph((files) => files.level(1, (own) => delete own.parent_level), "no parent"),
  ],
  multiscales: [
    graph((files) => files.attributes("", (own) => own.multiscales[0].datasets.pop()), "does not name level 1"),
    graph((files) => files.remove("1"), "names level 1"),
  ],
  "arrays-present": graph((files) => files.level(0, (own) => own.arrays_present.push("groupings")), "groupings"),
  "link-width": [
    graph((files) => files.root((own) => (own.geometry_types = ["mesh"])), "mesh"),
    graph((files) => files.attributes("0/links/0", (own) => delete own.link_width), "undefined"),
    graph((files) => files.attributes("0/links/0/0.0", (own) => (own.link_width = 3)), "its family"),
  ],
  "link-offsets": [
    graph((files) => files.cells("0/links/0/+1.x", [2, 1], {}, {}), "+1.x"),
    graph(
      (files) => files.cells("0/links/0/-1.0", [2, 1], { "1.0": ragged([0, 0, 1]) }, { has_perm: true }),
      "order of their chunks",
    ),
  ],
  "attribute-metadata": [
    graph((files) => files.attributes("0/vertex_attributes/w", (own) => (own.dtype = "spam")), "spam"),
    graph((files) => files.attributes("0/vertex_attributes/kind", (own) => (own.categories = ["a", "a"])), "different"),
    graph((files) => files.attributes("0/object_attributes/s", (own) => delete own.dtype), "object_attributes/s"),
  ],
  grid: [
    graph((files) => files.root((own) => (own.bounds[0][0] = -5)), "from [-1,0]"),
    graph((files) => files.root((own) => (own.bounds[1][1] = 12)), "ask for [2,2]"),
  ],
  "consolidated-differs": graph((files) => {
    const metadata = { "0": files.document("1/zarr.json") };
    files.document(
      "zarr.json",
      (own) => (own.consolidated_metadata = { kind: "inline", must_understand: false, metadata }),
    );
  }),
  directory: graph((files) => files.attributes("0/vertex_attributes/w", (own) => own.nonempty_chunks.pop()), "1.0"),
  "directory-absent": graph((files) => files.attributes("0/vertices", (own) => delete own.nonempty_chunks)),
  "cell-missing": graph((files) => files.delete("0/vertices/c/1/0"), "chunk 1.0"),
  "fragments-missing": [
    graph((files) => {
      files.delete("0/vertex_fragments/c/1/0");
      files.attributes("0/vertex_fragments", (own) => own.nonempty_chunks.pop());
    }, "no fragments"),
    graph((files) => {
      files.delete("0/vertices/c/1/0");
      files.attributes("0/vertices", (own) => own.nonempty_chunks.pop());
    }, "no vertices"),
  ],
  "object-count": graph((files) => files.attributes("0/object_index", (own) => (own.num_objects = 3)), "2 manifests"),
  "object-ids": [
    graph((files) => files.dense("0/object_index/object_ids", "int64", [9, 5]), "sorted"),
    graph((files) => files.dense("0/object_index/object_ids", "int64", [5, 5]), "more than one"),
    graph((files) => files.dense("0/object_index/object_ids", "int64", [5]), "1 ids"),
    graph((files) => files.remove("0/object_index/object_ids"), "vlen_manifests_v2"),
  ],
  "object-attribute-rows": graph(
    (files) => files.dense("0/object_attributes/s", "float32", [1], { dtype: "float32" }),
    "1 rows",
  ),
  "group-count": [
    graph((files) => files.attributes("0/groups", (own) => (own.num_groups = 3)), "num_groups"),
    graph((files) => files.dense("0/group_attributes/g", "float32", [1], { dtype: "float32" }), "1 rows"),
  ],
  "cell-decodes": [
    graph((files) => files.set("0/vertices/c/0/0", Uint8Array.of(1, 0, 0, 0, 9)), "chunk 0.0"),
    graph((files) => {
      files.document("0/vertices/zarr.json", (own) => own.codecs.push({ name: "crc32c" }));
    }, "crc32c"),
  ],
  "vertices-decode": graph((files) => files.cell("0/vertices", "0.0", new Uint8Array(23)), "rows of 8"),
  "fragments-decode": [
    graph((files) => files.cell("0/vertex_fragments", "0.0", ranges(2, 2)), "3 rows"),
    graph((files) => files.cell("0/vertex_fragments", "0.0", new Uint8Array(16)), "GFVZ"),
  ],
  "attribute-rows": [
    graph((files) => files.cell("0/vertex_attributes/kind", "0.0", Uint8Array.of(0, 1)), "3 × 1"),
    graph((files) => files.cell("0/vertex_attributes/kind", "0.0", Uint8Array.of(0, 1, 2)), "2 to choose from"),
    graph((files) => files.cell("0/fragment_attributes/f", "1.0", floats([1, 2])), "fragment_attributes/f"),
    graph((files) => files.cell("0/link_attributes/l/0/+1.0", "0.0", floats([1, 2])), "+1.0"),
    graph((files) => {
      files.delete("0/vertex_attributes/w/c/1/0");
      files.attributes("0/vertex_attributes/w", (own) => own.nonempty_chunks.pop());
    }, "no values"),
  ],
  "manifest-decodes": [
    graph(
      (files) => files.blobs("0/object_index/manifests", [manifest([0, 0, 0]), manifest([0, 0, 1]).subarray(0, 20)]),
      "row 1",
    ),
    {
      store: () => golden("corrupt/legacy06/objindex_offsets_not_monotone"),
      break: () => undefined,
      says: "from byte",
    },
  ],
  "links-decode": [
    graph((files) => files.cell("0/links/0/0.0", "0.0", rows([0])), "rows of 2"),
    graph((files) => files.cell("0/links/0/+1.0", "0.0", ragged([2, 1, 0])), "order"),
    graph((files) => files.cell("0/links/+1/0.0", "0.0", rows([7, 7])), "+1"),
  ],
  "link-fragments": graph((files) => files.cell("0/link_fragments", "0.0", ranges(2)), "link_fragments"),
  "groups-decode": graph(
    (files) => files.blobs("0/groups", [rows([5]).subarray(0, 7), rows([9])], { num_groups: 2 }),
    "int64",
  ),
  "object-attribute-decodes": graph(
    (files) => files.set("0/object_attributes/s/c/0", new Uint8Array(3)),
    "object_attributes/s",
  ),
  parametric: {
    store: () => golden("v0.9.2/parametric"),
    break: (files) => files.attributes("parametric", (own) => (own.parametric_types = {})),
  },
  composite: {
    store: () => golden("v0.9.2/composite"),
    break: (files) => files.remove("0/vertices_mesh"),
    says: "vertices_mesh",
  },
  "fragments-tile": graph((files) => files.cell("0/vertex_fragments", "0.0", explicit([1, 0], [2])), "fragments_tile"),
  "rows-unnamed": graph((files) => files.cell("0/vertex_fragments", "0.0", ranges(1, 1)), "1 of 3"),
  "vertex-chunk": graph((files) => files.cell("0/vertices", "0.0", floats([1, 1, 2, 2, 11, 3])), "11 along x"),
  "vertex-bin": points((files) => files.cell("0/vertices", "0.0", floats([1, 6, 1, 1, 6, 1, 6, 6]))),
  "bin-fragments": points((files) => files.cell("0/vertex_fragments", "0.0", ranges(1, 1, 1, 1, 0))),
  "vertex-finite": graph((files) => files.cell("0/vertices", "0.0", floats([1, 1, 2, 2, 3, Number.NaN])), "row 2"),
  bounds: graph(
    (files) =>
      files.root(
        (own) =>
          (own.bounds = [
            [2, 1],
            [12, 3],
          ]),
      ),
    "from 1 to 12",
  ),
  "vertex-count": graph((files) => files.level(0, (own) => (own.vertex_count = 6)), "5 are there"),
  "vertex-count-unset": graph((files) => files.level(0, (own) => (own.vertex_count = 0))),
  "manifest-chunk": graph(
    (files) => files.blobs("0/object_index/manifests", [manifest([0, 7, 0]), manifest([0, 0, 1])]),
    "chunk 0.7",
  ),
  "manifest-fragment": graph(
    (files) => files.blobs("0/object_index/manifests", [manifest([0, 0, 2]), manifest([0, 0, 1])]),
    "from 2 on",
  ),
  "fragments-disjoint": graph(
    (files) => files.blobs("0/object_index/manifests", [manifest([0, 0, 0], [0, 0, 1]), manifest([0, 0, 1])]),
    "row 1",
  ),
  "fragments-unowned": graph(
    (files) => files.blobs("0/object_index/manifests", [manifest([0, 0, 0]), manifest([0, 0, 1])]),
    "1 of 3",
  ),
  "present-count": graph((files) => files.attributes("0/object_index", (own) => (own.num_present = 1)), "2 objects"),
  "owner-column": [
    graph((files) => files.cell("0/fragment_attributes/object_id", "0.0", rows([5, 5])), "1 fragments"),
    graph((files) => files.cell("0/fragment_attributes/object_id", "0.0", rows([5])), "1 fragments"),
    graph((files) => files.attributes(OWNERS, (own) => (own.octavo_seals = { object_index: "0" })), "seal"),
  ],
  "owner-seal": graph((files) => {
    const seal = sealOf(files.get("0/object_index/zarr.json")!);
    files.attributes(OWNERS, (own) => (own.octavo_seals = { object_index: seal }));
    files.cell(OWNERS, "0.0", rows([5, 5]));
  }),
  "group-members": graph((files) => files.blobs("0/groups", [rows([5, 6]), rows([9])], { num_groups: 2 }), "6 first"),
  "present-mask": {
    store: () => golden("v0.7.0-legacy-index/pyramid_points_objects_sparse"),
    break: (files) => {
      const [key] = [...files.keys()].filter((key) => key.endsWith("present_mask/c/0"));
      files.set(key!, new Uint8Array(16).fill(2));
      files.document(key!.replace("c/0", "zarr.json"), (own) => (own.codecs = [{ name: "bytes" }]));
    },
    says: "0 or 1",
  },
  "link-ends": [
    graph((files) => files.cell("0/links/0/0.0", "0.0", rows([0, 3])), "3 of the 3"),
    graph((files) => files.cell("0/links/0/+1.0", "0.0", ragged([0, 1, 2])), "2 of the 2"),
    graph((files) => files.cell("0/links/+1/0.0", "1.0", ragged([0, 1, 1, 2])), "level 1"),
    graph(
      (files) => files.cells("0/links/0/+2.0", [2, 1], { "0.0": ragged([0, 1, 0]) }, { has_perm: true, link_width: 2 }),
      "no vertices",
    ),
    {
      store: () => golden("v0.7.0-legacy-index/graph_3d"),
      break: (files) => {
        const key = "0/cross_chunk_links/0/data";
        const { shape } = files.document(`${key}/zarr.json`, (own) => (own.codecs = [{ name: "bytes" }]));
        const values = new Array<number>(shape[0] / 8).fill(0);
        for (let i = 3; i < values.length; i += 4) values[i] = 99;
        files.set(`${key}/c/0`, Int64.encode(values));
      },
      says: "99",
    },
  ],
  "link-order": graph((files) => {
    files.attributes("0/links/0", (own) => (own.link_width = 3));
    for (const array of ["0.0", "+1.0"]) files.remove(`0/links/0/${array}`);
    files.cells("0/links/0/0.0_+1.0", [2, 1], { "0.0": ragged([0, 1, 0, 0]) }, { has_perm: true, link_width: 3 });
  }),
  "link-count": [
    graph((files) => files.attributes("0/links/0", (own) => (own.num_links = 3)), "num_links is 3"),
    graph((files) => files.attributes("0/links/+1", (own) => (own.num_physical_records = 4)), "there are 5"),
    {
      store: () => golden("v0.7.0-legacy-index/graph_3d"),
      break: (files) => files.attributes("0/cross_chunk_links/0", (own) => own.num_links++),
      says: "num_links",
    },
  ],
  "link-copies": {
    store: () => golden("v0.9.2/links_duplicate"),
    break: (files) => {
      const key = [...files.keys()].find((key) => /^0\/links\/0\/.*-1.*\/zarr\.json$/.test(key))!;
      files.remove(key.replace("/zarr.json", ""));
    },
  },
  "vertex-count-grows": graph((files) => {
    files.cell("1/vertices", "0.0", floats([1, 1, 2, 2, 3, 3, 4, 1, 5, 1, 6, 1]));
    files.cell("1/vertex_fragments", "0.0", ranges(1, 5));
  }, "6 vertices"),
  "bins-grow": graph((files) =>
    files.attributes("", (own) => {
      own.zarr_vectors.base_bin_shape = [5, 5];
      const [finest, coarser] = own.multiscales[0].datasets;
      finest.coordinateTransformations[1].translation = [2.5, 2.5];
      coarser.coordinateTransformations[1].translation = [1.25, 1.25];
    }),
  ),
  "ids-stable": [
    graph((files) => files.dense("1/object_index/object_ids", "int64", [5, 8]), "8 for 9"),
    graph((files) => {
      files.level(1, (own) => delete own.preserves_object_ids);
      files.dense("1/object_index/object_ids", "int64", [5, 8]);
    }, "object 8"),
  ],
};

describe("stores that are right", () => {
  test.each([
    ["the graph", tinyGraph],
    ["the points", tinyPoints],
  ])("%s have no finding", async (_, make) => expect(await findings(await make().store())).toEqual([]));
});

describe("every rule has a store that breaks it", () => {
  const cases = Object.entries(damages).flatMap(([rule, given]) =>
    (Array.isArray(given) ? given : [given]).map((damage: Damage, i) => [rule, i, damage] as const),
  );
  test.each(cases)("%s %i", async (rule, _, damage) => {
    const files = (damage.store ?? tinyGraph)();
    damage.break(files);
    const store = await files.store();
    const found = (await findings(store)).filter((one) => one.rule === `zarr-vectors/${rule}`);
    expect(found.map(({ severity }) => severity)).toContain(rules[rule as RuleId].severity);
    if (damage.says !== undefined)
      expect(found.map(({ where, message }) => `${where}: ${message}`).join("\n")).toContain(damage.says);
    // Not before the level at which it is to be checked.
    const { level } = rules[rule as RuleId];
    if (level > 1) expect(named(await findings(store, { level: (level - 1) as 1 | 2 | 3 | 4 }))).not.toContain(rule);
    expect(named(await findings(store, { level }))).toContain(rule);
  });
});
