import fc from "fast-check";
import { unzipSync, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { Corrupt, OctavoError } from "../errors.js";
import { failNth, faultyStore, fill, recordingStore, runStoreSuite } from "../testing/index.js";
import { Key, Prefix } from "./key.js";
import { memoryStore } from "./memory.js";
import type { Store } from "./types.js";
import { zipStore } from "./zip.js";
import { ZipDirectory, type ZipEntry } from "./zip-directory.js";
import { type ZipWriteOptions, zipWriteStore } from "./zip-write.js";

const k = Key.of;
const text = (value: string) => new TextEncoder().encode(value);
const key = k("x.zip");

async function written(values: Readonly<Record<string, Uint8Array>>, options?: ZipWriteOptions): Promise<Uint8Array> {
  const store = memoryStore();
  const zip = await zipWriteStore(store, key, options);
  await fill(zip, values);
  await zip.close();
  return (await store.get(key))!;
}
const opened = async (bytes: Uint8Array, options = {}) =>
  zipStore(await fill(memoryStore(), { [key]: bytes }), key, options);

const can = { list: true, write: false, conditional: false };
runStoreSuite({ describe, it }, "zip, stored", can, async (values) => opened(await written(values)));
runStoreSuite({ describe, it }, "zip, deflated", can, async (values) =>
  opened(await written(values, { method: "deflate" })),
);
runStoreSuite({ describe, it }, "zip, inflated as it is asked for", can, async (values) =>
  opened(await written(values, { method: "deflate" }), { most: 0 }),
);
runStoreSuite({ describe, it }, "zip by another hand", can, async (values) => {
  const strange = Object.keys(values).some((name) => name in {}); // that hand trips over "__proto__"
  return opened(strange ? await written(values) : zipSync({ ...values }));
});

/** One stored entry "a" with the bytes 1 2 3, packed by hand: local header at 0, data at 31, directory at 34, end at 81. */
function byHand(): Uint8Array {
  const local = "504b0304 1400 0000 0000 0000 2100 1d80bc55 03000000 03000000 0100 0000 61";
  const entry =
    "504b0102 1400 1400 0000 0000 0000 2100 1d80bc55 03000000 03000000 0100 0000 0000 0000 0000 00000000 00000000 61";
  const end = "504b0506 0000 0000 0100 0100 2f000000 22000000 0000";
  return Uint8Array.from(Buffer.from(`${local} 010203 ${entry} ${end}`.replaceAll(" ", ""), "hex"));
}

function changed(at: number, ...values: number[]): Uint8Array {
  const bytes = byHand();
  bytes.set(values, at);
  return bytes;
}

describe("zip, reading", () => {
  it("reads what was packed by hand", async () => {
    const zip = await opened(byHand());
    expect(await zip.get(k("a"))).toEqual(Uint8Array.of(1, 2, 3));
    expect(zip.url).toBe("memory:/x.zip|zip:");
  });
  it("the same bytes have the same version, others another one", async () => {
    const versionIn = async (values: Readonly<Record<string, Uint8Array>>, options?: ZipWriteOptions) =>
      (await (await opened(await written(values, options))).stat(k("a")))?.version;
    const version = await versionIn({ a: text("A") });
    expect(version).toMatch(/^[a-z0-9]+-1$/);
    expect(await versionIn({ before: text("longer"), a: text("A") }, { method: "deflate" })).toBe(version);
    expect(await versionIn({ a: text("B") })).not.toBe(version);
  });
  it("opens with two requests and reads a value with one", async () => {
    const below = recordingStore(
      await fill(memoryStore(), { [key]: await written({ a: text("A"), "b/c": text("C") }) }),
    );
    const zip = await zipStore(below, key);
    expect(below.log.map(({ kind }) => kind)).toEqual(["stat", "get"]);
    await zip.get(k("b/c"));
    expect(below.log.length).toBe(3);
  });
  it("inflates what is large as it is asked for, and checks it at its end", async () => {
    const value = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * i) >> 7);
    const bytes = await written({ a: value }, { method: "deflate" });
    const range = (offset: number, length: number) => ({ range: { offset, length } });
    const zip = await opened(bytes, { most: 1 << 20 });
    for (const [offset, length] of [
      [0, 10],
      [7, 5],
      [1_500_000, 1_000_000],
      [2_999_990, 10],
      [3, 1],
    ] as const)
      expect(await zip.get(k("a"), range(offset, length))).toEqual(value.slice(offset, offset + length));
    const both = await Promise.all([zip.get(k("a"), range(5, 5)), zip.get(k("a"), range(2_000_000, 5))]);
    expect(both).toEqual([value.slice(5, 10), value.slice(2_000_000, 2_000_005)]);
    for (const at of [bytes.length >> 1, 1000]) {
      const wrong = bytes.slice();
      wrong[at]! ^= 255;
      const damaged = await opened(wrong, { most: 1 << 20 });
      await expect(damaged.get(k("a"), range(2_999_000, 1000))).rejects.toThrow(Corrupt);
    }
  });
  it("reads a part of a stored value without the rest, of a deflated one by inflating it once", async () => {
    const large = Uint8Array.from({ length: 300_000 }, (_, i) => i >> 9);
    for (const method of ["store", "deflate"] as const) {
      const below = recordingStore(await fill(memoryStore(), { [key]: await written({ a: large }, { method }) }));
      const zip = await zipStore(below, key);
      below.log.length = 0;
      for (const offset of [200_000, 250_000]) {
        const part = await zip.get(k("a"), { range: { offset, length: 100 } });
        expect(part).toEqual(large.slice(offset, offset + 100));
      }
      const lengths = below.log.map(({ range }) => (range as { length: number }).length);
      if (method === "store") expect(lengths).toEqual([95, 100, 100]);
      else expect(lengths.length).toBe(1);
    }
  });
  it("reads sizes that follow the data, long extra fields and comments", async () => {
    const extra = Uint8Array.of(0x99, 0x99, 200, 0, ...new Uint8Array(200));
    const bytes = byHand();
    const local = bytes.slice(0, 31);
    local[6] = 8; // bit 3
    local.fill(0, 14, 26); // crc and sizes unknown
    local[28] = extra.length;
    const directory = bytes.slice(34);
    directory[8] = 8;
    const descriptor = [0x50, 0x4b, 7, 8, 0x1d, 0x80, 0xbc, 0x55, 3, 0, 0, 0, 3, 0, 0, 0];
    const end = directory.length - 22;
    const offset = 34 + extra.length + descriptor.length;
    directory.set([offset, 0, 0, 0, 3, 0], end + 16);
    const file = Uint8Array.from([...local, ...extra, 1, 2, 3, ...descriptor, ...directory, 1, 2, 3]);
    expect(await (await opened(file)).get(k("a"))).toEqual(Uint8Array.of(1, 2, 3));
  });
  it("reads a file of more than 4 GiB, by ranges, entries and directory beyond it", async () => {
    const far = 2 ** 33; // the rest of the file is zeros that nobody keeps
    const plain = { flags: 0, method: 0, packed: 3, size: 3, nameLength: 1 };
    const crc = 0x55bc801d;
    const gap = { ...plain, key: k("g"), crc: 0, packed: far - 85, size: far - 85, offset: 34 };
    const entries: ZipEntry[] = [
      { ...plain, key: k("a"), crc, offset: 0 },
      gap,
      { ...plain, key: k("b"), crc, offset: far },
    ];
    const first = byHand().slice(0, 34);
    const last = first.slice();
    last[30] = 0x62;
    const wide = Buffer.from(
      "504b0304 1400 0000 0000 0000 2100 00000000 ffffffff ffffffff 0100 1400 67 0100 1000".replaceAll(" ", ""),
      "hex",
    );
    const sizes = Buffer.alloc(16);
    for (const at of [0, 8]) sizes.writeBigUInt64LE(BigInt(gap.size), at);
    const pieces: [number, Uint8Array][] = [
      [0, first],
      [34, Buffer.concat([wide, sizes])],
      [far, last],
      [far + 34, ZipDirectory.encode(entries, far + 34)],
    ];
    const size = far + 34 + pieces[3]![1].length;
    const below: Store = {
      ...memoryStore(),
      stat: async () => ({ size }),
      async get(_, options) {
        const { offset, length } = options!.range as { offset: number; length: number };
        const out = new Uint8Array(length);
        for (const [at, bytes] of pieces)
          for (let i = 0; i < bytes.length; i++)
            if (at + i >= offset && at + i < offset + length) out[at + i - offset] = bytes[i]!;
        return out;
      },
    };
    const zip = await zipStore(below, key);
    expect(await zip.get(k("a"))).toEqual(Uint8Array.of(1, 2, 3));
    expect(await zip.get(k("b"))).toEqual(Uint8Array.of(1, 2, 3));
    expect((await zip.stat(k("g")))?.size).toBe(far - 85);
    const start = 34 + 31 + 20;
    expect(await zip.get(k("g"), { range: { offset: 2 ** 32 - start, length: 2 } })).toEqual(new Uint8Array(2));
    await expect(zip.get(k("g"))).rejects.toMatchObject({ kind: "limit-exceeded" });
  });
  it("an absent file is NotFound", async () => {
    await expect(zipStore(memoryStore(), key)).rejects.toMatchObject({ kind: "not-found" });
  });
});

