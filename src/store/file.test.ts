import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { OctavoError } from "../errors.js";
import { fill, runStoreSuite } from "../testing/index.js";
import { fileStore } from "./file.js";
import { locked } from "./file-lock.js";
import { Owner } from "./file-owner.js";
import { Key, Prefix } from "./key.js";
import type { Store } from "./types.js";

// In memory where the system has that: syncing to a disk that others use takes most of the time of these tests.
const base = fs.mkdtempSync(join(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "octavo-file-"));
afterAll(() => fs.rmSync(base, { recursive: true }));
afterEach(() => {
  vi.restoreAllMocks();
  for (const name of fs.readdirSync(base)) fs.rmSync(join(base, name), { recursive: true });
});
let made = 0;
const fresh = () => join(base, String(made++));
const k = Key.of;
const old = Uint8Array.of(1, 2, 3);
const value = Uint8Array.of(4, 5, 6, 7);

runStoreSuite({ describe, it }, "file", { list: true, write: true, conditional: true }, async (values) => {
  const root = fresh();
  await fill(fileStore(root, { durability: "none" }), values);
  return fileStore(root);
});

async function keys(store: Store): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(Prefix.root)) found.push(key);
  return found.sort();
}

/** The id of an earlier process with our number. */
const dead = () => Owner.make().id.replace(`-${Owner.make().start}-`, "-1-");

const partials = (root: string) =>
  fs.readdirSync(root, { recursive: true }).filter((name) => String(name).endsWith(".partial"));

describe("the root", () => {
  it("is not left by symbolic links, neither reading nor writing nor listing", async () => {
    const [root, outside] = [fresh(), fresh()];
    fs.mkdirSync(root);
    fs.mkdirSync(outside);
    fs.writeFileSync(join(outside, "secret"), "secret");
    fs.symlinkSync(join(outside, "secret"), join(root, "file"));
    fs.symlinkSync(outside, join(root, "dir"));
    fs.symlinkSync("..", join(root, "up"));
    const store = fileStore(root);
    for (const key of ["file", "dir/secret", `up/${outside.split("/").at(-1)}/secret`]) {
      await expect(store.get(k(key)), key).rejects.toMatchObject({ kind: "unsupported", reason: "outside" });
      await expect(store.stat(k(key)), key).rejects.toMatchObject({ reason: "outside" });
    }
    await expect(store.set(k("dir/new"), value)).rejects.toMatchObject({ reason: "outside" });
    await expect(store.set(k("dir/a/b/c"), value)).rejects.toMatchObject({ reason: "outside" });
    await expect(store.delete(k("dir/secret"))).rejects.toMatchObject({ reason: "outside" });
    await expect(store.children(Prefix.of("dir"))).rejects.toMatchObject({ reason: "outside" });
    expect(await keys(store)).toEqual([]);
    await store.set(k("file"), value); // takes the place of the link, not of what it leads to
    expect(fs.readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
    expect(fs.readdirSync(outside)).toEqual(["secret"]);
  });
  it("has links inside it that are followed, once round", async () => {
    const root = fresh();
    const store = await fill(fileStore(root), { "a/v": value });
    fs.symlinkSync("a", join(root, "b"));
    fs.symlinkSync("..", join(root, "a/loop"));
    fs.symlinkSync("nowhere", join(root, "dangling"));
    fs.symlinkSync("self", join(root, "self"));
    expect(await store.get(k("b/v"))).toEqual(value);
    expect(await store.get(k("dangling"))).toBe(undefined);
    await expect(store.get(k("self"))).rejects.toMatchObject({ kind: "unsupported" });
    expect(await keys(store)).toEqual(["a/v", "b/v"]);
  });
  it("may itself be a link, and may be made by the first write", async () => {
    const [root, link] = [fresh(), fresh()];
    fs.mkdirSync(root);
    fs.symlinkSync(root, link);
    await fileStore(link).set(k("v"), value);
    expect(await fileStore(root).get(k("v"))).toEqual(value);
    const deep = join(fresh(), "x/y");
    expect(await keys(fileStore(deep))).toEqual([]);
    await fileStore(deep).set(k("v"), value);
    expect(fs.readFileSync(join(deep, "v"))).toEqual(Buffer.from(value));
  });
});

describe("keys that would leave the root", () => {
  const names = ["..", ".", "", "a", "secret", "outside", "%2e%2e", "..\\", "/", "\0", "C:", "~", "．．"];
  const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));

  it("give nothing from outside, also to programs without types", async () => {
    const root = fresh();
    await fill(fileStore(root), { a: value, "a2/secret": value });
    const outside = `${root}-outside`;
    fs.mkdirSync(join(outside, "a"), { recursive: true });
    fs.writeFileSync(join(outside, "secret"), "secret");
    fs.writeFileSync(`${root}/../secret`, "secret");
    const store = fileStore(root);
    const escapes = [`../${outside.split("/").at(-1)}/secret`, "../secret", "a/../../secret", "/../secret", ".."];
    const tried = async (text: string) => {
      const key = text as Key;
      const calls = [async () => store.get(key), async () => store.stat(key), async () => store.pathOf(key)];
      for (const call of calls) {
        const found = await call().catch((error: unknown) => error);
        if (!Key.is(text)) expect(found, text).toMatchObject({ kind: "invalid-input" });
        else if (found instanceof Uint8Array) expect(found).toEqual(value);
      }
      const listed = await store.children(text as Prefix).catch((error: unknown) => error);
      if (Key.is(text.replace(/\/$/, "")) || /^\/?$/.test(text)) expect(listed).not.toHaveProperty("kind");
      else expect(listed, text).toMatchObject({ kind: "invalid-input" });
      for (const call of [async () => store.set(key, old), async () => store.delete(key)])
        if (!Key.is(text)) await expect(call(), text).rejects.toMatchObject({ kind: "invalid-input" });
    };
    for (const text of escapes) await tried(text);
    await fc.assert(fc.asyncProperty(path, tried), { numRuns: 500 });
    expect(fs.readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
    expect(fs.readFileSync(`${root}/../secret`, "utf8")).toBe("secret");
    expect(fs.readdirSync(outside).sort()).toEqual(["a", "secret"]);
  });
});

