/**
 * Addresses of S3 as text: s3://bucket/prefix?endpoint=…&region=…&addressing=…&profile=…&anonymous=true, and
 * s3+http(s)://host:port/bucket/prefix for another server. The prefix is taken as it stands, as by AWS's own tools.
 */
import { InvalidInput } from "../errors.js";
import { withoutSecrets } from "./address.js";
import type { S3Options } from "./s3.js";

const OPTIONS = ["endpoint", "region", "addressing", "profile", "anonymous"];

export function parseS3Url(text: string): S3Options {
  const found = /^s3(?:\+(https?:\/\/[^/?@]+)\/|:\/\/)([^/?@]+)(?:\/([^?]*))?(?:\?(.*))?$/i.exec(text);
  const bad = (what: string) => new InvalidInput(`${withoutSecrets(text)} ${what}`, { where: withoutSecrets(text) });
  if (found === null)
    throw bad(
      "is not an S3 address: s3://bucket/prefix or s3+https://host/bucket/prefix, without a password, was expected",
    );
  const [, host, bucket, prefix, query] = found;
  const options = new URLSearchParams(query ?? "");
  for (const name of options.keys())
    if (!OPTIONS.includes(name)) throw bad(`has the option ${JSON.stringify(name)}; there are ${OPTIONS.join(", ")}`);
  const addressing = options.get("addressing") ?? undefined;
  if (addressing !== undefined && addressing !== "path" && addressing !== "virtual")
    throw bad(`has the addressing ${JSON.stringify(addressing)}; there are path and virtual`);
  const anonymous = options.get("anonymous") ?? "false";
  if (anonymous !== "true" && anonymous !== "false")
    throw bad("has an option anonymous that is neither true nor false");
  return {
    bucket: bucket!,
    prefix: (prefix ?? "").replace(/\/+$/, ""),
    endpoint: options.get("endpoint") ?? host,
    region: options.get("region") ?? undefined,
    addressing,
    profile: options.get("profile") ?? undefined,
    credentials: anonymous === "true" ? "anonymous" : undefined,
  };
}
