/**
 * The lines of OBJ (Wavefront). Numbers of vertices count from 1 over the whole file; negative ones count back from the last.
 *
 * | line                           | meaning                                                                      |
 * |--------------------------------|------------------------------------------------------------------------------|
 * | `v x y z [w]`, `v x y z r g b` | a vertex, in the second form with its colour                                 |
 * | `vt u [v [w]]`, `vn x y z`     | a place in a texture, a normal                                               |
 * | `f a b c …`                    | a face; each corner is `v`, `v/vt`, `v//vn` or `v/vt/vn`                     |
 * | `l a b …`, `p a …`             | a path, points                                                               |
 * | `o name`, `g name …`           | what follows is of this object, of these groups                              |
 * | `#…`                           | for people; a line that ends in a backslash goes on in the next              |
 */
import { Corrupt } from "../../errors.js";
import { Growing } from "./growing.js";
import { plainFaces, plainVertices } from "./obj-plain.js";
import { Scanner } from "./text.js";

/** Lists of corners: list i has the corners offsets[i] up to offsets[i + 1]. */
export class Corners {
  readonly vertex = new Growing(new Uint32Array());
  /** As long as `vertex`, or empty; NOWHERE where a corner has none. */
  readonly texture = new Growing(new Uint32Array());
  readonly normal = new Growing(new Uint32Array());
  readonly offsets = new Growing(new Uint32Array());
  /** The section and the line of each list. */
  readonly section = new Growing(new Uint32Array());
  readonly line = new Growing(new Uint32Array());

  constructor() {
    this.offsets.push(0);
  }
}

export const NOWHERE = 0xffff_ffff;

export interface ObjSection {
  readonly object: string | undefined;
  readonly groups: readonly string[];
}

/** What lines say of vertices and of what is made of them. */
export interface ObjLines {
  readonly positions: Float64Array;
  /** Red, green and blue of each vertex; undefined where none has any. */
  readonly colors: Float32Array | undefined;
  readonly textures: Float32Array;
  readonly normals: Float32Array;
  readonly faces: Corners;
  readonly paths: Corners;
  /** The section of each vertex. */
  readonly vertexSection: Uint32Array;
  readonly vertexLine: Uint32Array;
}

/** Takes lines, and gives what they say. */
export interface ObjParser {
  /** Whole lines. */
  take(block: { readonly bytes: Uint8Array; readonly line?: number }): void;
  /** Everything that has come since the last time; numbers of vertices count from the first of all. */
  shift(): ObjLines;
  /** All that came so far. */
  readonly sections: readonly ObjSection[];
  /** How often lines came that are not read here, by their first word. */
  readonly others: ReadonlyMap<string, number>;
}

const [NEWLINE, RETURN, BACKSLASH, SLASH, HASH] = [10, 13, 0x5c, 0x2f, 0x23];

export function objParser(where: string): ObjParser {
  const others = new Map<string, number>();
  const sections: ObjSection[] = [{ object: undefined, groups: [] }];
  const known = new Map<string, number>([["", 0]]);
  const before = { vertices: 0, textures: 0, normals: 0 };
  let section = 0;
  let now = fresh();

  const enter = (object: string | undefined, groups: readonly string[]): void => {
    const key = object === undefined && groups.length === 0 ? "" : JSON.stringify([object, groups]);
    section = known.get(key) ?? sections.push({ object, groups }) - 1;
    known.set(key, section);
  };
  const left = (what: string): void => void others.set(what, (others.get(what) ?? 0) + 1);

  function take(block: { readonly bytes: Uint8Array; readonly line?: number }): void {
    const { bytes } = block;
    const scanner = new Scanner(block, where);
    const { positions, colors, textures, normals, vertexSection, vertexLine, faces, paths } = now;
    const vertex = (): void => {
      vertexSection.push(section);
      vertexLine.push(scanner.line);
      for (let k = 0; k < 3; k++) positions.push(scanner.number("a coordinate"));
      if (scanner.ends()) return;
      const more: number[] = [];
      while (!lineEnds(scanner) && more.length < 5) more.push(scanner.number("a number"));
      if (more.length === 1) left("v with a weight");
      else if (more.length < 3 || more.length > 4) throw scanner.corrupt(`a vertex of ${3 + more.length} numbers`);
      else {
        while (colors.length < positions.length - 3) colors.push(Number.NaN);
        for (let k = 0; k < 3; k++) colors.push(more[k]!);
      }
    };

    /** Lines of the usual form, as many as there are. */
    const plain = (): void => {
      const from = [positions.length, faces.vertex.length] as const;
      scanner.at = plainVertices(bytes, scanner.at, positions);
      for (let i = from[0]; i < positions.length; i += 3) {
        vertexSection.push(section);
        vertexLine.push(scanner.line++);
      }
      scanner.at = plainFaces(bytes, scanner.at, faces.vertex);
      for (let end = from[1] + 3; end <= faces.vertex.length; end += 3) {
        faces.offsets.push(end);
        faces.section.push(section);
        faces.line.push(scanner.line++);
      }
    };
    const listed = (to: Corners, least: number): void =>
      corners(
        scanner,
        to,
        before.vertices + positions.length / 3,
        before.textures + textures.length / 2,
        before.normals + normals.length / 3,
        section,
        least,
      );

    do {
      plain();
      if (scanner.ends()) continue;
      const at = scanner.at;
      const [first, second = NEWLINE] = [bytes[at]!, bytes[at + 1]];
      if (second <= 32 && first === 0x76) {
        scanner.at++;
        vertex();
      } else if (second <= 32 && first === 0x66) listed(faces, 3);
      else if (second <= 32 && first === 0x6c) listed(paths, 2);
      else if (first === 0x76 && (second === 0x6e || second === 0x74) && bytes[at + 2]! <= 32) {
        scanner.at += 2;
        const to = second === 0x6e ? normals : textures;
        to.push(scanner.number("a number"));
        to.push(second === 0x74 && scanner.ends() ? 0 : scanner.number("a number"));
        if (second === 0x6e) to.push(scanner.number("a number"));
      } else if (first !== HASH) {
        const word = scanner.word();
        const { object, groups } = sections[section]!;
        if (word === "o") enter(scanner.rest(), groups);
        else if (word === "g")
          enter(
            object,
            scanner
              .rest()
              .split(/\s+/)
              .filter((name) => name !== "" && name !== "default"),
          );
        else left(word.slice(0, 20));
        if (others.size > 1000) throw new Corrupt(`${where} is no OBJ: too many kinds of lines`, { where });
      }
    } while (scanner.next());
  }

  return {
    take,
    sections,
    others,
    shift() {
      const { positions, colors, textures, normals, faces, paths, vertexSection, vertexLine } = now;
      while (colors.length > 0 && colors.length < positions.length) colors.push(Number.NaN);
      before.vertices += positions.length / 3;
      before.textures += textures.length / 2;
      before.normals += normals.length / 3;
      now = fresh();
      return {
        positions: positions.done(),
        colors: colors.length === 0 ? undefined : Float32Array.from(colors.done()),
        textures: Float32Array.from(textures.done()),
        normals: Float32Array.from(normals.done()),
        faces,
        paths,
        vertexSection: vertexSection.done(),
        vertexLine: vertexLine.done(),
      };
    },
  };
}

