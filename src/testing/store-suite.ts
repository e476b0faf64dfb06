/**
 * What every store does, as a list of behaviours that any test framework can run. A backend hands in `make`, which gives a
 * fresh store that holds the given values; a behaviour builds one, uses it and throws where it does not do as promised in
 * store/types.ts. Behaviours that need what the backend cannot do are left out, and there are others for exactly that case.
 *
 *     runStoreSuite({ describe, it }, "memory", { list: true, write: true, conditional: true }, async (values) => …);
 */
import { Key } from "../store/key.js";
import type { Capabilities, Store } from "../store/types.js";
import { listBehaviours } from "./store-lists.js";
import { readBehaviours } from "./store-reads.js";
import { writeBehaviours } from "./store-writes.js";

/** A fresh store that holds these values. */
export type MakeStore = (values: Readonly<Record<string, Uint8Array>>) => Promise<Store>;

/** One thing that a store does, and how to see that it does. */
export interface Behaviour {
  readonly name: string;
  /** Runs only where the store's capabilities are these. */
  readonly needs: Partial<Capabilities>;
  /** Throws where the store does something else. */
  run(make: MakeStore): Promise<void>;
}

/** Everything that is asked of stores. */
export const storeBehaviours: readonly Behaviour[] = [...readBehaviours, ...listBehaviours, ...writeBehaviours];

/** The behaviours that a store with these capabilities must show. */
export function behavioursFor(can: Capabilities): Behaviour[] {
  return storeBehaviours.filter(({ needs }) =>
    (Object.keys(needs) as (keyof Capabilities)[]).every((what) => can[what] === needs[what]),
  );
}

/** What is needed of a test framework: Vitest, Jest, Mocha and node:test have it. */
export interface TestFramework {
  /** Groups tests. */
  describe(name: string, body: () => void): void;
  /** Declares a test. */
  it(name: string, body: () => Promise<void>): void;
}

/** Declares one test per behaviour that a store with these capabilities must show. */
export function runStoreSuite(framework: TestFramework, name: string, can: Capabilities, make: MakeStore): void {
  framework.describe(`store suite: ${name}`, () => {
    for (const behaviour of behavioursFor(can)) {
      framework.it(behaviour.name, async () => {
        const made: Store[] = [];
        try {
          await behaviour.run(async (values) => {
            const store = await make(values);
            made.push(store);
            return store;
          });
        } finally {
          for (const store of made) await store.close?.();
        }
      });
    }
  });
}

/** Puts the values into a store and gives it back: the whole of `make` for a store that can write. */
export async function fill<S extends Store>(store: S, values: Readonly<Record<string, Uint8Array>>): Promise<S> {
  for (const [key, value] of Object.entries(values)) await store.set(Key.of(key), value);
  return store;
}
