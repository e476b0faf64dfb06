/** Lists that come in pages, each with the token of the next. */
import { Corrupt } from "../errors.js";
import { again } from "./retry.js";
import type { CallOptions } from "./types.js";

export const PAGE_BYTES = 8 << 20; // 1000 names of 1 kB, each byte escaped, are 3 MB

export async function* turnPages<Page extends { readonly next: string | undefined }>(
  turn: (token: string | undefined) => Promise<Page>,
  where: string,
  call: CallOptions | undefined,
): AsyncGenerator<Page> {
  const seen = new Set<string>();
  let page = await turn(undefined); // whether to try this one again is for the caller to say
  yield page;
  for (let token = page.next; token !== undefined; token = page.next) {
    if (seen.has(token)) throw new Corrupt(`${where} comes back to a page it already gave`, { where });
    seen.add(token);
    const now = token;
    page = await again(() => turn(now), call); // nobody can begin anew in the middle of a list
    yield page;
  }
}
