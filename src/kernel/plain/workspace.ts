/** Workspaces in plain memory, for loops in plain TypeScript. */
import { LimitExceeded } from "../../errors.js";
import { type KernelOf, slack } from "../types.js";

/** Larger memories are made for one use, so that one giant chunk does not occupy them for good. */
const kept = 16 << 20;

/** The kernel whose loops work on the memory that they are given here. */
export function plainKernelOf<L>(loops: (memory: Uint8Array) => L): KernelOf<L> {
  const make = (size: number) => {
    const room = memory(size);
    return { ...loops(room), memory: room, start: 0 };
  };
  let workspace = make(0);
  return {
    kind: "plain",
    reserve(size) {
      if (size + slack <= workspace.memory.length) return workspace;
      const larger = make(size + slack);
      if (size <= kept) workspace = larger;
      return larger;
    },
  };
}

function memory(size: number): Uint8Array {
  try {
    return new Uint8Array(size);
  } catch (cause) {
    throw new LimitExceeded(`no memory could be had for a workspace of ${size} bytes`, { cause, reason: "memory" });
  }
}
