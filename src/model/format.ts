/** The seam: what a format offers to everything above it. */
import type { Limits } from "../limits.js";
import type { Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import type { Dataset } from "./dataset.js";

export interface FormatOptions {
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

/** A format's answer to "is this yours?" */
export interface Match {
  readonly format: string;
  readonly version: string;
  /** One line for people: "Zarr v3 array". */
  readonly summary: string;
}

export type Severity = "error" | "warning" | "info";

export interface Finding {
  readonly severity: Severity;
  /** Stable id of the rule, such as "zarr/chunk-decodes". */
  readonly rule: string;
  /** Key, or key and byte or element. */
  readonly where: string;
  readonly message: string;
  /** What `repair` would do, where it can. */
  readonly fix?: string;
}

export interface ValidateOptions extends FormatOptions {
  /** 1 metadata · 2 structure · 3 counts and presence · 4 chunks decode · 5 everything. The default is 5. */
  readonly level?: 1 | 2 | 3 | 4 | 5 | undefined;
}

export interface Format {
  readonly id: string;
  readonly name: string;
  detect(store: Store, at: Prefix, options?: FormatOptions): Promise<Match | undefined>;
  open(store: Store, at: Prefix, options?: FormatOptions): Promise<Dataset>;
  validate(store: Store, at: Prefix, options?: ValidateOptions): AsyncIterable<Finding>;
}
