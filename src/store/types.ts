/**
 * Where bytes live: a map from keys to values, with ranges.
 *
 * The rules that every store keeps, and that the exported suite (testing/store-suite.ts) holds it to:
 * - absence is `undefined`; anything else that keeps a value from being read whole is an error, never absence
 * - a range gives exactly the bytes asked for, or throws: past the end is Corrupt, never padded, never shortened
 *   (a suffix longer than the value gives the whole value, as HTTP says)
 * - `set` and `Sink.commit` are atomic: another reader sees the old value, or the new one, whole
 * - a value handed out belongs to the caller; a value handed in may be reused by the caller once the promise settles
 * - what a store cannot do is `false` in `can`, and calling it all the same throws Unsupported
 */
import type { Key, Prefix } from "./key.js";

export type ByteRange =
  | { readonly offset: number; readonly length: number }
  /** The last `suffix` bytes. */
  | { readonly suffix: number };

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface GetOptions extends CallOptions {
  readonly range?: ByteRange | undefined;
}

/** The state of a value that a conditional write insists on. */
export type Condition = { readonly absent: true } | { readonly version: string };

export interface SetOptions extends CallOptions {
  /** Write only if this holds, else Conflict. */
  readonly if?: Condition | undefined;
}

export interface Stat {
  readonly size: number;
  /** Changes whenever the value does; absent where the store cannot tell (then `can.conditional` is false). */
  readonly version?: string | undefined;
}

export interface Listed {
  readonly key: Key;
  readonly size?: number | undefined;
}

export interface Children {
  readonly keys: readonly Key[];
  /** Prefixes one level down, each ending in "/". */
  readonly prefixes: readonly Prefix[];
}

/** A large value on its way, piece by piece. Nothing is visible before `commit`. */
export interface Sink {
  write(bytes: Uint8Array): Promise<void>;
  commit(): Promise<void>;
  /** Throws away what was written; safe to call twice and after commit. */
  abort(): Promise<void>;
}

export interface Capabilities {
  readonly list: boolean;
  readonly write: boolean;
  /** `set` understands `if`. */
  readonly conditional: boolean;
}

export interface Store {
  /** A URL for people and error messages; `${url}/${key}` names a value. Never contains credentials. */
  readonly url: string;
  readonly can: Capabilities;
  /** How many answers "forbidden" were taken for absence so far, because the caller asked for that. */
  readonly forbidden?: number | undefined;
  get(key: Key, options?: GetOptions): Promise<Uint8Array | undefined>;
  stat(key: Key, options?: CallOptions): Promise<Stat | undefined>;
  /** Every key that starts with the prefix, in no particular order. */
  list(prefix: Prefix, options?: CallOptions): AsyncIterable<Listed>;
  /** One level below the prefix, sorted. */
  children(prefix: Prefix, options?: CallOptions): Promise<Children>;
  set(key: Key, value: Uint8Array, options?: SetOptions): Promise<void>;
  write(key: Key, options?: SetOptions): Promise<Sink>;
  /** Deleting what is not there is no error. */
  delete(key: Key, options?: CallOptions): Promise<void>;
  /** Ends connections, handles and timers. */
  close?(): Promise<void>;
}
