/** What a verb reads from: the options that say how to get there, and the way there. */

import { refuseLosses } from "../convert/losses.js";
import { InvalidInput, Unsupported } from "../errors.js";
import type { OpenFileOptions } from "../format/interchange/types.js";
import type { FormatOptions } from "../model/format.js";
import { openLocation } from "../node.js";
import { type Detected, detect } from "../open.js";
import { Prefix } from "../store/key.js";
import type { Location } from "../store/open.js";
import { flag, text, type Values } from "./args.js";
import type { Output } from "./output.js";
import type { Session } from "./verb.js";

export const sourceOptions = {
  json: flag("print one JSON document on stdout, and nothing else there"),
  as: text("FORMAT", "take it for this format instead of finding out"),
  type: text("NAME", "of a snapshot: the particles of this type, such as gas, dm, stars or PartType2"),
  "forbidden-is-missing": flag("take 403 for absence, as S3 answers where listing is not allowed"),
};

/** Of verbs that read what is in files. */
export const skipOption = {
  "skip-bad": flag("go on without rows, objects and files that are damaged, and list them"),
};

type Skipping = { readonly "skip-bad"?: boolean | undefined; readonly strict?: boolean | undefined };

/** Who is told of what is damaged, and left out: that is a loss. undefined: the first of it is an error. */
export const skipping = (given: Skipping, tell: (problem: string) => void): OpenFileOptions["onBad"] =>
  given["skip-bad"] === true
    ? ({ message }) => {
        refuseLosses(given, [message]);
        tell(message);
      }
    : undefined;

/** A place in a store, whatever is there. */
export interface Place extends Location {
  /** For results: how often "forbidden" was taken for absence, where that was asked for. */
  forbidden(): { readonly forbiddenTakenForMissing?: number };
}

/** A place where there is data of a known format. */
export interface Source extends Omit<Place, "format">, Detected {
  /** The same, when more is known of how to read it. */
  again(reading: Reading): Promise<Detected["match"]>;
}

type Reading = Pick<OpenFileOptions & FormatOptions, "onBad" | "table" | "maxMemory" | "related">;

type Given = Omit<Values<typeof sourceOptions>, "type"> & Skipping & { readonly type?: string | undefined };

export async function findPlace(given: string, options: Given, session: Session): Promise<Place> {
  const { signal } = session;
  const url = given === "-" ? await (await import("./stdin.js")).spooled(options.as, session) : given;
  if (!options["forbidden-is-missing"]) return { ...(await openLocation(url, { signal })), forbidden: () => ({}) };
  const location = await openLocation(url, { signal, forbiddenIsMissing: true });
  return { ...location, forbidden: () => ({ forbiddenTakenForMissing: location.store.forbidden ?? 0 }) };
}

export async function findSource(
  url: string,
  options: Given,
  session: Session,
  reading: Reading = {},
): Promise<Source> {
  const place = withType(await findPlace(url, options, session), options.type, url);
  const onBad = skipping(options, (problem) => session.output.remark(`skipped ${problem}`));
  const found = (more: Reading) => detect(place, { as: options.as, signal: session.signal, onBad, ...more });
  const detected = await found(reading).catch((error: unknown) => {
    if (url !== "-" || options.as !== undefined || !(error instanceof Unsupported)) throw error;
    throw new Unsupported("what comes through the pipe is of no kind that is known by how it begins", {
      where: url,
      hint: "Say what it is: --as csv, --as trk, --as swc …",
    });
  });
  session.output.detail(`${place.store.url}/${place.at} is a ${detected.match.summary}`);
  return { ...place, ...detected, again: async (more) => (await found({ ...reading, ...more })).match };
}

/** The type of particles is a path in the file, as it is behind the address. */
function withType(place: Place, type: string | undefined, url: string): Place {
  if (type === undefined) return place;
  if (place.file === undefined) throw new InvalidInput(`--type is about a snapshot, and ${url} is not a single file`);
  return { ...place, at: Prefix.join(place.at, type) };
}

/** The same in words, where the answer is for people. */
export function remarkForbidden(place: Pick<Place, "forbidden">, output: Output): void {
  const { forbiddenTakenForMissing: count = 0 } = place.forbidden();
  if (count > 0) output.remark(`note: ${count} answers "forbidden" were taken for absence`);
}
