/** A volume of labels that names what was converted beside it, or in it. */
import { InvalidInput } from "../../errors.js";
import { type InfoLinks, linkable, linkInfo, mayHave, pathBetween } from "../../format/precomputed/link.js";
import type { Dataset } from "../../model/dataset.js";
import type { Location, LocationOptions } from "../../store/open.js";
import { publishedAs } from "./index.js";
import type { PublishOptions } from "./publication.js";

const MEMBERS: { readonly [kind: string]: keyof InfoLinks & string } = {
  skeletons: "skeletons",
  meshes: "mesh",
  "legacy-meshes": "mesh",
};

/** What links them once the target is there; that it can be is found out before anything is converted. */
export async function linker(
  openLocation: (url: string, options?: LocationOptions) => Promise<Location>,
  volume: string,
  target: string,
  dataset: Dataset,
  options: Pick<PublishOptions, "kind" | "signal" | "limits"> & { readonly to?: string | undefined },
): Promise<() => Promise<void>> {
  const { kind, signal, limits, to } = options;
  const member = dataset.kind === "vectors" && to === "precomputed" ? MEMBERS[publishedAs(dataset, kind)] : undefined;
  if (member === undefined)
    throw new InvalidInput(`${dataset.url} becomes neither skeletons nor meshes, and volumes are linked to those`);
  if (/\.(zip|ozx)$/i.test(target.split("|")[0]!))
    throw new InvalidInput(`${target} is a zip file, into which no path leads from a volume`);
  const { store, at } = await openLocation(volume, { signal });
  mayHave(await linkable(store, at, { signal, limits }), member);
  const place = await openLocation(target, { signal, create: true });
  const [from, here] = [`${store.url}/${at}`, `${place.store.url}/${place.at}`];
  const path = pathBetween(from, here);
  if (path === undefined)
    throw new InvalidInput(`${here} and ${from} are not on one server, so that no path leads from one to the other`);
  return () => linkInfo(store, at, { [member]: path }, { signal, limits });
}
