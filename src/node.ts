/** Octavo in Node: everything that "octavo" has, and files. */
import { datasetOpener } from "./open.js";
import { locationOpener } from "./store/open.js";
import { nodeSchemes } from "./store/open-node.js";

/** The store and the place in it that an address stands for; a plain path is a file or a folder. */
export const openLocation = locationOpener(nodeSchemes);
/** The dataset at an address. */
export const open = datasetOpener(openLocation);

export * from "./index.js";
export { type FileStoreOptions, fileStore } from "./store/file.js";
export * from "./stores.js";
