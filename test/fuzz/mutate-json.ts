/**
 * Documents that are still JSON but say something else: damage that gets past the parser and meets what reads the values.
 * One to three places of a good document get a value that does not belong there, lose one, or swap.
 */
import { type Json, parseJson, stringifyJson } from "../../src/bytes/json.js";
import { defaultLimits } from "../../src/limits.js";
import type { Random } from "./mutate.js";

const ODD: readonly Json[] = [
  ...[
    null,
    true,
    false,
    0,
    1,
    -1,
    -0,
    0.5,
    2 ** 31,
    2 ** 32,
    2 ** 53 - 1,
    2n ** 53n,
    2n ** 63n,
    2n ** 64n - 1n,
    2n ** 64n,
  ],
  ...[-(2n ** 63n), 10n ** 40n, 1e308, 5e-324, Number.NaN, Number.NEGATIVE_INFINITY],
  ...[
    "",
    "a",
    "NaN",
    "-Infinity",
    "NaT",
    "0x",
    "0x7fc00000",
    "0xffffffffffffffffff",
    "../..",
    "/",
    "\0",
    "\ud800",
    "é",
    "AAAA",
    "=",
  ],
  ...[
    "|O",
    "<i4",
    ">f8",
    "<M8[ns]",
    "|S0",
    "|V99999999999",
    "<U5",
    "<c16",
    "int32",
    "float16",
    "string",
    "r8",
    "r9999999999",
  ],
  ...[
    "blosc",
    "zstd",
    "gzip",
    "sharding_indexed",
    "transpose",
    "bytes",
    "vlen-utf8",
    "crc32c",
    "numcodecs.lz4",
    "array",
    "group",
  ],
  [],
  {},
  [0],
  [[]],
  [null],
  ["a"],
  [1, 2, 3],
  [1e9, 1e9, 1e9],
  [-1],
  [[["a", "<i4"]]],
  { name: "blosc" },
  { "": 1 },
  [
    ["a", "<i4"],
    ["a", "<i4"],
  ],
  [["v", "<f4", [3]]],
  [["v", "<f4", [2 ** 31, 2 ** 31]]],
  { configuration: {} },
  { id: "zlib" },
];

// A copy: what is put in may be changed in its turn.
const odd = (dice: Random): Json => structuredClone(ODD[dice.below(ODD.length)]!);

/** Numbers that could be meant: these get furthest. */
const near = (value: number, dice: Random): number =>
  [value + 1, value - 1, value * 2, Math.floor(value / 2), -value, 1][dice.below(6)]!;

type Node = Json[] | { [key: string]: Json };

export function mutateJson(seed: Uint8Array, other: Uint8Array, dice: Random): Uint8Array {
  const parse = (bytes: Uint8Array) => parseJson(bytes, defaultLimits, "a seed", { tokens: true });
  const root: [Json] = [parse(seed)];
  const lender = places([parse(other)]);
  for (let changes = 1 + dice.below(3); changes > 0; changes--) {
    const all = places(root);
    const [node, key] = all[dice.below(all.length)]!;
    const [otherNode, otherKey] = dice.below(2) ? all[dice.below(all.length)]! : lender[dice.below(lender.length)]!;
    const what = dice.below(10);
    const value = get(node, key);
    if (what < 4 && typeof value === "number") put(node, key, near(value, dice));
    else if (what < 6) put(node, key, odd(dice));
    else if (what < 8) put(node, key, structuredClone(get(otherNode, otherKey)));
    else if (what === 8 && node !== root) remove(node, key);
    else if (Array.isArray(node) && node !== root) node.splice(dice.below(node.length + 1), 0, odd(dice));
    else put(node, key, [value]);
  }
  return new TextEncoder().encode(stringifyJson(root[0], { tokens: true }));
}

/** Every value of a tree, by the node that holds it. */
function places(node: Node, found: [Node, string | number][] = []): [Node, string | number][] {
  for (const key of Array.isArray(node) ? node.keys() : Object.keys(node)) {
    found.push([node, key]);
    const value = get(node, key);
    if (typeof value === "object" && value !== null) places(value as Node, found);
  }
  return found;
}

const get = (node: Node, key: string | number): Json => (node as { [key: string]: Json })[key]!;

function put(node: Node, key: string | number, value: Json): void {
  (node as { [key: string]: Json })[key] = value;
}

function remove(node: Node, key: string | number): void {
  if (Array.isArray(node)) node.splice(Number(key), 1);
  else delete node[key];
}
