/** What images and other files say of streamlines: which of them are converted, and which attributes they get. */
import { InvalidInput } from "../errors.js";
import { type InputFile, openFile } from "../format/interchange/file.js";
import { touches } from "../format/interchange/inside.js";
import { readMask, readNifti } from "../format/interchange/nifti.js";
import { ownImage } from "../format/interchange/streamlines-write.js";
import type { ImageSpace } from "../format/interchange/types.js";
import { readValues } from "../format/interchange/values-file.js";
import type { VectorDataset } from "../model/vectors.js";
import type { Location, LocationOptions } from "../store/open.js";
import { attached } from "./attach.js";
import type { Feed } from "./feed.js";
import { placeOf } from "./files.js";
import { masked, withinImage } from "./mask.js";

export interface TractOptions {
  /** Of streamlines: the image whose space they are about, as a NIfTI file or as its grid. Those that leave it are counted before work starts. */
  readonly reference?: string | ImageSpace | undefined;
  /** What becomes of streamlines that leave the reference, or without one the image that their TRK or TRX names; they are kept, and told, unless said. */
  readonly invalid?: "keep" | "drop" | "fail" | undefined;
  /** NIfTI files: only streamlines with a vertex in each of these masks are converted. */
  readonly include?: readonly string[] | undefined;
  /** NIfTI files: no streamline with a vertex in any of these masks is. */
  readonly exclude?: readonly string[] | undefined;
  /** Masks are asked about the first and the last vertex only. */
  readonly endsOnly?: boolean | undefined;
  /** Attributes from other files (.txt, .tsf, .npy), one value for each streamline or for each vertex: address by name. */
  readonly attach?: { readonly [name: string]: string } | undefined;
  /** Is told what a person should know before work starts. */
  readonly onNote?: ((sentence: string) => void) | undefined;
}

/** All of it, read. */
export interface Tracts {
  readonly reference: ImageSpace | undefined;
  /** The dataset with what is attached to it. */
  readonly attach: ((dataset: VectorDataset) => Promise<VectorDataset>) | undefined;
  /** What the images leave of a feed. */
  within(feed: Feed): Promise<Feed>;
}

/** Reads what the options name; undefined where they name nothing. */
export async function tractsOf(
  openLocation: (url: string, options?: LocationOptions) => Promise<Location>,
  options: TractOptions & LocationOptions,
): Promise<Tracts | undefined> {
  const { reference, invalid = "keep", include = [], exclude = [], endsOnly, attach = {}, onNote } = options;
  if (endsOnly === true && include.length + exclude.length === 0)
    throw new InvalidInput("there are no masks that ends could be in: include or exclude some");
  const names = Object.entries(attach);
  const reading = { signal: options.signal, limits: options.limits };
  const asked = [reference, options.invalid, ...include, ...exclude, ...names];
  if (asked.every((one) => one === undefined)) return undefined;
  const file = async (address: string): Promise<InputFile> => {
    const { store, key } = await placeOf(openLocation, address, options);
    return openFile(store, key, reading);
  };
  const maskAt = async (address: string) => touches(await readMask(await file(address), reading), endsOnly);
  const space = typeof reference === "string" ? await readNifti(await file(reference), reading) : reference;
  const image = typeof reference === "string" ? reference : "the image";
  /** What says what becomes of streamlines that leave an image means their own where no other is named. */
  const spaceFor = ({ headers }: Feed): ImageSpace | undefined => {
    const found = space ?? (options.invalid === undefined ? undefined : ownImage(headers));
    if (found !== undefined || options.invalid === undefined) return found;
    throw new InvalidInput("there is no image that streamlines could leave: a reference is missing (--reference)");
  };
  const filter = {
    include: await Promise.all(include.map(maskAt)),
    exclude: await Promise.all(exclude.map(maskAt)),
  };
  const values = await Promise.all(
    names.map(async ([name, address]) => readValues(await file(address), name, reading)),
  );
  return {
    reference: space,
    attach: values.length === 0 ? undefined : (dataset) => attached(dataset, values, reading),
    async within(feed) {
      const some = include.length + exclude.length === 0 ? feed : masked(feed, filter);
      const own = spaceFor(feed);
      if (own === undefined) return some;
      const { feed: left, outside } = await withinImage(some, own, invalid, reading);
      if (outside === 0) return left;
      const note = `${feed.url}: ${outside} streamlines leave ${image}, and are ${invalid === "keep" ? "kept" : "left out"}`;
      onNote?.(note);
      return { ...left, notes: [note] };
    },
  };
}
