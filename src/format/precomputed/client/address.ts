/** Where a page finds what an address of ours names. */
import { parseGsUrl } from "../../../store/gs.js";
import { parseS3Url } from "../../../store/s3-url.js";

/** The address that a browser asks; undefined for what is on no web server. A pipeline ends before its first "|". */
export function webAddressOf(text: string): string | undefined {
  const [address = ""] = text.split("|");
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase();
  const plain = (url: string): string => url.replace(/\/+$/, "");
  if (scheme === "http" || scheme === "https") return plain(address);
  if (scheme === "gs") {
    const { bucket, prefix = "" } = parseGsUrl(address);
    return plain(`https://storage.googleapis.com/${bucket}/${escaped(prefix)}`);
  }
  if (scheme === undefined || !/^s3(\+https?)?$/.test(scheme)) return undefined;
  const { bucket, prefix = "", endpoint, region } = parseS3Url(address);
  const host = `s3${region === undefined ? "" : `.${region}`}.amazonaws.com`;
  if (endpoint !== undefined) return plain(`${plain(endpoint)}/${bucket}/${escaped(prefix)}`);
  // A name with dots has no certificate of its own.
  return plain(
    bucket.includes(".")
      ? `https://${host}/${bucket}/${escaped(prefix)}`
      : `https://${bucket}.${host}/${escaped(prefix)}`,
  );
}

const escaped = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
