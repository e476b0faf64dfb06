/** Errors that are about the store and not about what it holds, by their reason. */
import { OctavoError } from "../errors.js";

/** No answer, or half of one: the next may well be whole. */
const TRANSIENT: readonly unknown[] = ["unreachable", "unavailable", "slow-down", "timeout", "cut"];
/** No answer, and none to be had by asking again. */
const LASTING: readonly unknown[] = ["unknown-host", "io", "too-many-files", "forbidden", "unauthorized"];

/** Whether the same request may well succeed a little later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof OctavoError && TRANSIENT.includes(error.reason);

/** Whether the store did not give what it was asked for: nothing is known about that, not even that it is damaged. */
export const isNotGiven = (error: unknown): boolean =>
  isTransient(error) || (error instanceof OctavoError && LASTING.includes(error.reason));
