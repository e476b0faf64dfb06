/**
 * Collections of the global heap, where texts of any length are. The library does not come back from one whose objects do not fill it,
 * and nothing can end a call of WebAssembly: so each is looked at here before the library gets to see it.
 *
 * | bytes | what                                                                                     |
 * |-------|------------------------------------------------------------------------------------------|
 * | 8     | "GCOL", u8 version 1, 3 zeros                                                            |
 * | 8     | its size with these 16 bytes, in 4 or 8 of them as the file has it                       |
 * | 8     | of each object: u16 number, u16, u32                                                     |
 * | 8     | its size in the same way, rounded up to 8; number 0 is the room that is left, with these 16 bytes |
 */
import { Reader } from "../../bytes/reader.js";
import { Corrupt } from "../../errors.js";
import type { RandomBytes } from "./hdf5-library.js";

const START = [0x47, 0x43, 0x4f, 0x4c, 1, 0, 0, 0];
const HEAD = 16;

/** Whether bytes begin as a collection does. */
export const isHeap = (bytes: Uint8Array): boolean => START.every((byte, i) => bytes[i] === byte);

/** Throws Corrupt where the objects of the collection at a place are not all of it. */
export function checkHeap(bytes: RandomBytes, at: number, where: string): void {
  const start = new Uint8Array(HEAD);
  bytes.read(start, 0);
  const lengthBytes = start[start[8]! < 2 ? 14 : 10];
  /** The second half of 16 bytes, and what their first two say. */
  const look = (place: number) => {
    const head = new Uint8Array(HEAD);
    if (place + HEAD > bytes.size) throw new Corrupt(`${where} ends in a heap of texts`, { where });
    bytes.read(head, place);
    const reader = new Reader(head, where);
    const number = reader.u16();
    reader.seek(8);
    return { number, size: lengthBytes === 4 ? reader.u32() : reader.size() };
  };
  const end = at + look(at).size;
  for (let place = at + HEAD; place + HEAD <= end; ) {
    const { number, size } = look(place);
    const room = number === 0 ? size : HEAD + 8 * Math.ceil(size / 8);
    if (room < HEAD || place + room > end)
      throw new Corrupt(
        `${where} should have objects of a heap of texts from ${at + HEAD} to ${end}, found one of ${size} bytes at ${place}`,
        { where },
      );
    place += room;
  }
}
