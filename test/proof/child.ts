/**
 * What the proof does in other processes: `child.ts rewrite|append|convert|convert-vectors|convert-trk|step|edit|edit-append …`.
 * Writers work on a file store until they are done or killed; each change that was acknowledged is a line on stdout.
 */
import { convertArray } from "../../src/convert/arrays.js";
import { convertVectors } from "../../src/convert/vectors.js";
import { append, createArray, openZarr, resize, writeRegion, type ZarrArray } from "../../src/format/zarr/index.js";
import { openZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { ndarray } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { step } from "../transactions.js";
import { writeSome } from "./precomputed-edits.js";
import { writeMany } from "./precomputed-memory.js";
import { subjects } from "./precomputed-subjects.js";
import { buildMany } from "./tree-memory.js";
import { appendOne, editStep } from "./vector-edits.js";
import { writeStreamlines } from "./vector-memory.js";

const [what, folder, ...rest] = process.argv.slice(2) as [string, string, ...string[]];
const store = fileStore(folder, { durability: "none" }); // a kill leaves what the kernel has; only a power cut needs more
const open = async (): Promise<ZarrArray> => (await openZarr(store)) as ZarrArray;

/** Every chunk gets the same number everywhere, round after round, sometimes with another shape. */
async function rewrite(): Promise<void> {
  let array = await open();
  for (let round = 1; ; round++) {
    const [rows, columns] = array.shape as [number, number];
    const values = ndarray([rows, columns], new Int32Array(rows * columns).fill(round));
    await writeRegion(array, undefined, values);
    console.log(round);
    if (round % 3 === 0) array = await resize(array, [rows === 40 ? 30 : 40, columns]);
  }
}

/** Rows that say who wrote them. */
async function appendRows(who: number, count: number): Promise<void> {
  const array = await open();
  for (let k = 0; k < count; k++) await append(array, ndarray([1, 2], Int32Array.of(who, k)));
}

/** Peak memory over the start while converting, in bytes. */
async function convert(target: string, maxMemory: number): Promise<void> {
  await createArray(memoryStore(), Prefix.root, { shape: [4], dtype: "int32" });
  const source = await open();
  const before = process.resourceUsage().maxRSS;
  const to = fileStore(target, { durability: "none" });
  await convertArray(source, to, Prefix.root, { codecs: "zstd", chunkShape: [256, 4096], maxMemory });
  console.log((process.resourceUsage().maxRSS - before) * 1024);
}

/** The same of vectors, into other chunks, so that nothing can be copied as it is. A few come first: code and codecs are no data. */
async function convertGeometry(target: string, maxMemory: number): Promise<void> {
  const into = { chunkShape: [300, 300, 300], maxMemory };
  const few = memoryStore();
  await writeStreamlines(few, 1);
  await convertVectors(await openZarrVectors(few), memoryStore(), Prefix.root, into);
  const source = await openZarrVectors(store);
  const before = process.resourceUsage().maxRSS;
  await convertVectors(source, fileStore(target, { durability: "none" }), Prefix.root, into);
  console.log((process.resourceUsage().maxRSS - before) * 1024);
}

/** The peak of the whole process while a file becomes a store, whose chunks are chosen when everything is known. */
async function convertFile(target: string, maxMemory: number): Promise<void> {
  const { convert } = await import("../../src/node.js");
  await convert(folder, target, { to: "zarr-vectors", maxMemory });
  console.log(process.resourceUsage().maxRSS * 1024);
}

/** Transactions, each on top of the one before, whoever made it; small parts, so that there is much to kill. */
async function steps(count: number): Promise<void> {
  for (let k = 0; k < count; k++) console.log((await step(store, { memory: 300 })).result);
}

/** Edits of vectors, each on top of the one before. */
async function edits(): Promise<void> {
  for (;;) console.log(await editStep(store));
}

/** Objects from this number on, with the ids that they got. */
async function appendObjects(first: number, count: number): Promise<void> {
  for (let n = first; n < first + count; n++) console.log(`${n} ${await appendOne(store, n)}`);
}

/** Steps of something precomputed, each on top of the one before. */
async function stepOn(name: string): Promise<void> {
  for (;;) console.log(await subjects[name]!.step(store));
}

if (what === "rewrite") await rewrite();
else if (what === "append") await appendRows(Number(rest[0]), Number(rest[1]));
else if (what === "step") await steps(Number(rest[0]));
else if (what === "convert-vectors") await convertGeometry(rest[0]!, Number(rest[1]));
else if (what === "convert-trk") await convertFile(rest[0]!, Number(rest[1]));
else if (what === "edit") await edits();
else if (what === "edit-append") await appendObjects(Number(rest[0]), Number(rest[1]));
else if (what === "precomputed") await stepOn(rest[0]!);
else if (what === "precomputed-write") await writeSome(store, Number(rest[0]), Number(rest[1]));
else if (what === "precomputed-memory") console.log(await writeMany(store, Number(rest[0]), Number(rest[1])));
else if (what === "tree-memory") console.log((await buildMany(folder, Number(rest[0]), Number(rest[1]))).join(" "));
else await convert(rest[0]!, Number(rest[1]));
