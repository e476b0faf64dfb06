/**
 * The descriptions in Arrow files, looked at before the library reads them: it believes the count of every list, and reads zeros behind the end. So
 * every list must lie within the file. (FlatBuffers: a table points back to a list of where its fields are; lists are their count, then their items.)
 */
import { Corrupt } from "../../errors.js";

const DEPTH = 32;
export const [SCHEMA, DICTIONARY, RECORDS] = [1, 2, 3] as const;

/** Tables in bytes: a RangeError of the view where one lies outside. */
export function tablesIn(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    view,
    /** Where a field of the table at `at` is, by its place in the list of fields (4, 6, 8 …); 0 where it has none. */
    field(at: number, place: number): number {
      const fields = at - view.getInt32(at, true);
      if (place >= view.getInt16(fields, true)) return 0;
      const offset = view.getInt16(fields + place, true);
      return offset === 0 ? 0 : at + offset;
    },
    target: (at: number): number => at + view.getInt32(at, true),
  };
}

/** Messages one after the other: Corrupt, or a RangeError of the view, where a list is longer than they are. */
export function checkArrow(bytes: Uint8Array, where: string): void {
  const { view, field, target } = tablesIn(bytes);
  const size = bytes.length;
  const damage = (found: string): Corrupt => new Corrupt(`${where} is damaged: ${found}`, { where });
  const list = (at: number, stride: number, item: (at: number) => void = () => {}): void => {
    if (at === 0) return;
    const start = target(at);
    const count = view.getInt32(start, true);
    if (count < 0 || start + 4 + count * stride > size)
      throw damage(`a list of ${count} items is longer than the file`);
    for (let i = 0; i < count; i++) item(start + 4 + i * stride);
  };
  const inTable = (at: number, work: (table: number) => void): void => {
    if (at !== 0) work(target(at));
  };
  const schema = (at: number): void => {
    list(field(at, 6), 4, (own) => column(target(own), 0));
    list(field(at, 8), 4);
  };
  const column = (at: number, depth: number): void => {
    const kind = field(at, 8);
    if (depth > DEPTH || (kind !== 0 && view.getUint8(kind) === 14))
      throw damage("columns of unions, or nested deeper than 32");
    list(field(at, 14), 4, (own) => column(target(own), depth + 1));
    list(field(at, 16), 4);
  };
  const records = (at: number): void => {
    list(field(at, 6), 16);
    list(field(at, 8), 16);
    list(field(at, 12), 8);
  };
  /** A message; where the next one begins, or −1. */
  const message = (start: number): number => {
    if (start + 4 > size) return -1;
    const marked = view.getInt32(start, true) === -1;
    const at = marked ? start + 8 : start + 4;
    const length = view.getInt32(at - 4, true);
    if (length === 0) return -1;
    const root = target(at);
    const [kindAt, header, body] = [field(root, 6), field(root, 8), field(root, 10)];
    const kind = kindAt === 0 ? 0 : view.getUint8(kindAt);
    if (kind === SCHEMA) inTable(header, schema);
    else if (kind === RECORDS) inTable(header, records);
    else if (kind === DICTIONARY) inTable(header, (own) => inTable(field(own, 6), records));
    list(field(root, 12), 4);
    const next = at + length + (body === 0 ? 0 : Number(view.getBigInt64(body, true)));
    if (!(length > 0 && next > start && next <= size))
      throw damage(`a message at byte ${start} ends at ${next}, where the file has ${size}`);
    return next;
  };
  for (let at = 0; at >= 0; ) at = message(at);
}
