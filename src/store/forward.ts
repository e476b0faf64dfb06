/** Bytes by their place, of what can only be read from its start on: going back means to begin again, so that who reads in order pays once. */
import { concat } from "../bytes/concat.js";
import type { CallOptions } from "./types.js";

/** These bytes; fewer only where it ends. */
export type ForwardReader<O extends CallOptions> = (offset: number, length: number, options: O) => Promise<Uint8Array>;

export function forwardReader<O extends CallOptions>(
  begin: (options: O) => AsyncGenerator<Uint8Array>,
): ForwardReader<O> {
  let under: { at: number; rest: Uint8Array; readonly bytes: AsyncGenerator<Uint8Array> } | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function from(offset: number, length: number, options: O): Promise<Uint8Array> {
    if (under === undefined || under.at > offset) {
      await under?.bytes.return(undefined);
      under = { at: 0, rest: new Uint8Array(), bytes: begin(options) };
    }
    const pieces: Uint8Array[] = [];
    for (let missing = length; missing > 0; ) {
      options.signal?.throwIfAborted();
      if (under.rest.length === 0) {
        const next: IteratorResult<Uint8Array> = await under.bytes.next();
        if (next.done === true) break;
        under.rest = next.value;
      }
      const skipped = Math.min(under.rest.length, Math.max(0, offset - under.at));
      const taken = Math.min(under.rest.length - skipped, missing);
      if (taken > 0) pieces.push(under.rest.subarray(skipped, skipped + taken));
      under.at += skipped + taken;
      under.rest = under.rest.subarray(skipped + taken);
      missing -= taken;
    }
    return pieces.length === 1 ? pieces[0]! : concat(pieces);
  }

  /** One after the other: there is one place in the stream. */
  return (offset, length, options) => {
    const own = turn.then(async () => {
      try {
        return await from(offset, length, options);
      } catch (error) {
        under = undefined;
        throw error;
      }
    });
    turn = own.catch(() => {});
    return own;
  };
}
