/**
 * Errors that are about the store and not about what it holds.
 *
 * | reason                                               | says                                                         |
 * |------------------------------------------------------|--------------------------------------------------------------|
 * | unreachable · unavailable · slow-down · timeout · cut | no answer, or half of one: the next may well be whole         |
 * | io · too-many-files · forbidden · unauthorized       | no answer, and none to be had by asking again                 |
 */
import { OctavoError } from "../errors.js";

const TRANSIENT: readonly unknown[] = ["unreachable", "unavailable", "slow-down", "timeout", "cut"];
const LASTING: readonly unknown[] = ["io", "too-many-files", "forbidden", "unauthorized"];

/** Whether the same request may well succeed a little later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof OctavoError && TRANSIENT.includes(error.reason);

/** Whether the store did not give what it was asked for: nothing is known about that, not even that it is damaged. */
export const isNotGiven = (error: unknown): boolean =>
  isTransient(error) || (error instanceof OctavoError && LASTING.includes(error.reason));
