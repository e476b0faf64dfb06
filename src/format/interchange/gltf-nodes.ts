/** The nodes of glTF: a forest, in which each node moves what is below it. Numbers of matrices go column by column. */
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import type { Gltf } from "./gltf-file.js";

/** A node that has a mesh. */
export interface Placed {
  readonly mesh: Json;
  readonly name: string;
  /** Of objects that Octavo wrote. */
  readonly id: bigint | undefined;
  readonly matrix: readonly number[];
}

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const DEEPEST = 256;

/** The nodes of the scene, parents before children; of files without a scene all that are nobody's children. */
export function nodesOf(gltf: Gltf): Placed[] {
  const { where, root } = gltf;
  const nodes = gltf.list("nodes");
  const children = (node: JsonObject): readonly Json[] => (Array.isArray(node.children) ? node.children : []);
  const scenes = gltf.list("scenes");
  const scene = scenes.length === 0 ? undefined : gltf.item("scenes", root.scene ?? 0);
  let roots = scene !== undefined && Array.isArray(scene.nodes) ? scene.nodes : undefined;
  if (roots === undefined) {
    const below = new Set(nodes.flatMap((node) => (isJsonObject(node) ? children(node) : [])));
    roots = nodes.map((_, i) => i).filter((i) => !below.has(i));
  }
  const seen = new Set<Json>();
  const out: Placed[] = [];
  const visit = (index: Json, above: readonly number[], depth: number): void => {
    if (seen.has(index)) throw new Corrupt(`${where}: node ${index} is in two places, or below itself`, { where });
    if (depth > DEEPEST) throw new LimitExceeded(`${where}: nodes nest deeper than ${DEEPEST}`, { where });
    seen.add(index);
    const node = gltf.item("nodes", index);
    const matrix = product(above, ownMatrix(node, where));
    if (node.mesh !== undefined) {
      const mesh = gltf.item("meshes", node.mesh);
      const [name, id] = [node.name ?? mesh.name, isJsonObject(node.extras) ? node.extras.id : undefined];
      out.push({
        mesh: node.mesh,
        name: typeof name === "string" ? name : "",
        id: typeof id === "string" ? wholeOf(id) : undefined,
        matrix,
      });
    }
    for (const child of children(node)) visit(child, matrix, depth + 1);
  };
  for (const index of roots) visit(index, IDENTITY, 0);
  if (nodes.length === 0)
    for (let i = 0; i < gltf.list("meshes").length; i++)
      out.push({ mesh: i, name: String(gltf.item("meshes", i).name ?? ""), id: undefined, matrix: IDENTITY });
  return out;
}

function ownMatrix(node: JsonObject, where: string): readonly number[] {
  const numbers = (value: Json | undefined, absent: readonly number[], what: string): readonly number[] => {
    if (value === undefined) return absent;
    if (
      Array.isArray(value) &&
      value.length === absent.length &&
      value.every((own) => typeof own === "number" && Number.isFinite(own))
    )
      return value as number[];
    throw new Corrupt(`${where} has a node whose ${what} is not ${absent.length} numbers`, { where });
  };
  if (node.matrix !== undefined) return numbers(node.matrix, IDENTITY, "matrix");
  const [tx, ty, tz] = numbers(node.translation, [0, 0, 0], "translation") as [number, number, number];
  const [x, y, z, w] = numbers(node.rotation, [0, 0, 0, 1], "rotation") as [number, number, number, number];
  const [sx, sy, sz] = numbers(node.scale, [1, 1, 1], "scale") as [number, number, number];
  return [
    ...[1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)].map((value) => value * sx),
    0,
    ...[2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)].map((value) => value * sy),
    0,
    ...[2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)].map((value) => value * sz),
    0,
    tx,
    ty,
    tz,
    1,
  ];
}

function product(a: readonly number[], b: readonly number[]): number[] {
  return Array.from({ length: 16 }, (_, i) => {
    const [column, row] = [Math.floor(i / 4), i % 4];
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += a[4 * k + row]! * b[4 * column + k]!;
    return sum;
  });
}

const isIdentity = (m: readonly number[]): boolean => m.every((value, i) => value === IDENTITY[i]);

/** Places, where the matrix puts them. */
export function moved(positions: Float32Array, m: readonly number[]): Float32Array {
  if (isIdentity(m)) return positions;
  const out = new Float32Array(positions.length);
  for (let i = 0; i < positions.length; i += 3) {
    const [x, y, z] = [positions[i]!, positions[i + 1]!, positions[i + 2]!];
    for (let k = 0; k < 3; k++) out[i + k] = m[k]! * x + m[4 + k]! * y + m[8 + k]! * z + m[12 + k]!;
  }
  return out;
}

/** Normals, where the matrix puts the faces that they stand on: by its cofactors, of length 1 again. */
export function turned(normals: Float32Array, m: readonly number[]): Float32Array {
  if (isIdentity(m)) return normals;
  const cofactor = (r: number, c: number): number => {
    const [r1, r2, c1, c2] = [(r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3];
    return m[4 * c1 + r1]! * m[4 * c2 + r2]! - m[4 * c2 + r1]! * m[4 * c1 + r2]!;
  };
  const n = [0, 1, 2].map((r) => [0, 1, 2].map((c) => cofactor(r, c)));
  const sign = m[0]! * n[0]![0]! + m[4]! * n[0]![1]! + m[8]! * n[0]![2]! < 0 ? -1 : 1;
  const out = new Float32Array(normals.length);
  for (let i = 0; i < normals.length; i += 3) {
    const own = [0, 1, 2].map(
      (r) => sign * (n[r]![0]! * normals[i]! + n[r]![1]! * normals[i + 1]! + n[r]![2]! * normals[i + 2]!),
    );
    const size = Math.hypot(...own) || 1;
    for (let k = 0; k < 3; k++) out[i + k] = own[k]! / size;
  }
  return out;
}

function wholeOf(text: string): bigint | undefined {
  const id = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return id !== undefined && BigInt.asIntN(64, id) === id ? id : undefined;
}
