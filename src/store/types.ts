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

/** Which bytes of a value. */
export type ByteRange =
  | { readonly offset: number; readonly length: number }
  /** The last `suffix` bytes. */
  | { readonly suffix: number };

/** What every call to a store understands. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What `get` understands. */
export interface GetOptions extends CallOptions {
  readonly range?: ByteRange | undefined;
  /** Of a value read whole: one of more bytes is LimitExceeded, and is not read. For documents, which are short. */
  readonly most?: number | undefined;
}

/** What `list` and `children` understand. */
export interface ListOptions extends CallOptions {
  /** Also what writes that never ended have left, as keys that end in ".partial", where the store hides such. */
  readonly partial?: boolean | undefined;
  /** Keys without their sizes will do, which a folder tells faster. */
  readonly bare?: boolean | undefined;
}

/** The state of a value that a conditional write insists on. */
export type Condition = { readonly absent: true } | { readonly version: string };

/** What every call that changes a store understands. */
export interface ChangeOptions extends CallOptions {
  /** Nobody has use for it once this process is gone: it need not survive a power cut. */
  readonly passing?: boolean | undefined;
}

/** What `set` and `write` understand. */
export interface SetOptions extends ChangeOptions {
  /** Write only if this holds, else Conflict. */
  readonly if?: Condition | undefined;
}

/** What is known of a value without reading it. */
export interface Stat {
  readonly size: number;
  /** Changes whenever the value does; absent where the store cannot tell (then `can.conditional` is false). */
  readonly version?: string | undefined;
}

/** A key that `list` found. */
export interface Listed {
  readonly key: Key;
  readonly size?: number | undefined;
}

/** What lies one level below a prefix. */
export interface Children {
  readonly keys: readonly Key[];
  /** Prefixes one level down, each ending in "/". */
  readonly prefixes: readonly Prefix[];
}

/** A large value on its way, piece by piece. Nothing is visible before `commit`. */
export interface Sink {
  /** The next piece. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the whole value visible, at once. */
  commit(): Promise<void>;
  /** Throws away what was written; safe to call twice and after commit. */
  abort(): Promise<void>;
}

/** A value that is read piece by piece, and stays as it was when it was opened, whatever happens to its key meanwhile. */
export interface OpenValue {
  readonly size: number;
  /** The same as long as the value is; undefined where it is too young to tell. */
  readonly version: string | undefined;
  /** Exactly these bytes of it; pieces may share their memory. */
  read(spans: readonly { readonly offset: number; readonly length: number }[]): Promise<Uint8Array[]>;
  /** Nothing is read after this; what is under way ends well. */
  close(): void;
}

/** What a store can do. */
export interface Capabilities {
  readonly list: boolean;
  readonly write: boolean;
  /** `set` understands `if`. */
  readonly conditional: boolean;
}

/** A map from keys to bytes. docs/stores.md has the rules that every store keeps. */
export interface Store {
  /** A URL for people and error messages; `${url}/${key}` names a value. Never contains credentials. */
  readonly url: string;
  readonly can: Capabilities;
  /** How many answers "forbidden" were taken for absence so far, because the caller asked for that. */
  readonly forbidden?: number | undefined;
  /** The value, or the range of it; undefined where there is none. */
  get(key: Key, options?: GetOptions): Promise<Uint8Array | undefined>;
  /** Size and version of the value; undefined where there is none. */
  stat(key: Key, options?: CallOptions): Promise<Stat | undefined>;
  /** Every key that starts with the prefix, in no particular order. */
  list(prefix: Prefix, options?: ListOptions): AsyncIterable<Listed>;
  /** One level below the prefix, sorted. */
  children(prefix: Prefix, options?: ListOptions): Promise<Children>;
  /** Puts a value, whole or not at all. */
  set(key: Key, value: Uint8Array, options?: SetOptions): Promise<void>;
  /** Begins a large value that comes in pieces. */
  write(key: Key, options?: SetOptions): Promise<Sink>;
  /** Deleting what is not there is no error. */
  delete(key: Key, options?: ChangeOptions): Promise<void>;
  /** A value to read in pieces, undefined where there is none. Only of stores where that is cheaper than `get`, and safer. */
  open?(key: Key, options?: CallOptions): Promise<OpenValue | undefined>;
  /** False: what is written to this key is thrown away, so that it need not be made. Of stores that take only a share of the work. */
  wants?(key: Key): boolean;
  /** Ends connections, handles and timers. */
  close?(): Promise<void>;
}
