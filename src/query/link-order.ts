/**
 * The order of the links of a batch: as their objects are, then part by part those without one, and last what leads from one to
 * another; of each as they are stored. So links follow each other the same way however many objects make a batch.
 */
import type { Links } from "../model/vectors.js";
import type { Assembled } from "./assemble.js";
import { pickRows } from "./columns.js";

export function inOrder({ width, ends, columns }: Links, batch: Assembled): Links {
  const { positions, dims, parts, objects, ids } = batch;
  const owners = new Uint32Array(positions.length / dims);
  for (let part = 0; part < objects.length; part++)
    owners.fill(objects[part]! >= 0 ? objects[part]! : ids.length + part, parts[part], parts[part + 1]);
  const last = ids.length + objects.length;
  const count = ends.length / width;
  const keys = new Uint32Array(count);
  let sorted = true;
  for (let l = 0; l < count; l++) {
    let key = owners[ends[l * width]!]!;
    for (let k = 1; k < width; k++) if (owners[ends[l * width + k]!] !== key) key = last;
    keys[l] = key;
    if (l > 0 && keys[l - 1]! > key) sorted = false;
  }
  if (sorted) return { width, ends, columns };
  const next = new Uint32Array(last + 2);
  for (let l = 0; l < count; l++) next[keys[l]! + 1]!++;
  for (let key = 0; key < last; key++) next[key + 1]! += next[key]!;
  const rows = new Uint32Array(count);
  const out = new Uint32Array(ends.length);
  for (let l = 0; l < count; l++) {
    const to = next[keys[l]!]!++;
    rows[to] = l;
    for (let k = 0; k < width; k++) out[to * width + k] = ends[l * width + k]!;
  }
  return { width, ends: out, columns: pickRows(columns, rows) };
}
