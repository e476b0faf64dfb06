/** R14: names that mean something to JavaScript are data in attributes, consolidated metadata and results. */
import { OctavoError } from "../../src/errors.js";
import { createGroup, openZarr, setAttributes } from "../../src/format/zarr/index.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Row } from "./row.js";

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "__defineGetter__",
  "",
  "k".repeat(10_240),
];

export const poison: Row = {
  id: "R14",
  promise: "JSON cannot poison",
  async run() {
    const broken: string[] = [];
    for (const version of [2, 3] as const) {
      for (const name of NAMES) {
        const store = memoryStore();
        const group = await createGroup(store, Prefix.root, { version });
        const attributes = Object.create(null) as { [key: string]: { polluted: boolean } };
        Object.defineProperty(attributes, name, { value: { polluted: true }, enumerable: true });
        try {
          await setAttributes(group, attributes);
          const read = (await openZarr(store)).attributes;
          const own = Object.getOwnPropertyDescriptor(read, name)?.value as { polluted?: boolean } | undefined;
          if (own?.polluted !== true) broken.push(`v${version}: ${name.slice(0, 20)} was lost`);
        } catch (error) {
          if (!(error instanceof OctavoError)) broken.push(`v${version}: ${name.slice(0, 20)}: ${error}`);
          else broken.push(`v${version}: ${name.slice(0, 20)} was refused: ${error.message}`);
        }
        if ("polluted" in {}) broken.push(`v${version}: ${name} changed every object`);
      }
    }
    return { tried: `${NAMES.length * 2} names`, broken };
  },
};
