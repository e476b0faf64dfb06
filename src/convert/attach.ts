/** `--attach name=file`: values of other files become attributes of a file of streamlines, in the order that both have. */
import { InvalidInput } from "../errors.js";
import { type FileDataset, fileDataset } from "../format/interchange/dataset.js";
import type { PieceIndex } from "../format/interchange/types.js";
import { domainOf, type Values } from "../format/interchange/values-file.js";
import type { Piece } from "../format/rows/row-source.js";
import type { Column } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { Columns } from "../model/vectors.js";

/** The same file with more attributes. Whether they are of streamlines or of vertices follows from how many values there are. */
export function attached(dataset: FileDataset, all: readonly Values[], limits?: ReadOptions["limits"]): FileDataset {
  const { content, format, url } = dataset;
  const index = async (options: ReadOptions): Promise<PieceIndex> =>
    attachedIndex(await content.index(options), all, options);
  return fileDataset(format, url, { ...content, index }, limits);
}

async function attachedIndex(index: PieceIndex, all: readonly Values[], options: ReadOptions): Promise<PieceIndex> {
  const { objects, vertices, schema } = index;
  const count = objects?.ids.length ?? 0;
  const first = new Float64Array(vertices.length + 1);
  for (let p = 0; p < vertices.length; p++) first[p + 1] = first[p]! + vertices[p]!;
  const of = { object: [] as Values[], vertex: [] as Values[] };
  for (const values of all) {
    const domain = domainOf(values, count, first[vertices.length]!);
    const { name } = values.info;
    if ([...schema[domain], ...of[domain].map(({ info }) => info)].some((known) => known.name === name))
      throw new InvalidInput(`there already is an attribute ${name}, which ${values.where} shall be`, {
        where: values.where,
      });
    of[domain].push(values);
  }
  await checkLengths(index, of.vertex, options);
  const infos = (list: readonly Values[]) => list.map(({ info }) => info);
  return {
    ...index,
    schema: {
      ...schema,
      vertex: [...schema.vertex, ...infos(of.vertex)],
      object: [...schema.object, ...infos(of.object)],
    },
    async load(p, now): Promise<Piece> {
      const piece = await index.load(p, now);
      const starts = objects?.starts ?? new Uint32Array(vertices.length + 1);
      return {
        ...piece,
        vertexColumns: more(piece.vertexColumns, of.vertex, first[p]!, first[p + 1]!),
        objectColumns: more(piece.objectColumns, of.object, starts[p]!, starts[p + 1]!),
      };
    },
  };
}

/** Files that say how many values each streamline has must say what the data do. */
async function checkLengths(index: PieceIndex, all: readonly Values[], options: ReadOptions): Promise<void> {
  const telling = all.filter(({ lengths }) => lengths !== undefined);
  if (telling.length === 0) return;
  for (let p = 0, row = 0; p < index.vertices.length; p++) {
    const { parts } = await index.load(p, options);
    for (let part = 0; part + 1 < parts.length; part++, row++)
      for (const { lengths, where } of telling)
        if (lengths![row] !== parts[part + 1]! - parts[part]!)
          throw new InvalidInput(
            `${where} has ${lengths![row]} values for streamline ${row}, which has ${parts[part + 1]! - parts[part]!} vertices`,
            { where },
          );
  }
}

function more(columns: Columns, all: readonly Values[], from: number, to: number): Columns {
  if (all.length === 0) return columns;
  const rows = ({ info, values }: Values): Column => ({
    info,
    values: values.slice(from * info.channels, to * info.channels),
  });
  return new Map([...columns, ...all.map((own) => [own.info.name, rows(own)] as const)]);
}
