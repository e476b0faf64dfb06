/** Files that are too large to be held become the same stores as those that are not. */
import { describe, expect, it } from "vitest";
import { SIDE, same, sameProblem, square } from "../../test/passing.js";

function binaryStl(normals: boolean, more: boolean): Buffer {
  const { at, faces } = square(1);
  const bytes = Buffer.alloc(84 + 50 * faces.length, 0);
  bytes.write("made here");
  bytes.writeUInt32LE(faces.length, 80);
  for (const [i, face] of faces.entries()) {
    const start = 84 + 50 * i;
    for (let k = 0; k < 3; k++) bytes.writeFloatLE(normals ? i / (k + 1) : 0, start + 4 * k);
    for (const [corner, v] of face.entries())
      for (const [k, value] of at(v).entries())
        bytes.writeFloatLE(value === 0 && i % 2 === 1 ? -0 : value, start + 12 + 12 * corner + 4 * k);
    bytes.writeUInt16LE(more ? i : 0, start + 48);
  }
  return bytes;
}

function solid(name: string, seed: number, count: number): string {
  const { at, faces } = square(seed);
  const text = faces.slice(0, count).map((face) => {
    const corners = face.map((v) => `vertex ${at(v).join(" ")}\n`).join("");
    return `facet normal 0 0 1\nouter loop\n${corners}endloop\nendfacet\n`;
  });
  return `solid ${name}\n${text.join("")}endsolid ${name}\n`;
}

describe("STL", () => {
  it.each([
    [false, false],
    [true, true],
  ])("binary, normals %s, attributes %s", async (normals, more) => {
    expect((await same("a.stl", binaryStl(normals, more))).vertices).toBe(SIDE * SIDE);
  });
  it("binary, in format 0.7.0, with chunks that are asked for", async () => {
    await same("a.stl", binaryStl(true, false), { formatVersion: "0.7.0", chunkShape: [7, 7, 7] });
  });
  it("binary, with coarser levels", async () => {
    await same("a.stl", binaryStl(true, false), { chunkShape: [9, 9, 9], pyramid: { levels: 1 } });
  });
  it.each([["a", "b"], ["12", "7"], [""]])("text with the solids %s, %s", async (...names) => {
    const text = names.map((name, i) => solid(name, i, 300 + i)).join("");
    await same("a.stl", `${text}solid empty\nendsolid\n`);
    await same("a.stl", text, { ids: "dense" });
  });
  it("damage", async () => {
    const [bytes, corner] = [binaryStl(true, true), (triangle: number, k: number) => 84 + 50 * triangle + 12 + 12 * k];
    for (const triangle of [40, 41, 900]) bytes.writeFloatLE(Number.NaN, corner(triangle, 1)); // some at the same place
    bytes.copyWithin(corner(1000, 2), corner(40, 1), corner(40, 2));
    bytes.writeFloatLE(Number.NEGATIVE_INFINITY, corner(7, 0) + 8);
    bytes.writeFloatLE(Number.NaN, 84); // a normal
    expect(await sameProblem("a.stl", bytes)).toMatch(/byte 434: a vertex has the coordinate -Infinity/);
    for (let triangle = 0; triangle < 1682; triangle++)
      for (let k = 0; k < 3; k++) bytes.writeFloatLE(Number.NaN, corner(triangle, k));
    expect(await sameProblem("a.stl", bytes)).toMatch(/byte 84: a vertex has the coordinate NaN/);
    const text = `${solid("a", 1, 300)}${solid("b", 2, 300).replaceAll("vertex 1 ", "vertex nan ")}${solid("c", 3, 2).replaceAll("vertex", "vertex inf")}`;
    expect(await sameProblem("a.stl", text.replaceAll(/vertex inf .*(?= )/g, "vertex inf 0"))).toMatch(
      /line \d+: a vertex has the coordinate NaN/,
    );
    expect(await sameProblem("a.stl", text)).toMatch(/line \d+/);
    expect(await sameProblem("a.stl", text.slice(0, -40))).toMatch(/Corrupt/);
  });
});

