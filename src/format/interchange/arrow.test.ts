/** Arrow: round trips, lz4 frames by hand, damage. What pyarrow writes and reads is in the interop tests. */
import { tableFromArrays, tableToIPC } from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { dataOf, openBytes, written } from "../../../test/interchange.js";
import { COLUMNS, everything } from "../../../test/tables.js";
import { concat } from "../../bytes/concat.js";
import { OctavoError } from "../../errors.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { file } from "./arrow.js";
import { arrowParts } from "./arrow-parts.js";
import { file as csv } from "./csv.js";
import { openFile } from "./file.js";
import { decodeLz4Frame } from "./lz4-frame.js";

describe("round trips", () => {
  it("every type is what it was", async () => {
    const { bytes, report } = await written(file, everything());
    expect(report).toEqual({ vertices: 3, objects: 0, losses: [] });
    const { positions, vertexColumns } = await (await openBytes(file, "a.arrow", bytes)).select().read();
    expect(positions).toEqual(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9.5));
    for (const { info, values } of COLUMNS) {
      expect(vertexColumns.get(info.name)!.info, info.name).toEqual(info);
      expect(vertexColumns.get(info.name)!.values, info.name).toEqual(values);
    }
  });

  it("ids, lines, empty cells", async () => {
    const table =
      "id,start_x,start_y,end_x,end_y,size,note\n9007199254740993,1,2,3,4,,a\n18446744073709551615,5,6,7,8,10,b\n";
    const dataset = await openBytes(csv, "a.csv", new TextEncoder().encode(table));
    const again = await openBytes(file, "a.feather", (await written(file, await dataOf(dataset))).bytes);
    expect(new TextDecoder().decode((await written(csv, await dataOf(again))).bytes)).toBe(table);
  });
});

describe("batches", () => {
  /** A stream of some batches, each of so many rows, with texts from a dictionary. */
  async function stream(batches: number, rows: number): Promise<Uint8Array> {
    const messages: Uint8Array[] = [];
    for (let i = 0; i < batches; i++) {
      const numbers = Float32Array.from({ length: rows }, (_, k) => i * rows + k);
      const lists = Array.from({ length: rows }, (_, k) => [k, i]);
      const names = Array.from({ length: rows }, () => "only");
      const table = tableFromArrays({ x: numbers, y: numbers, z: numbers, lists, names });
      const bytes = tableToIPC(table, { format: "stream" })!;
      const store = memoryStore();
      await store.set(Key.of("a"), bytes);
      const { schema, dictionaries, records } = await arrowParts(await openFile(store, Key.of("a")), {});
      for (const { offset, length } of i === 0 ? [schema, ...dictionaries, ...records] : records)
        messages.push(bytes.slice(offset, offset + length));
    }
    return concat(messages);
  }

  it("are read one by one, in no more memory than one takes", async () => {
    const bytes = await stream(12, 500);
    const all = await (await openBytes(file, "a.arrow", bytes)).select().read();
    expect(all.positions.length).toBe(3 * 12 * 500);
    expect(all.vertexColumns.get("names")!.values[5999]).toBe("only");
    expect(all.vertexColumns.get("lists")!.info.channels).toBe(2);
    const maxMemory = bytes.length / 3;
    expect(await (await openBytes(file, "a.arrow", bytes, { maxMemory })).select().read()).toEqual(all);
  });

  it("that are too large for the memory are refused", async () => {
    const bytes = await stream(1, 5000);
    await expect(openBytes(file, "a.arrow", bytes, { maxMemory: bytes.length })).rejects.toThrow(
      /a record batch \(0, counted from 0, .*\) of \d+ bytes, which takes about \d+ bytes of memory, and \d+ may be used/,
    );
  });
});

describe("lz4 frames", () => {
  const frame = (...blocks: readonly (readonly number[])[]): Uint8Array =>
    Uint8Array.from([
      4,
      0x22,
      0x4d,
      0x18,
      0x40,
      0x40,
      0,
      ...blocks.flatMap((block) => [block.length, 0, 0, 0, ...block]),
      0,
      0,
      0,
      0,
    ]);

  it("blocks look back into those before", () => {
    // "abcd", then 4 bytes from 4 back and one literal
    expect(decodeLz4Frame(frame([0x40, 97, 98, 99, 100], [0x00, 4, 0, 0x10, 101]), 9)).toEqual(
      new TextEncoder().encode("abcdabcde"),
    );
  });

  it.each([
    [frame([0x40, 97, 98, 99, 100]), 3],
    [frame([0x40, 97, 98, 99, 100]), 5],
    [frame([0x00, 9, 0, 0x10, 101]), 5],
    [frame([0xf0, 255, 255, 255]), 5],
    [Uint8Array.of(1, 2, 3, 4), 1],
  ])("damage %#", (bytes, size) => {
    expect(() => decodeLz4Frame(bytes, size)).toThrow(OctavoError);
  });
});

describe("damage", () => {
  it("a file that was cut off says so", async () => {
    const { bytes } = await written(file, everything());
    await expect(openBytes(file, "a.arrow", bytes.slice(0, bytes.length - 9))).rejects.toThrow(
      /^memory:\/a\.arrow is damaged: it ends at byte \d+, and not with ARROW1, so it is not whole$/,
    );
  });

  it("shorter files and other bytes are read, or one of our errors", { timeout: 30_000 }, async () => {
    const { bytes } = await written(file, everything());
    const attempt = async (some: Uint8Array): Promise<void> => {
      try {
        await (await openBytes(file, "a.arrow", some, { limits: { chunkBytes: 1 << 20 } })).select().read();
      } catch (error) {
        expect(error).toBeInstanceOf(OctavoError);
      }
    };
    for (let length = 0; length < bytes.length; length += 31) await attempt(bytes.slice(0, length));
    for (let at = 0; at < bytes.length; at += 5) {
      const other = bytes.slice();
      other[at]! ^= 0xff;
      await attempt(other);
    }
  });
});