describe("what killed writers leave", () => {
  const leave = (root: string, name: string, hours: number) => {
    const path = join(root, name);
    fs.writeFileSync(path, "torn");
    const then = Date.now() / 1000 - hours * 3600;
    fs.utimesSync(path, then, then);
    return name;
  };
  it("goes with the next write beside it, if it is old and its process is gone", async () => {
    const root = fresh();
    await fill(fileStore(root), { v: old });
    const elsewhere = Owner.make().id.replace(/^.{8}/, "00000000");
    const stays = [
      leave(root, `v.${dead()}.partial`, 0.9),
      leave(root, `v.${elsewhere}.partial`, 2000),
      leave(root, `v.${dead()}.lock.partial`, 2),
      leave(root, "v.0123.partial", 2),
    ];
    leave(root, `v.${dead()}.partial`, 1.1);
    const store = fileStore(root);
    const sink = await store.write(k("w"));
    const [mine] = partials(root).filter((name) => String(name).startsWith("w.")) as string[];
    await sink.write(value);
    fs.utimesSync(join(root, mine!), 0, 0); // a write that has been waiting for long
    await fileStore(root).set(k("x"), value);
    expect(partials(root).sort()).toEqual([...stays, mine].sort());
    await sink.commit();
    expect(await store.get(k("w"))).toEqual(value);
  });
  it("is listed for those who ask", async () => {
    const root = fresh();
    const store = await fill(fileStore(root), { "a/v": old });
    leave(join(root, "a"), "v.0123.partial", 0);
    fs.mkdirSync(join(root, "x.partial"));
    const found: string[] = [];
    for await (const { key } of store.list(Prefix.root, { partial: true })) found.push(key);
    expect(found.sort()).toEqual(["a/v", "a/v.0123.partial"]);
    expect((await store.children(Prefix.of("a"), { partial: true })).keys).toEqual(["a/v", "a/v.0123.partial"]);
    expect(await keys(store)).toEqual(["a/v"]);
  });
});