interface PlyParts {
  readonly format: "ascii" | "binary_little_endian" | "binary_big_endian";
  /** Faces before vertices. */
  readonly backwards?: boolean;
  readonly polygons?: boolean;
  readonly side?: number;
  /** At the end of each line. */
  readonly blanks?: number;
  readonly ids?: (vertex: number) => number;
  readonly z?: (vertex: number, z: number) => number;
  readonly end?: (face: number, vertex: number) => number;
}

/** A square with normals, colours and an element that nobody reads. */
function ply({
  format,
  backwards,
  polygons,
  side = SIDE,
  blanks = 0,
  ids,
  z = (_, own) => own,
  end = (_, v) => v,
}: PlyParts): Buffer {
  const { at, faces } = square(2, side);
  const little = format === "binary_little_endian";
  const [rows, lines]: [Buffer[], string[]] = [[], []];
  const put = (...numbers: readonly (readonly [type: string, value: number])[]): void => {
    lines.push(numbers.map(([, value]) => value).join(" "));
    for (const [type, value] of numbers) {
      const own = new DataView(new ArrayBuffer({ uchar: 1, short: 2, int: 4, float: 4, double: 8 }[type]!));
      if (type === "uchar") own.setUint8(0, value);
      else if (type === "short") own.setInt16(0, value, little);
      else if (type === "int") own.setInt32(0, value, little);
      else if (type === "float") own.setFloat32(0, value, little);
      else own.setFloat64(0, value, little);
      rows.push(Buffer.from(own.buffer));
    }
  };
  /** A whole number at the end of the row. */
  const more = (value: number): void => {
    const row = lines.pop();
    put(["int", value]);
    lines.push(`${row} ${lines.pop()}`);
  };
  const vertices = (): void => {
    for (let v = 0; v < side * side; v++) {
      const [x, y, own] = at(v) as [number, number, number];
      put(
        ["double", x],
        ["double", y],
        ["double", z(v, own)],
        ["uchar", v % 256],
        ["uchar", 7],
        ["uchar", (v >> 2) & 255],
        ["float", v / 8],
      );
      if (ids) more(ids(v));
    }
  };
  const links = (): void => {
    for (const [f, face] of faces.entries()) {
      const own =
        polygons && f % 5 === 0
          ? [...face, (face[0]! + 3) % (side * side)]
          : polygons && f % 7 === 0
            ? face.slice(1)
            : face;
      put(["uchar", own.length], ...own.map((v) => ["int", end(f, v)] as const), ["short", f % 30_000]);
    }
  };
  const elements = [
    `element vertex ${side * side}\n${["double x", "double y", "double z", "uchar red", "uchar green", "uchar blue", "float w", ...(ids ? ["int object_id"] : [])].map((own) => `property ${own}\n`).join("")}`,
    `element face ${faces.length}\nproperty list uchar int vertex_indices\nproperty short label\n`,
  ];
  if (backwards) elements.reverse();
  if (backwards) links();
  vertices();
  if (!backwards) links();
  put(["uchar", 2], ["float", 0.5], ["float", 0.25]);
  const head = `ply\nformat ${format} 1.0\ncomment made here\n${elements.join("")}element more 1\nproperty list uchar float own\nend_header\n`;
  return Buffer.concat([
    Buffer.from(head),
    format === "ascii"
      ? Buffer.from(lines.map((line) => `${line}${" ".repeat(blanks)}\n`).join(""))
      : Buffer.concat(rows),
  ]);
}

