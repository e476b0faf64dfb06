import { describe, expect, test } from "vitest";
import { toJson } from "../convert/json/text.js";
import { bytesText, table, visible } from "./output.js";
import { createReport } from "./progress.js";

describe("output", () => {
  test("big integers and odd floats are strings; __proto__ is data", () => {
    expect(toJson({ a: 2n ** 53n, b: 5n, c: Number.NaN, d: JSON.parse('{"__proto__":1}') })).toBe(
      '{"a":"9007199254740992","b":5,"c":"NaN","d":{"__proto__":1}}',
    );
  });

  test("control characters never reach the terminal, colours do", () => {
    expect(visible("a\x1b]0;x\x07b\r\n\x1b[31mc\u202e")).toBe("a\\u001b]0;x\\u0007b\\u000d\n\x1b[31mc\\u202e");
  });

  test("columns line up, numbers at their end, colours take no room", () => {
    expect(
      table(
        [
          ["\x1b[1ma\x1b[22m", "1"],
          ["long", "100"],
        ],
        [1],
      ),
    ).toEqual(["\x1b[1ma\x1b[22m       1", "long  100"]);
    expect([0, 999, 1000, 1234567, 5e15].map(bytesText)).toEqual(["0 B", "999 B", "1 kB", "1.23 MB", "5 PB"]);
  });
});

describe("progress", () => {
  const reporting = (mode: "line" | "json") => {
    let clock = 0;
    const parts: string[] = [];
    const report = createReport(
      mode,
      (part) => void parts.push(part),
      () => clock,
    );
    const at = (ms: number): void => {
      clock = ms;
    };
    return { report, at, text: () => parts.join("") };
  };

  test("nothing within the first second, then a line that goes away", () => {
    const { report, at, text } = reporting("line");
    at(900);
    report.update({ done: 1, total: 4, unit: "chunks" });
    expect(text()).toBe("");
    at(2000);
    report.update({ done: 2, total: 4, unit: "chunks" });
    expect(text()).toMatch(/50 % · 2 of 4 chunks · 1\/s · 2 s left · .* memory$/);
    report.end();
    expect(text().endsWith("\r\x1b[K")).toBe(true);
  });

  test("none is none", () => {
    const parts: string[] = [];
    const report = createReport("none", (part) => void parts.push(part));
    report.update({ done: 1, total: 1, unit: "bytes" });
    report.end();
    expect(parts).toEqual([]);
  });

  test("NDJSON ends with the last state", () => {
    const { report, at, text } = reporting("json");
    for (const done of [1, 2, 3]) {
      at(done * 100);
      report.update({ done, total: 3, unit: "bytes" });
    }
    report.end();
    const lines = text()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.done)).toEqual([1, 3]);
    expect(lines[1]).toMatchObject({ total: 3, unit: "bytes", secondsLeft: 0 });
  });
});
