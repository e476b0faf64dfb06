/** Strided copies live with the codecs, since transpose and sharding are made of them. */
export * from "../codec/strided.js";
