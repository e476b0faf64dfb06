/**
 * The headers of several files that become one. Where they agree in what decides how the data are written again (the grid of coordinates
 * of LAS, the image of a TRK; of other formats everything but numbers of things, which are counted anew), that of the first is
 * the header of the whole; what else others say is lost, and told in one sentence.
 */
import { type Json, type JsonObject, stringifyJson } from "../bytes/json.js";

type Headers = ReadonlyMap<string, JsonObject>;

const GRID = ["pointFormat", "scale", "offset"];
const DECISIVE: { readonly [format: string]: readonly string[] | undefined } = {
  las: GRID,
  laz: GRID,
  trk: ["dimensions", "voxel_size", "vox_to_ras", "voxel_order"],
};

export interface Together {
  /** One more. */
  add(headers: Headers): void;
  /** Whether that of the first can be that of all. */
  readonly agree: boolean;
  /** In what they differ, for people; empty where they do not. */
  readonly differences: string;
  /** What all but the first lose where it is; undefined where nothing is. */
  readonly loss: string | undefined;
}

export function headersLike(first: Headers): Together {
  let [files, others, agree] = [1, 0, true];
  const names = new Set<string>();
  return {
    add(headers) {
      files++;
      const found = differences(first, headers);
      if (found.length === 0) return;
      others++;
      for (const { name, isDecisive } of found) {
        names.add(name);
        agree &&= !isDecisive;
      }
    },
    get agree() {
      return agree;
    },
    get differences() {
      return [...names].join(", ");
    },
    get loss() {
      if (others === 0) return undefined;
      return `the headers of ${others} of ${files} files, which are not that of the first in ${this.differences}`;
    },
  };
}

function differences(a: Headers, b: Headers): { readonly name: string; readonly isDecisive: boolean }[] {
  const text = (value: Json | undefined): string => stringifyJson(value ?? null);
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((format) => {
    const [one, two] = [a.get(format) ?? {}, b.get(format) ?? {}];
    const decisive = DECISIVE[format];
    return [...new Set([...Object.keys(one), ...Object.keys(two)])]
      .filter((name) => !/count|^nb_/i.test(name) && text(one[name]) !== text(two[name]))
      .map((name) => ({ name, isDecisive: decisive?.includes(name) ?? true }));
  });
}
