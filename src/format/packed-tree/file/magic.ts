/** What a `.ptree` file begins and ends with: "\x89PTREE\r\n", which no text has, and which does not survive being taken for one. */
export const MAGIC = Uint8Array.of(0x89, 0x50, 0x54, 0x52, 0x45, 0x45, 0x0d, 0x0a);

export const isMagic = (bytes: Uint8Array, at: number): boolean =>
  at >= 0 && MAGIC.every((byte, i) => bytes[at + i] === byte);
