/** Which layout do the records of a list have: the one that the format asks for, or that of the defect in layout.ts? */
import { Reader } from "../../../bytes/reader.js";
import { OctavoError } from "../../../errors.js";
import { leastBytes, type RecordForm, recordStarts } from "./list.js";

/** "either": both fit, as they do where all values that would tell are small. */
export type Verdict = "sound" | "flawed" | "either" | "neither";

export function judge(list: Uint8Array, sound: RecordForm, flawed: RecordForm): Verdict {
  const [one, other] = [fits(list, sound), fits(list, flawed)];
  return one && other ? "either" : one ? "sound" : other ? "flawed" : "neither";
}

/** Whether the records fill the list exactly, and what should be padding is zero in all of them. */
function fits(bytes: Uint8Array, form: RecordForm): boolean {
  try {
    const reader = new Reader(bytes, "a list of annotations");
    const count = reader.count(reader.u64(), leastBytes(form) + 8);
    const { at, offsets } = recordStarts(reader, count, form);
    if (reader.remaining !== 8 * count) return false;
    const rank = form.info.dimensions.length;
    for (let i = 0; i < count; i++) {
      const from = at[i]! + 4 * rank * (offsets[i + 1]! - offsets[i]!);
      for (const byte of form.layout.padding) if (bytes[from + byte] !== 0) return false;
    }
    return true;
  } catch (error) {
    if (error instanceof OctavoError) return false;
    throw error;
  }
}