describe("what is not a value", () => {
  it("directories, pipes and what is below a file are absent", async () => {
    const root = fresh();
    const store = await fill(fileStore(root), { "d/v": old });
    const { execFileSync } = await import("node:child_process");
    execFileSync("mkfifo", [join(root, "pipe")]);
    for (const key of ["d", "pipe", "d/v/x"]) {
      expect(await store.get(k(key)), key).toBe(undefined);
      expect(await store.stat(k(key)), key).toBe(undefined);
    }
    expect(await keys(store)).toEqual(["d/v"]);
  });
  it("a directory cannot become a value, nor a value a directory", async () => {
    const store = await fill(fileStore(fresh()), { "d/v": old });
    for (const condition of [undefined, { absent: true }] as const) {
      await expect(store.set(k("d"), value, { if: condition })).rejects.toMatchObject({ kind: "unsupported" });
      await expect(store.set(k("d/v/x"), value, { if: condition })).rejects.toMatchObject({ kind: "unsupported" });
    }
    expect(await keys(store)).toEqual(["d/v"]);
  });
  it("what a killed writer leaves is neither listed nor read nor a key", async () => {
    const root = fresh();
    const store = await fill(fileStore(root), { v: old });
    fs.writeFileSync(join(root, "v.0123.partial"), "torn");
    fs.mkdirSync(join(root, "x.partial"));
    fs.writeFileSync(join(root, "x.partial/y"), "torn");
    fs.writeFileSync(join(root, "back\\slash"), "no key");
    expect(await keys(store)).toEqual(["v"]);
    expect(await store.children(Prefix.root)).toEqual({ keys: ["v"], prefixes: [] });
    expect(await store.get(k("v.0123.partial"))).toBe(undefined);
    expect(await store.get(k("x.partial/y"))).toBe(undefined);
    await expect(store.set(k("w.partial"), value)).rejects.toMatchObject({ kind: "invalid-input" });
  });
  it("a name that is too long is InvalidInput", async () => {
    const store = fileStore(fresh());
    await expect(store.set(k("n".repeat(256)), value)).rejects.toMatchObject({ kind: "invalid-input" });
    await store.set(k("n".repeat(255)), value);
    await store.set(k(`d/${"層".repeat(85)}`), value, { if: { absent: true } });
    expect((await keys(store)).length).toBe(2);
  });
});

describe("versions", () => {
  it("of large values differ too, in the same moment and of the same size", async () => {
    const store = fileStore(fresh(), { durability: "none" });
    const seen = new Set<string | undefined>();
    for (let i = 0; i < 6; i++) {
      await store.set(k("v"), new Uint8Array(100_000).fill(i));
      seen.add((await store.stat(k("v")))?.version);
    }
    expect(seen.size).toBe(6);
  });
  it("a lock whose holder is dead is broken, one from elsewhere is not", async () => {
    const root = fresh();
    const store = await fill(fileStore(root), { v: old });
    const version = (await store.stat(k("v")))!.version!;
    const lock = join(root, "v.lock.partial");
    let mine = "";
    await locked(join(root, "v"), () => {
      mine = fs.readFileSync(lock, "utf8");
    });
    expect(Owner.isThisProcess(Owner.parse(mine)!)).toBe(true);
    fs.writeFileSync(lock, dead());
    await store.set(k("v"), value, { if: { version } });
    expect(await store.get(k("v"))).toEqual(value);
    expect(partials(root)).toEqual([]);
    for (const other of [dead().replace(/^.{8}/, "00000000"), "torn", "", `../../${dead()}`]) {
      fs.writeFileSync(lock, other);
      const waiting = locked(join(root, "v"), () => {}, { patience: 10 });
      await expect(waiting, other).rejects.toMatchObject({ kind: "limit-exceeded", reason: "locked" });
      expect(fs.readFileSync(lock, "utf8")).toBe(other);
    }
  });
});