describe("zip, hostile", () => {
  const refused: [string, Uint8Array, string][] = [
    ["not a zip file", text("hello, this is no zip file at all"), "corrupt"],
    ["nothing", new Uint8Array(0), "corrupt"],
    ["cut short", byHand().slice(0, -1), "corrupt"],
    ["something after the end", Uint8Array.from([...byHand(), 0]), "corrupt"],
    ["something before the start", Uint8Array.from([0, ...byHand()]), "corrupt"],
    ["a directory that claims more entries than it has", changed(89, 2, 0, 2, 0), "corrupt"],
    ["a directory that claims fewer entries than it has", changed(89, 0, 0, 0, 0), "corrupt"],
    ["a directory elsewhere", changed(97, 0x21), "corrupt"],
    ["one disk of two", changed(85, 1), "unsupported"],
    ["an entry that reaches past the directory", changed(54, 200, 0, 0, 0), "corrupt"],
    ["a name that is an absolute path", changed(80, 0x2f), "corrupt"],
    ["a name with a backslash", changed(80, 0x5c), "corrupt"],
    ["a name that is not UTF-8", changed(80, 0xff), "corrupt"],
  ];
  for (const [name, bytes, kind] of refused) {
    it(`${name} is refused when it is opened`, async () => {
      await expect(opened(bytes)).rejects.toMatchObject({ kind });
    });
  }
  const unreadable: [string, Uint8Array, string][] = [
    ["an encrypted entry", changed(42, 1), "unsupported"],
    ["a method we do not know", changed(44, 93), "unsupported"],
    ["another crc", changed(33, 4), "corrupt"],
    ["a local header with another name", changed(30, 0x62), "corrupt"],
    ["a local header with another size", changed(18, 4), "corrupt"],
    ["a local header with another method", changed(8, 8), "corrupt"],
    ["no local header", changed(0, 0), "corrupt"],
    ["a stored entry of two sizes", changed(58, 4), "corrupt"],
    ["a claim that deflate cannot keep", Uint8Array.from([...changed(44, 8)].fill(0x7f, 58, 61)), "corrupt"],
    ["a claim beyond what may be allocated", changed(58, 0xff, 0xff, 0xff, 0xf0), "limit-exceeded"],
  ];
  for (const [name, bytes, kind] of unreadable) {
    it(`${name} is refused when it is read`, async () => {
      const zip = await opened(bytes);
      await expect(zip.get(k("a"))).rejects.toMatchObject({ kind });
    });
  }
  it("names that leave the root, and two of one name, are refused", async () => {
    for (const name of ["../a", "a/../b", "a//b", "./a"]) {
      await expect(opened(zipSync({ [name]: text("x") })), name).rejects.toMatchObject({ kind: "corrupt" });
    }
    const twice = Buffer.from(zipSync({ aa: text("x"), ab: text("y") }, { level: 0 }));
    for (let at = twice.indexOf("ab"); at >= 0; at = twice.indexOf("ab")) twice.write("aa", at);
    await expect(opened(new Uint8Array(twice))).rejects.toThrow(/two entries/);
  });
  it("two end records are one too many", async () => {
    const bytes = byHand();
    bytes[bytes.length - 2] = 22;
    await expect(opened(Uint8Array.from([...bytes, ...byHand().slice(-22)]))).rejects.toThrow(/2 end records/);
  });
  it("entries that overlap are refused", async () => {
    const entry = { flags: 0, method: 0, crc: 0, packed: 100, size: 100, nameLength: 1 };
    const entries: ZipEntry[] = [
      { ...entry, key: k("a"), offset: 0 },
      { ...entry, key: k("b"), offset: 130 },
    ];
    const bytes = ZipDirectory.encode(entries, 400);
    const located = ZipDirectory.locate(bytes, 400 + bytes.length, "z");
    expect(() => ZipDirectory.parse(bytes.slice(0, -22), located as never, "z")).toThrow(/reaches into the next/);
  });
  it("a bomb is refused: more comes out than the entry says", async () => {
    const bomb = Buffer.from(zipSync({ a: new Uint8Array(5_000_000) }));
    for (const at of [22, bomb.indexOf("PK\x01\x02") + 24]) bomb.writeUInt32LE(1000, at);
    const zip = await opened(new Uint8Array(bomb));
    await expect(zip.get(k("a"))).rejects.toMatchObject({ kind: "corrupt" });
    await expect(zip.get(k("a"), { range: { offset: 0, length: 1 } })).rejects.toMatchObject({ kind: "corrupt" });
  });
  it("any damage is one of our errors, or does no harm", async () => {
    const good = { a: text("hello ".repeat(30)), "b/c": Uint8Array.of(1, 2, 3) };
    const bytes = zipSync(good);
    const damage = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(damage, fc.option(fc.nat(bytes.length)), async (flips, cut) => {
        const bad = bytes.slice(0, cut ?? bytes.length);
        for (const [at, byte] of flips) if (at < bad.length) bad[at] = byte;
        try {
          const zip = await opened(bad);
          for await (const { key } of zip.list(Prefix.root)) {
            const value = await zip.get(key);
            if (key in good) expect(Buffer.compare(value!, good[key as "a"])).toBe(0);
          }
        } catch (error) {
          if (!(error instanceof OctavoError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("zip, writing", () => {
  const values = { a: text("one one one one one one"), "größe/層": Uint8Array.of(1, 2), empty: new Uint8Array(0) };

  it("is read equal by another reader, and the same values give the same bytes", async () => {
    for (const method of ["store", "deflate"] as const) {
      const bytes = await written(values, { method });
      const found = unzipSync(bytes);
      for (const [name, value] of Object.entries(values)) expect(Buffer.compare(found[name]!, value)).toBe(0);
      expect(Buffer.compare(bytes, await written(values, { method }))).toBe(0);
    }
  });
  it("shows nothing before it is closed, and nothing after abort", async () => {
    const store = memoryStore();
    const zip = await zipWriteStore(store, key);
    await zip.set(k("a"), text("x"));
    expect(await store.get(key)).toBe(undefined);
    await zip.abort();
    expect(await store.get(key)).toBe(undefined);
    await expect(zip.close()).rejects.toMatchObject({ kind: "invalid-input" });
  });
  it("writes once: no change, no delete, no condition, nothing after close", async () => {
    const zip = await zipWriteStore(memoryStore(), key);
    await zip.set(k("a"), text("x"));
    await expect(zip.set(k("a"), text("y"))).rejects.toMatchObject({ kind: "unsupported" });
    await expect(zip.delete(k("a"))).rejects.toMatchObject({ kind: "unsupported" });
    await expect(zip.set(k("b"), text("y"), { if: { absent: true } })).rejects.toMatchObject({ kind: "unsupported" });
    await expect(zip.get(k("a"))).rejects.toMatchObject({ kind: "unsupported" });
    expect(await zip.get(k("b"))).toBe(undefined);
    expect((await zip.stat(k("a")))?.size).toBe(1);
    await zip.close();
    await zip.close();
    await expect(zip.set(k("c"), text("z"))).rejects.toMatchObject({ kind: "invalid-input" });
  });
  it("takes entries from many at once", async () => {
    const store = memoryStore();
    const zip = await zipWriteStore(store, key, { method: "deflate" });
    await Promise.all(Array.from({ length: 50 }, (_, i) => zip.set(k(`c/${i}`), new Uint8Array(i * 100).fill(i))));
    const sink = await zip.write(k("s"));
    await sink.write(text("in "));
    await sink.write(text("pieces"));
    await sink.commit();
    await zip.close();
    const read = await zipStore(store, key);
    for (let i = 0; i < 50; i++) expect((await read.get(k(`c/${i}`)))!.length).toBe(i * 100);
    expect(await read.get(k("s"))).toEqual(text("in pieces"));
  });
  it("has a directory of the wide kind where numbers need it", () => {
    const entry = { flags: 0, method: 0, crc: 7, nameLength: 1 };
    const entries: ZipEntry[] = [
      { ...entry, key: k("a"), packed: 2 ** 33, size: 2 ** 33, offset: 0 },
      { ...entry, key: k("b"), packed: 5, size: 5, offset: 2 ** 33 + 100 },
    ];
    const offset = 2 ** 33 + 200;
    const bytes = ZipDirectory.encode(entries, offset);
    const located = ZipDirectory.locate(bytes, offset + bytes.length, "z");
    expect(located).toEqual({ offset, size: bytes.length - 98, entries: 2 });
    const parsed = ZipDirectory.parse(bytes.slice(0, -98), located as never, "z");
    expect([...parsed.values()]).toEqual(entries);
  });
  it("holds more entries than 16 bits count", () => {
    const entry = { flags: 0, method: 0, crc: 0, packed: 0, size: 0, nameLength: 7 };
    const entries = Array.from({ length: 66_000 }, (_, i) => ({ ...entry, key: k(`c/${10_000 + i}`), offset: 37 * i }));
    const offset = 37 * 66_000;
    const bytes = ZipDirectory.encode(entries, offset);
    const located = ZipDirectory.locate(bytes, offset + bytes.length, "z") as {
      offset: number;
      size: number;
      entries: number;
    };
    expect(located.entries).toBe(66_000);
    const parsed = ZipDirectory.parse(bytes.subarray(0, located.size), located, "z");
    expect(parsed.size).toBe(66_000);
    expect(parsed.get(k("c/75999"))?.offset).toBe(37 * 65_999);
  });
});

describe("zip, over storage that fails", () => {
  it("any operation that fails leaves no file, and closing says so", async () => {
    for (let n = 1; n <= 8; n++) {
      const memory = memoryStore();
      const attempt = async () => {
        const zip = await zipWriteStore(faultyStore(memory, failNth(n)), key);
        await Promise.allSettled([zip.set(k("a"), text("x")), zip.set(k("b"), text("y"))]);
        await zip.close();
      };
      if (n < 8) {
        await expect(attempt(), String(n)).rejects.toBeInstanceOf(OctavoError);
        expect(await memory.get(key)).toBe(undefined);
      } else {
        await attempt(); // opening, two headers, two values, the directory and the commit have all had their turn
        expect(await (await zipStore(memory, key)).get(k("b"))).toEqual(text("y"));
      }
    }
  });
});
