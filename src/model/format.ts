/** The seam: what a format offers to everything above it. */
import type { Limits } from "../limits.js";
import type { Key, Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import type { Dataset, Progress } from "./dataset.js";

/** What every call to a format understands. */
export interface FormatOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** What may be allocated; `defaultLimits` has the rest. */
  readonly limits?: Partial<Limits> | undefined;
  /** Reads documents in place of the store's own `get`, while one format after the other is asked: each is read once. */
  readonly get?: Store["get"] | undefined;
  /** Of formats that are single values: which one. The prefix is then the path of something inside it, "" for all of it. */
  readonly file?: Key | undefined;
  /** The format, or the kind of it, that the caller takes it for. */
  readonly as?: string | undefined;
  /** Of annotations: what they are related to as attributes, for which each is read by its id. */
  readonly related?: boolean | undefined;
}

/** A format's answer to "is this yours?" */
export interface Match {
  readonly format: string;
  readonly version: string;
  /** One line for people: "Zarr v3 array". */
  readonly summary: string;
  /** Opens it, without asking again for what was read to find out. */
  open(): Promise<Dataset>;
}

/** An error is damage; a warning is something to look at; info is worth knowing. */
export type Severity = "error" | "warning" | "info";

/** One thing that `validate` has to say. */
export interface Finding {
  readonly severity: Severity;
  /** Stable id of the rule, such as "zarr/chunk-decodes". */
  readonly rule: string;
  /** Key, or key and byte or element. */
  readonly where: string;
  /** One sentence for people. */
  readonly message: string;
  /** An error that is no damage: the store did not give it, so that nothing is known about it. */
  readonly unchecked?: true;
  /** What `repair` would do, where it can. */
  readonly fix?: string;
}

/** How thoroughly to look. */
export interface ValidateOptions extends FormatOptions {
  /** 1 metadata · 2 structure · 3 counts and presence · 4 chunks decode · 5 everything. The default is 5. */
  readonly level?: 1 | 2 | 3 | 4 | 5 | undefined;
  /** How far it is, of the array that is being looked at. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** How to repair. */
export interface RepairOptions extends FormatOptions {
  /** On: nothing is changed, and `fixed` is what would be. */
  readonly dryRun?: boolean | undefined;
}

/** What a repair has led to. */
export interface RepairReport {
  readonly fixed: readonly Finding[];
  /** What nobody but the owner of the data can repair, and what is only worth knowing. */
  readonly left: readonly Finding[];
}

/** A format: how to recognise, open and check what is at a place in a store. */
export interface Format {
  readonly id: string;
  readonly name: string;
  /** Its data are one value each, which calls name as `file`; else they are what lies below a prefix. */
  readonly single?: true | undefined;
  /** The formats that it stands for, by their ids: many small ones that are loaded when something could be theirs. */
  kinds?(): Promise<readonly string[]>;
  /** What is there, if it is of this format. */
  detect(store: Store, at: Prefix, options?: FormatOptions): Promise<Match | undefined>;
  /** The dataset that is there; NotFound, Corrupt or Unsupported where that fails. */
  open(store: Store, at: Prefix, options?: FormatOptions): Promise<Dataset>;
  /** Everything that can be said against it, one finding at a time. */
  validate(store: Store, at: Prefix, options?: ValidateOptions): AsyncIterable<Finding>;
  /** Writes again what follows from the rest, as one transaction; never invents data. */
  repair?(store: Store, at: Prefix, options?: RepairOptions): Promise<RepairReport>;
}
