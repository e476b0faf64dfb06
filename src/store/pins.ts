/**
 * Ranges that belong together. When a value changes on the server, two ranges of it do not: a strong ETag that differs from
 * the one of the first range is a Conflict, and stays one, as whoever has read the first range goes on with what it said.
 * `stat`, and a write through the same store, begin anew: their caller knows that there is something new to read.
 */
import { Conflict } from "../errors.js";
import type { Key } from "./key.js";
import { discard } from "./send.js";

/** A strong ETag; a weak one may stay the same when bytes change. */
export function versionOf(response: Response): string | undefined {
  const tag = response.headers.get("etag");
  return tag === null || tag === "" || tag.startsWith("W/") ? undefined : tag;
}

const MOST = 100_000; // some 20 MB; beyond it the oldest are forgotten

export interface Pins {
  /** Called before a range is asked for; what it gives is called with the answer. */
  expect(key: Key, where: string): (response: Response) => void;
  forget(key: Key): void;
}

export function versionPins(): Pins {
  const pins = new Map<Key, string>();
  let changes = 0;
  return {
    expect(key, where) {
      const before = changes;
      return (response) => {
        const [tag, first] = [versionOf(response), pins.get(key)];
        if (tag === undefined || tag === first) return;
        if (first !== undefined) {
          void discard(response);
          throw new Conflict(`${where} changed between two reads: its ETag was ${first} and is now ${tag}`, {
            where,
            reason: "changed",
            hint: "open the data again",
          });
        }
        if (changes !== before) return; // an answer from before the change must not be what later ones are held to
        pins.set(key, tag);
        if (pins.size > MOST) for (const oldest of pins.keys()) return void pins.delete(oldest);
      };
    },
    forget(key) {
      changes++;
      pins.delete(key);
    },
  };
}
