/** The verbs there are, in the order of help. Each is loaded when it is called for; `octavo --help` loads none. */
import type { Verb } from "./verb.js";

export interface Entry {
  readonly name: string;
  /** What follows the name: "IN OUT"; "[X]" may be left out. */
  readonly operands: string;
  readonly summary: string;
  /** What it does with its neighbours that say the same: `octavo --help` has one line for them. */
  readonly together?: string | undefined;
  load(): Promise<Verb>;
}

const CHANGE = "change a store as one transaction: add, take out, mend";
const MANY = "many datasets become one; one becomes many";
const LOOK = "look at it: in the browser, or as a picture";
const WEB = "HTTP for browsers; addresses for Neuroglancer";
const BARE = "sharded bytes by id; octrees over particles";
const BESIDES = "a guided tour; completion for bash, zsh or fish";

export const verbs: readonly Entry[] = [
  {
    name: "info",
    operands: "URL",
    summary: "what it is: format, shape, levels, attributes, sizes",
    load: async () => (await import("./info.js")).info,
  },
  {
    name: "ls",
    operands: "URL",
    summary: "what is in it: nodes, levels, objects, chunks, keys",
    load: async () => (await import("./ls.js")).ls,
  },
  {
    name: "get",
    operands: "URL",
    summary: "a part of it: a slice, a query, or raw bytes",
    load: async () => (await import("./get.js")).get,
  },
  {
    name: "convert",
    operands: "IN… OUT",
    summary: "any format to any other, in bounded memory",
    load: async () => (await import("./convert.js")).convert,
  },
  {
    name: "pyramid",
    operands: "STORE",
    summary: "coarser levels of a store, built or built again",
    load: async () => (await import("./pyramid.js")).pyramid,
  },
  {
    name: "publish",
    operands: "STORE OUT",
    summary: "the web form of a store: few requests per question",
    load: async () => (await import("./publish.js")).publish,
  },
  {
    name: "view",
    operands: "URL…",
    summary: "look at it in the browser",
    together: LOOK,
    load: async () => (await import("./view.js")).view,
  },
  {
    name: "render",
    operands: "URL OUT.png",
    summary: "a picture of it, drawn without a browser",
    together: LOOK,
    load: async () => (await import("./render.js")).render,
  },
  {
    name: "serve",
    operands: "PATH…",
    summary: "HTTP for browsers: files, queries, views for Neuroglancer",
    together: WEB,
    load: async () => (await import("./serve.js")).serve,
  },
  {
    name: "link",
    operands: "URL…",
    summary: "an address of Neuroglancer that shows published data",
    together: WEB,
    load: async () => (await import("./link.js")).link,
  },
  {
    name: "validate",
    operands: "URL",
    summary: "is it whole, and if not, what is wrong where",
    load: async () => (await import("./validate.js")).validate,
  },
  {
    name: "diff",
    operands: "A B",
    summary: "do two datasets hold the same, whatever their formats",
    load: async () => (await import("./diff.js")).diff,
  },
  {
    name: "append",
    operands: "STORE FROM…",
    summary: "add the objects of other datasets, all or none",
    together: CHANGE,
    load: async () => (await import("./append.js")).append,
  },
  {
    name: "delete",
    operands: "STORE",
    summary: "take objects out of a store, on every level",
    together: CHANGE,
    load: async () => (await import("./delete.js")).remove,
  },
  {
    name: "repair",
    operands: "URL",
    summary: "write again what follows from the rest of the data",
    together: CHANGE,
    load: async () => (await import("./repair.js")).repair,
  },
  {
    name: "merge",
    operands: "IN… OUT",
    summary: "datasets of one kind become one",
    together: MANY,
    load: async () => (await import("./merge.js")).merge,
  },
  {
    name: "split",
    operands: "URL OUTDIR",
    summary: "one dataset for each group, value, object or box",
    together: MANY,
    load: async () => (await import("./split.js")).split,
  },
  {
    name: "shard",
    operands: "ACTION URL [TO]",
    summary: "sharded bytes by id: list, get, pack, verify, compact",
    together: BARE,
    load: async () => (await import("./shard.js")).shard,
  },
  {
    name: "tree",
    operands: "ACTION URL…",
    summary: "octrees over particles: build, query, verify",
    together: BARE,
    load: async () => (await import("./tree.js")).tree,
  },
  {
    name: "demo",
    operands: "",
    summary: "a guided tour on data it makes itself",
    together: BESIDES,
    load: async () => (await import("./demo.js")).demo,
  },
  {
    name: "completion",
    operands: "SHELL",
    summary: "a completion script for bash, zsh or fish",
    together: BESIDES,
    load: async () => (await import("./completion.js")).completion,
  },
];
