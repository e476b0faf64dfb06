/** Version numbers of the format: they decide only where the structure of a store cannot. */
import { Corrupt } from "../../../errors.js";

/** The newest version that is known, if only from its documents. */
export const NEWEST = "0.9.4";

/** Corrupt unless the text is a version, such as "0.4" or "0.9.2". */
export function checkVersion(text: string, where: string): string {
  if (/^\d{1,9}(\.\d{1,9}){1,3}$/.test(text)) return text;
  const found = JSON.stringify(text.slice(0, 80));
  throw new Corrupt(`${where} should have a version such as "0.9.2", found ${found}`, { where });
}

/** Below 0 where `a` comes before `b`; "0.5" is "0.5.0". */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split("."), b.split(".")];
  for (let i = 0; i < 4; i++) {
    const step = Number(left[i] ?? 0) - Number(right[i] ?? 0);
    if (step !== 0) return step;
  }
  return 0;
}
