/**
 * The six ways in which Octavo says no.
 *
 * | class         | means                                                                             |
 * |---------------|-----------------------------------------------------------------------------------|
 * | NotFound      | something that was asked for by name is not there                                 |
 * | Corrupt       | the bytes contradict their format, their checksum or each other                   |
 * | Unsupported   | understood, but Octavo or this store cannot do it (also: the store forbids it)    |
 * | InvalidInput  | the call is wrong: an argument, a key, a URL, a region                            |
 * | Conflict      | somebody else changed or already made what this call was about to write           |
 * | LimitExceeded | a bound was hit: memory, depth, time, tries, disk space                           |
 *
 * A message is one sentence that says what, where, expected and found. An aborted call rejects with its signal's reason.
 */
export type ErrorKind = "not-found" | "corrupt" | "unsupported" | "invalid-input" | "conflict" | "limit-exceeded";

/** What an error knows besides its sentence. */
export interface ErrorDetails {
  /** The key, URL or path that the sentence is about. */
  readonly where?: string;
  /** A finer word for programs: "forbidden", "disk-full", "unreachable", "timeout", … */
  readonly reason?: string;
  /** What a person could try next; one sentence. */
  readonly hint?: string;
  /** Seconds after which the other side says to come back. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** What the six have in common: `catch (error) { if (error instanceof OctavoError) … }`. */
export abstract class OctavoError extends Error {
  abstract readonly kind: ErrorKind;
  readonly where: string | undefined;
  readonly reason: string | undefined;
  readonly hint: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.where = details.where;
    this.reason = details.reason;
    this.hint = details.hint;
    this.retryAfter = details.retryAfter;
  }
}

/** Something that was asked for by name is not there. */
export class NotFound extends OctavoError {
  readonly kind = "not-found";
  override readonly name = "NotFound";
}
/** The bytes contradict their format, their checksum or each other. */
export class Corrupt extends OctavoError {
  readonly kind = "corrupt";
  override readonly name = "Corrupt";
}
/** Understood, but Octavo or this store cannot do it; also: the store forbids it. */
export class Unsupported extends OctavoError {
  readonly kind = "unsupported";
  override readonly name = "Unsupported";
}
/** The call is wrong: an argument, a key, a URL, a region. */
export class InvalidInput extends OctavoError {
  readonly kind = "invalid-input";
  override readonly name = "InvalidInput";
}
/** Somebody else changed or already made what this call was about to write. */
export class Conflict extends OctavoError {
  readonly kind = "conflict";
  override readonly name = "Conflict";
}
/** A bound was hit: memory, depth, time, tries, disk space. */
export class LimitExceeded extends OctavoError {
  readonly kind = "limit-exceeded";
  override readonly name = "LimitExceeded";
}