/** All lines of a file. */
export type ObjFile = ObjLines & Pick<ObjParser, "sections" | "others">;

export function parseObj(bytes: Uint8Array, where: string): ObjFile {
  const parser = objParser(where);
  parser.take({ bytes });
  return { ...parser.shift(), sections: parser.sections, others: parser.others };
}

const fresh = () => ({
  positions: new Growing(new Float64Array()),
  colors: new Growing(new Float64Array()),
  textures: new Growing(new Float64Array()),
  normals: new Growing(new Float64Array()),
  vertexSection: new Growing(new Uint32Array()),
  vertexLine: new Growing(new Uint32Array()),
  faces: new Corners(),
  paths: new Corners(),
});

/** The bytes up to the last line that does not go on in the next. */
export function wholeLines(bytes: Uint8Array): number {
  for (let end = bytes.lastIndexOf(NEWLINE); end >= 0; end = bytes.lastIndexOf(NEWLINE, end - 1)) {
    const last = bytes[end - 1] === RETURN ? end - 2 : end - 1;
    if (bytes[last] !== BACKSLASH) return end + 1;
    if (end === 0) break;
  }
  return 0;
}

/** Whether the line ends here; one that goes on in the next does not. */
function lineEnds(scanner: Scanner): boolean {
  const { bytes } = scanner;
  while (scanner.ends() === false) {
    const { at } = scanner;
    if (bytes[at] === HASH) return true;
    if (bytes[at] !== BACKSLASH || !(bytes[at + 1] === NEWLINE || bytes[at + 1] === RETURN)) return false;
    scanner.next();
  }
  return true;
}

function corners(
  scanner: Scanner,
  to: Corners,
  vertices: number,
  textures: number,
  normals: number,
  section: number,
  least: number,
): void {
  const { line } = scanner;
  scanner.at++;
  let count = 0;
  for (; !lineEnds(scanner); count++) {
    to.vertex.push(reference(scanner, vertices));
    if (scanner.bytes[scanner.at] !== SLASH) continue;
    scanner.at++;
    if (scanner.bytes[scanner.at] !== SLASH) put(to.texture, to.vertex.length, reference(scanner, textures));
    if (scanner.bytes[scanner.at] !== SLASH) continue;
    scanner.at++;
    put(to.normal, to.vertex.length, reference(scanner, normals));
  }
  if (count < least) throw scanner.corrupt(`${count} corners where at least ${least} were expected`);
  to.offsets.push(to.vertex.length);
  to.section.push(section);
  to.line.push(line);
}

function put(list: Growing<Uint32Array>, length: number, value: number): void {
  while (list.length < length - 1) list.push(NOWHERE);
  list.push(value);
}

/** A whole number as the place that it means, counted from 0. */
function reference(scanner: Scanner, count: number): number {
  const { bytes } = scanner;
  let { at } = scanner;
  const minus = bytes[at] === 0x2d;
  if (minus) at++;
  const start = at;
  let value = 0;
  for (; at < bytes.length; at++) {
    const digit = bytes[at]! - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const end = bytes[at] ?? NEWLINE;
  if (at === start || value === 0 || value >= NOWHERE || (end > 32 && end !== SLASH)) {
    const word = scanner.word().slice(0, 40);
    throw scanner.corrupt(`${JSON.stringify(word)} where the number of a vertex was expected, 1 or more, or negative`);
  }
  scanner.at = at;
  if (minus && value > count) throw scanner.corrupt(`−${value} points before the first of ${count}`);
  return minus ? count - value : value - 1;
}
