import { describe, expect, test } from "vitest";
import { InvalidInput } from "../errors.js";
import { choice, count, flag, flagOr, id, list, nearest, numbers, parse, shape, size, text, value } from "./args.js";

const options = {
  output: text("FILE", "where to", "o"),
  chunk: value("SHAPE", "chunk shape", shape),
  to: choice(["zarr2", "zarr3"], "format"),
  quiet: flag("silence", "q"),
  verbose: flag("talk", "v"),
};

describe("arguments", () => {
  test("every way to spell an option, and operands between them", () => {
    const { options: found, operands } = parse(options, [
      "a",
      "-qv",
      "--chunk=4,5",
      "-ox.npy",
      "--to",
      "zarr3",
      "-",
      "--",
      "-b",
    ]);
    expect(found).toEqual({ output: "x.npy", chunk: [4, 5], to: "zarr3", quiet: true, verbose: true });
    expect(operands).toEqual(["a", "-", "-b"]);
  });

  test("lists, also in several times; flags that may say more", () => {
    const table = { object: list("ID", "", id), clip: flagOr(["vertices"], ""), box: value("B", "", numbers) };
    const { options: found, operands } = parse(table, [
      "--object",
      "1, 2",
      "--clip",
      "a",
      "--object=-3",
      "--box",
      "-1,2e3",
    ]);
    expect([found, operands]).toEqual([{ object: [1n, 2n, -3n], clip: true, box: [-1, 2000] }, ["a"]]);
    expect(parse(table, ["--clip=vertices", "--object", ""]).options).toMatchObject({ clip: "vertices", object: [] });
    expect(() => parse(table, ["--clip=faces"])).toThrow('--clip: expected vertices, found "faces"');
    expect(() => parse(table, ["--object", "1.5"])).toThrow('--object: expected an id such as 42, found "1.5"');
    expect(() => parse(table, ["--box", "1,,2"])).toThrow('--box: expected a number such as -1.5, found ""');
  });

  test("a value may begin with a dash", () => {
    expect(parse({ slice: text("S", "") }, ["--slice", "-3:"]).options.slice).toBe("-3:");
  });

  test.each([
    [["--chnk", "4"], /no option --chnk/, /did you mean --chunk\?/],
    [["--to", "zarr4"], /--to: expected zarr2, zarr3, found "zarr4"/, /did you mean zarr[23]\?/],
    [["--chunk"], /--chunk needs a value: --chunk SHAPE/, undefined],
    [["--chunk", "4,-1"], /--chunk: expected positive numbers/, undefined],
    [["--quiet=yes"], /--quiet takes no value, found "yes"/, undefined],
    [["-x"], /no option -x/, undefined],
    [["--constructor"], /no option --constructor/, undefined],
  ])("%j is refused", (args, message, hint) => {
    const error = caught(() => parse(options, args));
    expect(error).toBeInstanceOf(InvalidInput);
    expect(error.message).toMatch(message);
    if (hint === undefined) expect(error.hint).toBeUndefined();
    else expect(error.hint).toMatch(hint);
  });

  test("counts, sizes and near words", () => {
    expect(["0", "12"].map(count)).toEqual([0, 12]);
    for (const bad of ["", "-1", "1.5", "x"]) expect(() => count(bad)).toThrow(InvalidInput);
    expect(["4096", "512M", "1.5G", "2KiB", "1gb"].map(size)).toEqual([4096, 2 ** 29, 1.5 * 2 ** 30, 2048, 2 ** 30]);
    for (const bad of ["", "0", "M", "1X", "-1", "1e9", "9999999T"]) expect(() => size(bad)).toThrow(InvalidInput);
    expect(nearest("inof", ["info", "ls"]).hint).toBe("did you mean info?");
    expect(nearest("zebra", ["info", "ls"]).hint).toBeUndefined();
  });
});

function caught(call: () => unknown): InvalidInput {
  try {
    call();
  } catch (error) {
    return error as InvalidInput;
  }
  throw new Error("nothing was thrown");
}
