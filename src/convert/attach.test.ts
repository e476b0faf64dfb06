/** Values of other files as attributes of streamlines: text, .npy and .tsf, and counts that do not fit. */
import { describe, expect, it } from "vitest";
import { openBytes, paths, written } from "../../test/interchange.js";
import { openFile } from "../format/interchange/file.js";
import { writeNpy } from "../format/interchange/npy.js";
import { file } from "../format/interchange/tck.js";
import { readValues } from "../format/interchange/values-file.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import { ndarray } from "../model/elements.js";
import { Key, Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { attached } from "./attach.js";
import { convertVectors } from "./vectors.js";

const three = async () => {
  const { bytes } = await written(
    file,
    paths([
      [1, 2, 3, 4, 5, 6],
      [7, 8, 9],
      [1, 1, 1, 2, 2, 2],
    ]),
  );
  return openBytes(file, "a.tck", bytes);
};

async function values(name: string, content: Uint8Array | string) {
  const store = memoryStore();
  await store.set(Key.of(name), typeof content === "string" ? new TextEncoder().encode(content) : content);
  return readValues(await openFile(store, Key.of(name)), "w");
}

function tsf(datatype: string, numbers: readonly number[]): Uint8Array {
  const head = `mrtrix track scalars\ndatatype: ${datatype}\nfile: . 80\nEND\n`;
  const bytes = new Uint8Array(80 + 4 * numbers.length);
  bytes.set(new TextEncoder().encode(head));
  const view = new DataView(bytes.buffer);
  for (const [i, value] of numbers.entries()) view.setFloat32(80 + 4 * i, value, datatype.endsWith("LE"));
  return bytes;
}

const shown = async (content: Awaited<ReturnType<typeof values>>) => {
  const { vertexColumns, objectColumns } = await (await attached(await three(), [content])).select().read();
  return [vertexColumns.get("w")?.values, objectColumns.get("w")?.values].map((own) => own && [...own]);
};

describe("values", () => {
  it("one for each streamline, as text with comments, or as .npy with channels", async () => {
    const text = await values("w.txt", "# command_history: a 1 2\n0.5 1e-3,\n-inf\n");
    expect(await shown(text)).toEqual([undefined, [0.5, 0.001, Number.NEGATIVE_INFINITY]]);
    const array = writeNpy(ndarray([3, 2], Int16Array.of(1, 2, 3, 4, 5, 6)));
    const dataset = await attached(await three(), [await values("w.npy", array)]);
    expect((await dataset.schema()).object).toMatchObject([
      { name: "w", channels: 2, dtype: { kind: "int", size: 2 } },
    ]);
    const { objectColumns } = await dataset.select({ object: [1] }).read();
    expect([...objectColumns.get("w")!.values]).toEqual([3, 4]);
  });

  it("one for each vertex, of which a question can be asked", async () => {
    expect(await shown(await values("w.txt", "1 2 3 4 5"))).toEqual([[1, 2, 3, 4, 5], undefined]);
    const numbers = [1, 2, Number.NaN, 3, Number.NaN, 4, 5, Number.NaN, Number.POSITIVE_INFINITY];
    for (const type of ["Float32LE", "Float32BE"])
      expect(await shown(await values("w.tsf", tsf(type, numbers)))).toEqual([[1, 2, 3, 4, 5], undefined]);
    const dataset = await attached(await three(), [await values("w.tsf", tsf("Float32LE", numbers))]);
    expect([...(await dataset.select({ where: "w > 2.5 and w < 3.5" }).read()).ids]).toEqual([1n]);
  });

  it("that do not fit are refused", async () => {
    await expect(shown(await values("w.txt", "1 2"))).rejects.toThrow(
      "memory:/w.txt has 2 values, and there are 3 streamlines with 5 vertices",
    );
    const numbers = [1, Number.NaN, 2, 3, Number.NaN, 4, 5, Number.NaN, Number.POSITIVE_INFINITY];
    await expect(shown(await values("w.tsf", tsf("Float32LE", numbers)))).rejects.toThrow(
      "memory:/w.tsf has 1 values for streamline 0, which has 2 vertices",
    );
    await expect(values("w.tsf", tsf("Float32LE", numbers.slice(0, -1)))).rejects.toThrow("without its end mark");
    await expect(values("w.txt", "1\n2 x")).rejects.toThrow('memory:/w.txt, line 2: "x" where a number was expected');
    await expect(values("w.nii", "1\0")).rejects.toThrow(
      "memory:/w.nii is no text: values are in .txt, .tsf or .npy files",
    );
    await expect(values("w.npy", writeNpy(ndarray([1, 1, 1], Int8Array.of(1))))).rejects.toThrow(
      "expected numbers in rows",
    );
    const one = await values("w.txt", "1 2 3");
    await expect(attached(await three(), [one, one])).rejects.toThrow("there already is an attribute w");
  });

  it("of a store go by its ids, however its streamlines are cut into chunks", async () => {
    const lines = [[], [90, 2, 3, 1, 1, 1], [4, 5, 6], [1, 1, 1, 50, 50, 50, 90, 90, 90], []];
    const store = memoryStore();
    const dataset = await openBytes(file, "a.tck", (await written(file, paths(lines))).bytes);
    await convertVectors(dataset, store, Prefix.root, { chunkShape: [10, 10, 10] });
    const stored = await openZarrVectors(store, Prefix.root);
    const vertices = await attached(stored, [await values("w.txt", "1 2 3 4 5 6")]);
    const found = await vertices.select({ object: [1, 2, 3] }).read();
    expect([...found.vertexColumns.get("w")!.values]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...found.positions.subarray(0, 6)]).toEqual([90, 2, 3, 1, 1, 1]);
    expect([...(await vertices.select({ where: "w > 2.5 and w < 3.5" }).read()).ids]).toEqual([2n]);
    expect((await vertices.schema()).vertex.map(({ name }) => name)).toContain("w");
    const objects = await attached(stored, [await values("w.txt", "10 11 12 13 14")]);
    const { ids, objectColumns } = await objects.select({ object: [0, 3, 4] }).read();
    expect([[...ids], [...objectColumns.get("w")!.values]]).toEqual([
      [0n, 3n, 4n],
      [10, 13, 14],
    ]);
    await expect(objects.select({ level: 1 }).read()).rejects.toThrow("no level 1");
  });
});
