/** Octavo in Node: everything that "octavo" has, and files. */
import { converter } from "./convert/index.js";
import { merger } from "./convert/merge.js";
import { splitter } from "./convert/split.js";
import { differ } from "./diff/index.js";
import { datasetOpener } from "./open.js";
import { pyramider } from "./pyramid/index.js";
import { locationOpener } from "./store/open.js";
import { nodeSchemes } from "./store/open-node.js";
import { temporary } from "./store/temporary.js";

/** The store and the place in it that an address stands for; a plain path is a file or a folder. */
export const openLocation = /* @__PURE__ */ locationOpener(nodeSchemes);
/** The dataset at an address. */
export const open = /* @__PURE__ */ datasetOpener(openLocation);
/** A dataset, or what is at an address, to another address; answers what was copied, what was encoded anew, what was lost. */
export const convert = /* @__PURE__ */ converter(open, openLocation, temporary);
/** Datasets of one kind become one, which keeps the ids, attributes and groups of each. */
export const merge = /* @__PURE__ */ merger(convert);
/** A dataset becomes a folder of datasets: one for each group, value of an attribute, object, or box of a grid. */
export const split = /* @__PURE__ */ splitter(open, openLocation, convert);
/** Do two datasets hold the same data, whatever their formats? */
export const diff = /* @__PURE__ */ differ(open);
/** Builds the coarser levels of a Zarr Vectors store, or builds them again. */
export const pyramid = /* @__PURE__ */ pyramider(openLocation);

export * from "./index.js";
export { type FileStoreOptions, fileStore } from "./store/file.js";
export type { ScratchFile } from "./store/scratch.js";
export { scratchFile } from "./store/scratch-file.js";
export * from "./stores.js";
