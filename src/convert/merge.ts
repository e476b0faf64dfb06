/** `merge`: datasets of one kind become one, which keeps what each of them says. */
import type { ConvertReport } from "./arrays.js";
import type { converter } from "./index.js";
import type { ConvertToOptions } from "./options.js";

/** What the one shall be. */
export interface MergeOptions
  extends Omit<ConvertToOptions, "ids" | "query" | "slice" | "resume" | "part" | "finish" | "attach"> {
  /**
   * "keep": an id that two inputs have is an error. "new": 0, 1, 2 … in the order of the inputs. Where nothing is said they are kept,
   * unless the inputs are all files that have none.
   */
  readonly ids?: "keep" | "new" | undefined;
}

/** `merge` by what `convert` does with several inputs. */
export function merger(convert: ReturnType<typeof converter>) {
  return (sources: readonly string[], target: string, options: MergeOptions = {}): Promise<ConvertReport> => {
    const { ids: merge = "any", ...rest } = options;
    return convert(sources, target, { ...rest, merge });
  };
}
