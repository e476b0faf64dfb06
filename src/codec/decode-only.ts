/** Old codecs that files have and nobody should write any more: `encode: decodeOnly("bz2")`. */
import { Unsupported } from "../errors.js";

export const decodeOnly = (name: string) => (): never => {
  throw new Unsupported(`the codec ${name} can be read but not written`, { hint: "Write with zstd, blosc or gzip." });
};
