/**
 * Points as a snapshot, as one of the files that `convert` and `get` write: one type of particles, PartType1 unless they come from a snapshot, whose
 * header, units and attributes of fields go along. The HDF5 library makes a file in memory, so that one is refused beyond 1 GB.
 */
import { concat } from "../../bytes/concat.js";
import { bytesOf } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { LimitExceeded, Unsupported } from "../../errors.js";
import { type AttributeInfo, type Column, lostUnit } from "../../model/attributes.js";
import type { Positions } from "../../model/vectors.js";
import type { Sink } from "../../store/types.js";
import { lostUnits } from "../interchange/lost-units.js";
import type { FileData, FileFormat, FileReport, WriteFileOptions } from "../interchange/types.js";
import type { SnapshotDataset } from "./dataset.js";
import { WHOLE_BYTES } from "./hdf5-source.js";
import { encodeSnapshot, isField } from "./write.js";

export const file: Pick<FileFormat, "units" | "write"> = { units: true, write };

async function write(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const { url, geometry, axes, schema } = data;
  if (geometry !== "points" || axes.length !== 3)
    throw new Unsupported(`a snapshot holds points of three axes, and ${url} has ${geometry} of ${axes.length}`, {
      where: url,
    });
  const losses: string[] = [];
  const fields: AttributeInfo[] = [];
  for (const info of schema.vertex)
    if (isField(info)) fields.push(info);
    else losses.push(`the attribute ${info.name}, which is no number that a field can have`);
  for (const { name } of schema.object) losses.push(`the attribute ${name} of each object`);
  const names = fields.map(({ name }) => name);
  const [positions, ...values]: NumericArray[][] = Array.from({ length: fields.length + 1 }, () => []);
  let [vertices, objects, bytes] = [0, 0, 0];
  for await (const batch of data.batches({ ...options, attributes: names.map((name) => `vertex.${name}`) })) {
    if (batch.repeats === true) continue;
    vertices += batch.positions.length / 3;
    objects += batch.ids.length;
    const own = names.map((name) => batch.vertexColumns.get(name)!.values as NumericArray);
    bytes += own.reduce((sum, { byteLength }) => sum + byteLength, batch.positions.byteLength);
    if (bytes > WHOLE_BYTES)
      throw new LimitExceeded(`a snapshot is made in memory, up to ${WHOLE_BYTES} bytes, and ${url} has more`, {
        where: url,
        hint: "Write a part of it, or a .ptree file, which is written in bounded memory.",
      });
    positions!.push(batch.positions);
    for (const [i, some] of own.entries()) values[i]!.push(some);
  }
  if (objects > 0) losses.push("which points belong to which object");
  const { snapshot, type = "PartType1" } = (data.dataset ?? {}) as Partial<SnapshotDataset>;
  if (snapshot === undefined) losses.push(...lostUnits(axes), ...fields.flatMap(lostUnit)); // those of a snapshot go along
  const columns = new Map(fields.map((info, i): [string, Column] => [info.name, { info, values: joined(values[i]!) }]));
  const particles = { type, positions: joined(positions!) as Positions, columns };
  await sink.write(await encodeSnapshot([particles], snapshot));
  return { vertices, objects, losses };
}

/** Numbers of one type, one after the other. */
function joined(pieces: readonly NumericArray[]): NumericArray {
  const make = (pieces[0]?.constructor ?? Float32Array) as new (buffer: ArrayBuffer) => NumericArray;
  return new make(concat(pieces.map(bytesOf)).buffer);
}
