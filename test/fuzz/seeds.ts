/** Good bytes to start from: files of the golden data, and small chunks of every character. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type FixtureSet, fixtures } from "../fixtures.js";
import { random } from "./mutate.js";

const SMALL = 8192; // a change in a large file mostly hits what no decoder looks at

/** The small files of a set whose path matches, smallest first, each content once. */
export function files(set: FixtureSet, path: RegExp, most = 60): Uint8Array[] {
  const folder = fixtures(set);
  const found = new Map<string, Uint8Array>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !path.test(full.slice(folder.length + 1))) continue;
    const bytes = readFileSync(full);
    if (bytes.length <= SMALL) found.set(bytes.toString("latin1"), new Uint8Array(bytes));
  }
  return [...found.values()].sort((a, b) => a.length - b.length).slice(0, most);
}

/** 2048 bytes each: one value, counting int32, few values at random, noise. */
export function chunks(): Uint8Array[] {
  const dice = random(1);
  const counting = new Uint8Array(Int32Array.from({ length: 512 }, (_, i) => i * 3 - 100).buffer);
  return [
    new Uint8Array(2048).fill(7),
    counting,
    Uint8Array.from({ length: 2048 }, () => dice.below(3)),
    Uint8Array.from({ length: 2048 }, () => dice.below(256)),
  ];
}

/** Twenty strings: empty, long, beyond ASCII. */
export const texts = (): string[] =>
  Array.from({ length: 20 }, (_, i) => (i % 3 === 0 ? "" : i % 3 === 1 ? `é😀 ${i}` : "x".repeat(i * i)));

const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

/** What Python's lzma makes of the first two chunks; raw and delta with filters [delta 4, LZMA2]. */
export const lzma = {
  xz: [
    "/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4Af/ABFdAAPv+7/+o7Fe5fg/sqiBk5YAAAAAALke9YsAASmAEAAAAC5nCQI+MA2LAgAAAAABWVo=",
    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4Af/ABFdAAPv+7/+o7Fe5fg/sqiBk5YAAAAAAKCD14bwquSNAAEtgBAAAAA4JZiZscRn+wIAAAAABFla",
    "/Td6WFoAAArh+wyhAgAhARYAAAB0L+Wj4Af/ABFdAAPv+7/+o7Fe5fg/sqiBk5YAAAAAAOT96J85vFO5Dpk1qAFbgN1uQTVIXolAlKNRf6JQ40SuAAFFgBAAAAAPqD99tunfHAIAAAAAClla",
    "/Td6WFoAAATm1rRGAgEDAQMhARCiKhIV4Af/AChdAE4/8ABgDKSu/Gic0DFuapIB6gPdIH59HRLVDpLnIqfde+xLUMu5cAAAonI9O89pWhUAAUSAEAAAAKp7Y7axxGf7AgAAAAAEWVo=",
  ].map(fromBase64),
  alone: ["XQAAgAD//////////wAD7/u//qOxXuX4P7Kogpbbnv//iioAAA=="].map(fromBase64),
  raw: [
    "4Af/ABRdAAPofDf/4P9cOTzQPpDXEUZO1gAAAA==",
    "4Af/AChdAE4/8ABgDKSu/Gic0DFuapIB6gPdIH59HRLVDpLnIqfde+xLUMu5cAAA",
  ].map(fromBase64),
};

/** Python's zipfile: a stored, a deflated, a zip64 and an empty entry with a name in UTF-8. */
export const zip = fromBase64(
  "UEsDBBQAAAAAAAAAIQCGphA2BQAAAAUAAAAFAAAAYS50eHRoZWxsb1BLAwQUAAAACAAAACEAEy1DGwcAAAAsAQAAAwAAAGIvY6uoGAXEAgBQSwMELQAA" +
    "AAAAAAAhAGq6N8///////////wEAFABkAQAQAAUAAAAAAAAABQAAAAAAAAB6aXA2NFBLAwQUAAAIAAAAACEAAAAAAAAAAAAAAAAAAgAAAMOpUEsBAhQD" +
    "FAAAAAAAAAAhAIamEDYFAAAABQAAAAUAAAAAAAAAAAAAAIABAAAAAGEudHh0UEsBAhQDFAAAAAgAAAAhABMtQxsHAAAALAEAAAMAAAAAAAAAAAAAAIAB" +
    "KAAAAGIvY1BLAQItAy0AAAAAAAAAIQBqujfPBQAAAAUAAAABAAAAAAAAAAAAAACAAVAAAABkUEsBAhQDFAAACAAAAAAhAAAAAAAAAAAAAAAAAAIAAAAA" +
    "AAAAAAAAAIABiAAAAMOpUEsFBgAAAAAEAAQAwwAAAKgAAAAAAA==",
);

/** Images of test/golden/images.json: as they were written, by the codec and the channels. */
export function images(codec: "jpeg" | "png", channels: number): { shape: number[]; encoded: Uint8Array }[] {
  const path = new URL("../golden/images.json", import.meta.url);
  const { cases } = JSON.parse(readFileSync(path, "utf8")) as {
    cases: { codec: string; dtype: string; shape: number[]; encoded: string }[];
  };
  return cases
    .filter(({ codec: name, dtype, shape }) => name === codec && dtype === "|u1" && shape[0] === channels)
    .map(({ shape, encoded }) => ({ shape, encoded: fromBase64(encoded) }));
}
