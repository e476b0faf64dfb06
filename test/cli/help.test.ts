/** Help, completion and the words for wrong calls. */
import { execFileSync, spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { verbs } from "../../src/cli/verbs.js";
import { build, octavo, root } from "./run.js";

beforeAll(build);

describe("help", () => {
  test("fits one screen", async () => {
    const { code, stdout } = await octavo(["--help"]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    for (const { name } of verbs) expect(stdout).toMatch(new RegExp(`^  ([a-z]+, )*${name}\\b`, "m"));
    expect(stdout.replace(/\d+\.\d+\.\d+/, "VERSION")).toMatchSnapshot();
  });

  test.each(verbs.map(({ name }) => name))("%s has a page with three examples", async (name) => {
    const { code, stdout } = await octavo([name, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatchSnapshot();
    const examples = stdout.split("\nexamples\n")[1]!.trimEnd().split("\n");
    expect(examples.length).toBe(6);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await octavo(["help", name])).stdout).toBe(stdout);
  });

  test("no verb at all is a wrong call that shows the help", async () => {
    const { code, stdout } = await octavo([]);
    expect([code, stdout.includes("usage:")]).toEqual([2, true]);
  });

  test("--version", async () => {
    expect((await octavo(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

test("flags may stand before the verb", async () => {
  const page = (await octavo(["info", "--help"])).stdout;
  expect((await octavo(["-qv", "--no-color", "--help", "info"])).stdout).toBe(page);
  const { code, stderr } = await octavo(["-v", "info", "nothing-here"]);
  expect([code, /\n {4}at /.test(stderr)]).toEqual([3, true]);
});

describe("wrong calls", () => {
  test.each([
    [["inof", "x"], 'octavo: there is no verb "inof"\n  did you mean info?\n'],
    [["info", "x", "--jsno"], "octavo: there is no option --jsno\n  did you mean --json?\n"],
    [["info"], "octavo: URL is missing: octavo info URL\n  octavo info --help shows examples\n"],
    [
      ["publish", "a", "b", "c"],
      'octavo: "c" is one too many: octavo publish STORE OUT\n  octavo publish --help shows examples\n',
    ],
    [["--json", "-v"], "octavo: the verb comes first: octavo VERB --json …\n"],
    [["--json", "info"], "octavo: URL is missing: octavo info URL\n  octavo info --help shows examples\n"],
    [["validate", "x", "--level", "9"], 'octavo: --level: expected 1, 2, 3, 4, 5, found "9"\n'],
    [["convert", "a", "b", "--resume", "--overwrite"], /^octavo: --resume keeps .* give one of them\n$/],
    [["info", "x", "--as", "tiff"], /^octavo: there is no format "tiff"/],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await octavo(args);
    expect([code, stdout]).toEqual([2, ""]);
    if (typeof message === "string") expect(stderr).toBe(message);
    else expect(stderr).toMatch(message);
  });
});

describe("completion", () => {
  test.each(["bash", "zsh", "fish"])("%s", async (shell) => {
    const { code, stdout } = await octavo(["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toMatchSnapshot();
    if (spawnSync(shell, ["-c", "true"]).status === 0) execFileSync(shell, ["-n"], { input: stdout });
  });

  test("bash completes verbs, options and choices", async () => {
    const { stdout: script } = await octavo(["completion", "bash"]);
    const complete = (...words: string[]): string[] => {
      const program = `${script}\nCOMP_WORDS=(octavo ${words.map((word) => `'${word}'`).join(" ")})\nCOMP_CWORD=${words.length}\n_octavo\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", program], { cwd: root, encoding: "utf8" }).trim().split("\n");
    };
    expect(complete("inf")).toEqual(["info"]);
    expect(complete("info", "--js")).toEqual(["--json"]);
    expect(complete("demo", "--js")).toEqual([""]);
    expect(complete("validate", "--level", "")).toEqual(["1", "2", "3", "4", "5"]);
    expect(complete("completion", "z")).toEqual(["zsh"]);
    expect(complete("info", "package.j")).toEqual(["package.json"]);
  });
});

describe("the launcher", () => {
  test("works through a link, from anywhere", () => {
    const program = `cd / && ln -s '${root}octavo' "$1" && "$1" --version; rm "$1"`;
    const link = `/tmp/octavo-link-${process.pid}`;
    expect(execFileSync("sh", ["-c", program, "sh", link], { encoding: "utf8" })).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("says what is missing where there is no Node", () => {
    const { status, stderr } = spawnSync("/bin/sh", [`${root}octavo`], {
      env: { PATH: "/nonexistent" },
      encoding: "utf8",
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/needs Node 20\.16 or newer/);
  });
});
