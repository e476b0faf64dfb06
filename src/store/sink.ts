/** Sinks that hold their pieces in memory until `commit`, for stores that take a value in one piece. */
import { concat } from "../bytes/concat.js";
import { InvalidInput } from "../errors.js";
import type { Sink } from "./types.js";

export function bufferedSink(where: string, commit: (value: Uint8Array) => Promise<void>): Sink {
  let pieces: Uint8Array[] = [];
  const state = sinkState(where);
  return {
    async write(bytes) {
      state.mustBeOpen();
      pieces.push(new Uint8Array(bytes)); // not slice: that of a Buffer does not copy
    },
    async commit() {
      state.mustBeOpen();
      state.end();
      const value = concat(pieces);
      pieces = [];
      await commit(value);
    },
    async abort() {
      state.end();
      pieces = [];
    },
  };
}

/** A sink is open until its first commit or abort; using it afterwards is a mistake of the caller. */
export function sinkState(where: string): { mustBeOpen(): void; end(): void; readonly open: boolean } {
  let open = true;
  return {
    mustBeOpen() {
      if (!open) throw new InvalidInput(`the sink for ${where} has already been committed or aborted`, { where });
    },
    end() {
      open = false;
    },
    get open() {
      return open;
    },
  };
}
