/** Particles that come batch by batch: what a tree is built from when they are more than memory has room for. */
import type { Column } from "../../model/attributes.js";
import type { Positions } from "../../model/vectors.js";
import type { CallOptions } from "../../store/types.js";

/** Some particles; the batch is not looked at again once the next one is asked for. */
export interface ParticleBatch {
  /** x, y, z of each. */
  readonly positions: Positions;
  /** Attributes: numbers, as many for each particle as they have channels. In each batch the same ones, in the same order. */
  readonly columns: readonly Column[];
}

/** Particles in the order of their numbers, from 0 on. */
export interface ParticleStream {
  /** How many there are, where that is known: it is compared with how many came. */
  readonly count?: number | undefined;
  /** What positions are stored as, where batches of both come; as in the first batch, unless told. */
  readonly precision?: "float32" | "float64" | undefined;
  /** All particles; each call begins anew. */
  batches(options?: CallOptions): AsyncIterable<ParticleBatch>;
}