describe.each(["binary_little_endian", "binary_big_endian", "ascii"] as const)("PLY, %s", (format) => {
  it("faces and attributes", async () => {
    expect((await same("a.ply", ply({ format }))).vertices).toBe(SIDE * SIDE);
    await same("a.ply", ply({ format }), { formatVersion: "0.7.0", dtype: "float32" });
    await same("a.ply", ply({ format }), { chunkShape: [9, 9, 9], pyramid: { levels: 1 } });
  });
  it("polygons, and faces before vertices", async () => {
    const report = await same("a.ply", ply({ format, polygons: true }));
    expect(report.losses.join()).toMatch(/element more.*polygons of more than three.*of fewer than three/);
    expect(await same("a.ply", ply({ format, polygons: true, backwards: true }))).toEqual(report);
  });
  it("more than is decoded at once", async () => {
    await same("a.ply", ply({ format, side: 190, blanks: 80 }), {}, 1 << 20);
  });
  it("vertices that say of which object they are", async () => {
    const twoHalves = (v: number) => (v < 450 ? 7 : 3);
    const apart = { format, ids: twoHalves, end: (f: number, v: number) => (f % 2 === 0 ? v % 450 : 450 + (v % 450)) };
    expect((await same("a.ply", ply(apart))).objects).toBe(2);
    expect((await same("a.ply", ply({ ...apart, backwards: true }), { ids: "dense" })).objects).toBe(2);
    expect((await same("a.ply", ply({ format, ids: twoHalves }))).objects).toBe(1); // faces between them
    expect((await same("a.ply", ply({ ...apart, ids: (v) => v % 2 }))).objects).toBe(1);
  });
  it("damage", async () => {
    const nowhere = (v: number, z: number) => (v === 17 || v === 400 ? Number.NaN : z);
    expect(await sameProblem("a.ply", ply({ format, z: nowhere }))).toMatch(
      /vertex 17.*a vertex has the coordinate NaN/,
    );
    const beyond = (f: number, v: number) => (f === 40 ? 9000 : f === 50 ? -1 : v);
    expect(await sameProblem("a.ply", ply({ format, end: beyond, polygons: true }))).toMatch(
      /face 40.*points to vertex 9000/,
    );
    const both = { format, end: beyond, z: nowhere, ids: (v: number) => (v === 17 ? 5 : 1) };
    expect(await sameProblem("a.ply", ply(both))).toMatch(/vertex 17/);
    expect(await sameProblem("a.ply", ply({ ...both, backwards: true }))).toMatch(/vertex 17/);
    const bytes = ply({ format });
    for (const left of [10, 5000, bytes.length / 2, bytes.length - 300]) {
      const cut = bytes.subarray(0, bytes.length - left);
      expect(await sameProblem("a.ply", cut, 10_000)).toMatch(/Corrupt/);
    }
    const shrunk = Buffer.from(bytes.toString("latin1").replace("element vertex 900", "element vertex 90"), "latin1");
    expect(await sameProblem("a.ply", shrunk)).toMatch(/Corrupt/);
  });
});

/** A list of edges with an attribute; `z` and `end` as above. */
function plyEdges({ format, z = (_, own) => own, end = (_, v) => v }: PlyParts): Buffer {
  const [vertices, edges] = [500, 1200];
  const rows: number[][] = [];
  for (let v = 0; v < vertices; v++) rows.push([v % 25, Math.floor(v / 25), z(v, v / 8)]);
  for (let e = 0; e < edges; e++) rows.push([end(e, (e * 7) % vertices), end(e, (e * 13 + 1) % vertices), e]);
  const head = `ply\nformat ${format} 1.0\nelement vertex ${vertices}\nproperty float x\nproperty float y\nproperty float z
element edge ${edges}\nproperty int vertex1\nproperty int vertex2\nproperty int label\nend_header\n`;
  if (format === "ascii") return Buffer.from(head + rows.map((row) => `${row.join(" ")}\n`).join(""));
  const view = new DataView(new ArrayBuffer(12 * rows.length));
  const little = format === "binary_little_endian";
  for (const [r, row] of rows.entries())
    for (const [k, value] of row.entries())
      if (r < vertices) view.setFloat32(12 * r + 4 * k, value, little);
      else view.setInt32(12 * r + 4 * k, value, little);
  return Buffer.concat([Buffer.from(head), new Uint8Array(view.buffer)]);
}

describe.each(["binary_little_endian", "binary_big_endian", "ascii"] as const)("PLY with edges, %s", (format) => {
  it("becomes a graph", async () => {
    expect(await same("a.ply", plyEdges({ format }))).toMatchObject({ vertices: 500, objects: 1, losses: [] });
    await same("a.ply", plyEdges({ format }), { formatVersion: "0.7.0", chunkShape: [9, 9, 9] });
  });
  it("damage", async () => {
    const nowhere = plyEdges({ format, z: (v, own) => (v % 100 === 3 ? Number.NaN : own) });
    expect(await sameProblem("a.ply", nowhere)).toMatch(/vertex 3.*has the coordinate NaN/);
    expect(await sameProblem("a.ply", plyEdges({ format, z: () => Number.NaN }))).toMatch(/vertex 0.*NaN/);
    const beyond = plyEdges({ format, end: (e, v) => (e === 40 ? -1 : e === 50 ? 500 : v) });
    expect(await sameProblem("a.ply", beyond)).toMatch(/edge 40.*an edge points to vertex -1/);
  });
});