describe("storage that fails", () => {
  function failure(code: string): NodeJS.ErrnoException {
    return Object.assign(new Error(`${code}: injected`), { code });
  }

  it("a full disk is LimitExceeded, leaves the old value and nothing else", async () => {
    const root = fresh();
    const store = await fill(fileStore(root), { v: old });
    vi.spyOn(fs, "writeSync").mockImplementation(() => {
      throw failure("ENOSPC");
    });
    await expect(store.set(k("v"), value)).rejects.toMatchObject({ kind: "limit-exceeded", reason: "disk-full" });
    const sink = await store.write(k("v"));
    await expect(sink.write(value)).rejects.toMatchObject({ reason: "disk-full" });
    await expect(sink.commit()).rejects.toMatchObject({ reason: "disk-full" });
    await sink.abort();
    vi.restoreAllMocks();
    expect(await store.get(k("v"))).toEqual(old);
    expect(partials(root)).toEqual([]);
  });

  it("a disk that is really full", async (context) => {
    const { execFileSync } = await import("node:child_process");
    const mount = fresh();
    fs.mkdirSync(mount);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", mount], { stdio: "ignore" });
    } catch {
      return context.skip("mounting a small file system needs more rights than this user has");
    }
    try {
      const store = await fill(fileStore(mount), { v: old });
      await expect(store.set(k("v"), new Uint8Array(4 << 20))).rejects.toMatchObject({ reason: "disk-full" });
      const sink = await store.write(k("v"));
      const pieces = (async () => {
        for (let i = 0; i < 100; i++) await sink.write(new Uint8Array(1 << 16));
      })();
      await expect(pieces).rejects.toMatchObject({ kind: "limit-exceeded", reason: "disk-full" });
      expect(await store.get(k("v"))).toEqual(old);
      expect(partials(mount)).toEqual([]);
      await store.set(k("w"), new Uint8Array(1 << 19)); // the room is there again
    } finally {
      execFileSync("umount", [mount]);
    }
  });

  it("what the system forbids is Unsupported, a short read is Corrupt", async () => {
    const store = await fill(fileStore(fresh()), { v: old, large: new Uint8Array(1 << 20) });
    vi.spyOn(fs, "openSync").mockImplementation(() => {
      throw failure("EACCES");
    });
    await expect(store.get(k("v"))).rejects.toMatchObject({ kind: "unsupported", reason: "forbidden" });
    vi.restoreAllMocks();
    const { fstatSync } = fs;
    vi.spyOn(fs, "fstatSync").mockImplementation(((fd: number) =>
      Object.assign(fstatSync(fd), { size: 2 << 20 })) as unknown as typeof fs.fstatSync);
    await expect(store.get(k("v"))).rejects.toMatchObject({ kind: "corrupt", reason: "cut" });
    await expect(store.get(k("large"))).rejects.toMatchObject({ kind: "corrupt", reason: "cut" });
  });

  const calls = [
    "mkdirSync",
    "openSync",
    "writeSync",
    "write",
    "fsync",
    "closeSync",
    "renameSync",
    "linkSync",
    "rmSync",
    "unlinkSync",
    "statSync",
    "readFileSync",
    "writeFileSync",
  ] as const;

  /** Lets the n-th call fail; gives the name of the call that did. */
  function failAt(n: number): { failed?: string } {
    const outcome: { failed?: string } = {};
    let count = 0;
    for (const name of calls) {
      const real = fs[name] as (...args: unknown[]) => unknown;
      vi.spyOn(fs, name).mockImplementation(((...args: unknown[]) => {
        if (++count !== n) return real(...args);
        outcome.failed = name;
        const last = args.at(-1);
        if (typeof last === "function") return last(failure("EIO"));
        throw failure("EIO");
      }) as never);
    }
    return outcome;
  }

  for (const kind of ["new", "replace", "absent", "version", "sink"] as const) {
    it(`every call of a write fails once (${kind}): before or after, no partial, and a retry works`, async () => {
      const bytes = new Uint8Array(kind === "sink" ? 300_000 : 5).fill(7);
      let n = 1;
      for (; ; n++) {
        const root = fresh();
        const store = fileStore(root);
        const key = k("a/b/v");
        const before = kind === "new" || kind === "absent" ? undefined : old;
        if (before) await store.set(key, before);
        const version = (await store.stat(key))?.version ?? "";
        const write = async () => {
          if (kind === "absent") return store.set(key, bytes, { if: { absent: true } });
          if (kind === "version") return store.set(key, bytes, { if: { version } });
          if (kind !== "sink") return store.set(key, bytes);
          const sink = await store.write(key);
          await sink.write(bytes);
          return sink.commit();
        };
        const outcome = failAt(n);
        const error = await write().then(
          () => undefined,
          (error: unknown) => error,
        );
        vi.restoreAllMocks();
        const found = await store.get(key);
        const isAfter = found?.length === bytes.length;
        expect(isAfter || found?.length === before?.length, `${n} ${outcome.failed}`).toBe(true);
        if (error !== undefined) expect(error, `${n} ${outcome.failed}`).toBeInstanceOf(OctavoError);
        else expect(isAfter).toBe(true);
        if (fs.existsSync(root) && !/^(rm|unlink)/.test(outcome.failed ?? ""))
          expect(partials(root), `${n} ${outcome.failed}`).toEqual([]);
        if (!isAfter) await write();
        expect(Buffer.compare((await store.get(key))!, bytes)).toBe(0);
        if (outcome.failed === undefined) break;
      }
      expect(n).toBeGreaterThan(6);
    });
  }
});

describe("what was begun and given up", () => {
  it("leaves no folders behind, and not the root where there was none", async () => {
    const root = fresh();
    const store = fileStore(root);
    const sink = await store.write(Key.of("a/b/c"));
    await sink.write(Uint8Array.of(1));
    expect(fs.existsSync(join(root, "a/b"))).toBe(true);
    await sink.abort();
    expect(fs.existsSync(root)).toBe(false);
    await store.set(Key.of("a/kept"), Uint8Array.of(1));
    await (await store.write(Key.of("a/d/e"))).abort();
    expect(fs.readdirSync(join(root, "a"))).toEqual(["kept"]);
  });
});
