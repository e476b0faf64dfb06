/** Findings. */
import type { Finding, ValidateOptions } from "../../model/format.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";

export async function* validateZarrVectors(
  _store: Store,
  _at: Prefix,
  _options: ValidateOptions = {},
): AsyncGenerator<Finding> {}
