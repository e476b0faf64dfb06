/** Values as JSON, which knows neither 64-bit integers nor all floats. */

/** JSON that every reader understands: integers beyond 2^53 and the floats that JSON lacks are strings. */
export function toJson(value: unknown, indent?: number): string {
  const replace = (_key: string, found: unknown): unknown => {
    if (typeof found === "bigint") return Number.isSafeInteger(Number(found)) ? Number(found) : String(found);
    if (typeof found === "number" && !Number.isFinite(found)) return String(found);
    return found;
  };
  return JSON.stringify(value, replace, indent);
}

/** As JSON; JSON.stringify knows no -0. */
export function jsonOf(value: unknown): string {
  if (Object.is(value, -0)) return "-0.0";
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return toJson(value);
  const members = Object.entries(value).map(([name, member]) => `${toJson(name)}:${jsonOf(member)}`);
  return `{${members.join(",")}}`;
}
