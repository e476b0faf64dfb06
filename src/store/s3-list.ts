/**
 * One page of ListObjectsV2:
 *
 *   ListBucketResult: EncodingType? IsTruncated NextContinuationToken? Contents*(Key Size) CommonPrefixes*(Prefix)
 *
 * Names come URL-encoded where EncodingType says so (asked for, as XML cannot hold every character), with + for a blank.
 */
import { Corrupt } from "../errors.js";
import { Xml } from "./s3-xml.js";

export interface Page {
  readonly objects: readonly { readonly name: string; readonly size: number | undefined }[];
  readonly prefixes: readonly string[];
  /** The token of the next page, if there is one. */
  readonly next: string | undefined;
}

export const Page = {
  parse(text: string, prefix: string, where: string): Page {
    const xml = Xml.parse(text, where);
    if (xml.name !== "ListBucketResult")
      throw new Corrupt(`${where} is <${xml.name}>, not <ListBucketResult>`, { where });
    const encoded = Xml.text(xml, "EncodingType") === "url";
    const nameOf = (element: Xml, field: string): string => {
      const name = decode(Xml.text(element, field) ?? "", encoded, where);
      if (!name.startsWith(prefix))
        throw new Corrupt(`${where} has ${JSON.stringify(name)}, which is not below ${JSON.stringify(prefix)}`, {
          where,
        });
      return name;
    };
    const next = Xml.text(xml, "NextContinuationToken");
    const truncated = Xml.text(xml, "IsTruncated") === "true";
    if (truncated && !next) throw new Corrupt(`${where} goes on, but does not say where`, { where });
    return {
      objects: Xml.all(xml, "Contents").map((object) => {
        const size = Xml.text(object, "Size") ?? "";
        return { name: nameOf(object, "Key"), size: /^\d{1,15}$/.test(size) ? Number(size) : undefined };
      }),
      prefixes: Xml.all(xml, "CommonPrefixes").map((group) => nameOf(group, "Prefix")),
      next: truncated ? next : undefined,
    };
  },
};

function decode(name: string, encoded: boolean, where: string): string {
  if (!encoded) return name;
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch (cause) {
    throw new Corrupt(`${where} has the name ${JSON.stringify(name)}, which is not URL-encoded`, { where, cause });
  }
}
