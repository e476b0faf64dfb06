/** Addresses as text: what may be shown of them, and what they are to the web. */
import { InvalidInput } from "../errors.js";

/** An address without what may be a secret: the user and the password before the host, and the query (signed URLs). */
export const withoutSecrets = (text: string): string => text.replace(/\?.*$/s, "").replace(/\/\/[^/]*@/, "//");

/** In a browser an address may be relative to the page. */
export function webAddress(address: string | URL): URL {
  try {
    return new URL(address, (globalThis as { location?: { href?: string } }).location?.href);
  } catch {
    throw new InvalidInput(`${withoutSecrets(String(address))} is not a URL`); // its cause would show the address
  }
}