it("--strict refuses what is lost, held or passing", async () => {
  const strict = { strict: true };
  expect(await sameProblem("a.ply", ply({ format: "ascii", polygons: true }), 30_000, strict)).toMatch(
    /would be lost.*the element more is left out \(and 2 more\)/,
  );
  expect(await sameProblem("a.obj", obj({}), 30_000, strict)).toMatch(/1 lines of "mtllib"/);
  const bad = ply({ format: "ascii", z: (v, own) => (v === 17 ? Number.NaN : own) });
  expect(await sameProblem("a.ply", bad, 30_000, strict)).toMatch(/vertex 17/);
  expect((await same("a.stl", binaryStl(true, true), strict)).losses).toEqual([]);
});

interface ObjParts {
  readonly normals?: "agree" | "differ";
  readonly colors?: boolean;
  /** What comes before a face. */
  readonly words?: (face: number) => string;
  /** Faces before vertices. */
  readonly backwards?: boolean;
  readonly z?: (vertex: number, z: number) => number;
  readonly end?: (face: number, vertex: number) => number;
  readonly blanks?: number;
}

function obj({ normals, colors, words = () => "", backwards, z, end = (_, v) => v, blanks = 0 }: ObjParts): string {
  const { at, faces } = square(3);
  const vertices = Array.from({ length: SIDE * SIDE }, (_, v) => {
    const [x, y, own] = at(v) as [number, number, number];
    const color = colors && v % 3 > 0 ? ` 0.5 ${v / 1000} 1` : "";
    const normal = normals ? `vn 0 ${v / 8} 1\nvt 0.5${v % 2 === 0 ? "" : ` ${v}`}\n` : "";
    return `v ${x} ${y} ${z?.(v, own) ?? own}${color}${" ".repeat(blanks)}\n${normal}`;
  });
  const corner = (f: number, v: number, k: number): string => {
    const own = end(f, v) + 1;
    if (normals === undefined || f % 11 === 3) return `${own}`;
    const other = normals === "differ" && f === 100 && k === 1 ? 7 : v + 1;
    return f % 2 === 0 ? `${own}/${v + 1}/${other}` : backwards ? `${own}//${other}` : `${v - 900}//${other}`;
  };
  const lines = faces.map((face, f) => {
    const own = f % 5 === 0 ? [...face, (face[0]! + 3) % (SIDE * SIDE)] : face;
    return `${words(f)}f ${own.map((v, k) => corner(f, v, k)).join(f % 7 === 0 ? " \\\n" : " ")}\n`;
  });
  const all = backwards ? [...lines, ...vertices] : [...vertices, ...lines];
  return `# made here\nmtllib none\n${all.join("")}`;
}

/** Paths that share vertices, some of which go back. */
function objLines({ words = () => "", backwards, z, end = (_, v) => v, blanks = 0 }: ObjParts): string {
  const { at } = square(5);
  const vertices = Array.from({ length: SIDE * SIDE }, (_, v) => {
    const [x, y, own] = at(v) as [number, number, number];
    return `v ${x} ${y} ${z?.(v, own) ?? own}${v % 3 > 0 ? ` 0.5 ${v / 1000} 1` : ""}${" ".repeat(blanks)}\n`;
  });
  const paths = Array.from({ length: 300 }, (_, i) => {
    const own = Array.from({ length: 2 + (i % 9) }, (_, k) => ((i * 29) % 700) + (i % 2 === 0 ? k : 9 - k));
    return `${words(i)}l ${own.map((v) => end(i, v) + 1).join(" ")}\n`;
  });
  return (backwards ? [...paths, ...vertices] : [...vertices, ...paths]).join("");
}

