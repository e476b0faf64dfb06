/**
 * Where the messages of Arrow are: in streams one after the other, in files as the list at the end says. A message is its description and its body, so that
 * some of them, with that of the schema first, are a stream again.
 */
import { Corrupt, LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { DICTIONARY, RECORDS, SCHEMA, tablesIn } from "./arrow-check.js";
import { exactly, type InputFile } from "./file.js";

export interface ArrowPart {
  readonly offset: number;
  readonly length: number;
}

export interface ArrowParts {
  readonly schema: ArrowPart;
  readonly dictionaries: readonly ArrowPart[];
  readonly records: readonly ArrowPart[];
}

type Message = ArrowPart & { readonly kind: number };

const MAGIC = "ARROW1";
const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

export async function arrowParts(input: InputFile, options: ReadOptions): Promise<ArrowParts> {
  const start = await input.read(0, 12, options);
  return start.length === 12 && latin(start.subarray(0, 6)) === MAGIC
    ? partsOfFile(input, options)
    : partsOfStream(input, options);
}

const damage = (where: string, found: string): Corrupt => new Corrupt(`${where} is damaged: ${found}`, { where });

async function partsOfStream(input: InputFile, options: ReadOptions): Promise<ArrowParts> {
  let schema: ArrowPart | undefined;
  const [dictionaries, records]: [ArrowPart[], ArrowPart[]] = [[], []];
  for (let at = 0; ; ) {
    const message = await messageAt(input, at, options);
    if (message === undefined) break;
    if (message.kind === SCHEMA) schema ??= message;
    else if (message.kind === DICTIONARY) dictionaries.push(message);
    else if (message.kind === RECORDS) records.push(message);
    at = message.offset + message.length;
  }
  if (schema === undefined) throw damage(input.where, "it has no schema");
  return { schema, dictionaries, records };
}

/** The message there; undefined where all have come. */
async function messageAt(input: InputFile, offset: number, options: ReadOptions): Promise<Message | undefined> {
  const { where, size } = input;
  const prefix = await input.read(offset, 8, options);
  if (prefix.length < 4) return undefined;
  const { view } = tablesIn(prefix);
  const before = view.getInt32(0, true) === -1 ? 8 : 4;
  const length = prefix.length < before ? 0 : view.getInt32(before - 4, true);
  if (length === 0) return undefined;
  const most = withLimits(options.limits).metadataBytes;
  if (length < 0 || length > most)
    throw new LimitExceeded(`${where} has a description of ${length} bytes, at most ${most} are read`, { where });
  const { view: own, field, target } = tablesIn(await exactly(input, offset + before, length, "a message", options));
  const root = target(0);
  const [kind, body] = [field(root, 6), field(root, 10)];
  const end = offset + before + length + (body === 0 ? 0 : Number(own.getBigInt64(body, true)));
  if (end < offset + before + length || end > (size ?? Number.POSITIVE_INFINITY))
    throw damage(where, `a message at byte ${offset} ends at ${end}, where the file has ${size}`);
  return { kind: kind === 0 ? 0 : own.getUint8(kind), offset, length: end - offset };
}

async function partsOfFile(input: InputFile, options: ReadOptions): Promise<ArrowParts> {
  const { where } = input;
  const size = input.size ?? (await sizeOf(input, options));
  const last = await input.read(size - 10, 10, options);
  if (latin(last.subarray(4)) !== MAGIC)
    throw damage(where, `it ends at byte ${size}, and not with ARROW1, so it is not whole`);
  const length = tablesIn(last).view.getInt32(0, true);
  const most = withLimits(options.limits).metadataBytes;
  if (length < 0 || length > Math.min(most, size))
    throw new LimitExceeded(`${where} has a list of ${length} bytes at its end, at most ${most} are read`, { where });
  const { view, field, target } = tablesIn(await exactly(input, size - 10 - length, length, "the list", options));
  const footer = target(0);
  const blocks = async (place: number, kind: number): Promise<ArrowPart[]> => {
    const at = field(footer, place);
    if (at === 0) return [];
    const start = target(at);
    const found: ArrowPart[] = [];
    for (let i = 0, count = view.getInt32(start, true); i < count; i++) {
      const offset = Number(view.getBigInt64(start + 4 + 24 * i, true));
      const message = offset < 8 ? undefined : await messageAt(input, offset, options);
      if (message?.kind !== kind) throw damage(where, `what its list has at byte ${offset} is something else`);
      found.push(message);
    }
    return found;
  };
  const schema = await messageAt(input, 8, options);
  if (schema?.kind !== SCHEMA) throw damage(where, "it does not begin with its schema");
  return { schema, dictionaries: await blocks(8, DICTIONARY), records: await blocks(10, RECORDS) };
}

/** Of packed files: everything is unpacked once. */
async function sizeOf(input: InputFile, options: ReadOptions): Promise<number> {
  let size = 0;
  for await (const { length } of input.stream(0, options)) size += length;
  return size;
}
