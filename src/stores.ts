/**
 * Where bytes live, one by one, for those who do not start from an address: stores, and wrappers around them. Apart from
 * the main entry, so that a page that only opens datasets does not carry them all.
 */
export { type CacheOptions, cacheStore } from "./store/cache.js";
export { type CoalesceOptions, coalesceStore } from "./store/coalesce.js";
export { type GsOptions, gsStore } from "./store/gs.js";
export { type HttpOptions, httpStore } from "./store/http.js";
export { memoryStore } from "./store/memory.js";
export { type Counts, type MeteredStore, meterStore } from "./store/meter.js";
export { prefixStore } from "./store/prefix.js";
export { readonlyStore } from "./store/readonly.js";
export { type RetryOptions, retryStore } from "./store/retry.js";
export { type S3Options, s3Store } from "./store/s3.js";
export { fromZarrita, toZarrita, type ZarritaReadable, type ZarritaStore } from "./store/zarrita.js";
export { type ZipOptions, zipStore } from "./store/zip.js";
export { type ZipWriteOptions, zipWriteStore } from "./store/zip-write.js";