describe("OBJ", () => {
  it("faces, colours, normals and places in textures", async () => {
    const report = await same("a.obj", obj({}));
    expect(report.losses.join()).toMatch(/1 lines of "mtllib".*polygons of more than three/);
    await same("a.obj", obj({ colors: true, normals: "agree" }), { formatVersion: "0.7.0" });
    await same("a.obj", obj({ colors: true, normals: "differ" }));
    await same("a.obj", obj({ normals: "differ", backwards: true }));
  });
  it("one object, and many that share vertices", async () => {
    await same("a.obj", obj({ words: (f) => (f === 0 ? "o only\ng left\n" : "") }));
    const between = (f: number) => (f % 40 === 0 ? `o ${f % 3}\ng ${f % 2 === 0 ? "even" : "default"} all\n` : "");
    expect((await same("a.obj", obj({ words: between }))).objects).toBe(3);
    await same("a.obj", obj({ words: between, normals: "differ", colors: true }), { ids: "dense" });
    await same("a.obj", obj({ words: (f) => (f === 5 ? "g a b\n" : ""), backwards: true, normals: "agree" }));
  });
  it("lines alone", async () => {
    const report = await same("a.obj", objLines({}));
    expect([report.objects, report.losses.join()]).toEqual([
      300,
      expect.stringMatching(/vertices that are on no line/),
    ]);
    await same("a.obj", objLines({ words: (i) => `o ${1000 - i}\n`, blanks: 6000 }));
    await same("a.obj", objLines({ words: (i) => (i % 40 === 0 ? `o a${i}\ng left ${i % 3}\n` : "") }), {
      ids: "dense",
    });
    await same("a.obj", objLines({ backwards: true, words: (i) => `g ${i % 7}\n` }), { pyramid: { levels: 1 } });
    const nowhere = (v: number, z: number) => (v === 17 || v === 400 ? Number.NaN : z);
    const end = (i: number, v: number) => (i === 40 || i === 50 ? 9000 : v);
    const words = (i: number) => (i % 9 === 0 ? `o a${i}\ng left ${i % 3}\n` : "");
    expect(await sameProblem("a.obj", objLines({ z: nowhere, words }))).toMatch(
      /line 401: a vertex has the coordinate NaN/,
    );
    expect(await sameProblem("a.obj", objLines({ z: nowhere, end, words }))).toMatch(
      /line \d+: a line points to vertex 9001 of 900/,
    );
  });
  it("vertices alone", async () => {
    const points = (more: string) => Array.from({ length: 500 }, (_, i) => `v ${i} ${i % 7} 0 1 0 ${i / 500}\n${more}`);
    await same("a.obj", points("").join(""), {}, 10_000);
    await same("a.obj", points("vn 0 0 1\nvt 1\n").join(""), {}, 10_000);
    await same("a.obj", `vn 0 0 1\n${points("").join("")}`, {}, 10_000);
  });
  it("more than is read at once", async () => {
    await same("a.obj", obj({ blanks: 6000, normals: "agree", words: (f) => (f % 300 === 0 ? `o ${f}\n` : "") }));
  });
  it("damage", async () => {
    const nowhere = (v: number, z: number) => (v === 17 || v === 400 ? Number.NaN : z);
    const beyond = (f: number, v: number) => (f === 40 || f === 50 ? 9000 : v);
    const words = (f: number) => (f % 300 === 0 ? `o a${f % 4}\n` : "");
    expect(await sameProblem("a.obj", obj({ z: nowhere }))).toMatch(/line 20: a vertex has the coordinate NaN/);
    expect(await sameProblem("a.obj", obj({ z: nowhere, words, normals: "differ" }))).toMatch(/has the coordinate NaN/);
    expect(await sameProblem("a.obj", obj({ end: beyond }))).toMatch(/points to vertex 9000/);
    expect(await sameProblem("a.obj", obj({ end: beyond, z: nowhere, words, normals: "agree" }))).toMatch(/line 54/);
    const text = obj({});
    expect(await sameProblem("a.obj", text.slice(0, -4))).toMatch(/Corrupt/);
    expect(await sameProblem("a.obj", `${text}f 1 2 0\n`)).toMatch(/line \d+: "0" where/);
    expect(await sameProblem("a.obj", `f -1 2 3\n${text}`)).toMatch(/line 1: .*before the first/);
  });
});
