/** The tags of GIFTI, and where the numbers of its arrays are: these are passed over. */
import type { Json, JsonObject } from "../../bytes/json.js";
import { Corrupt, LimitExceeded, type Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import { type InputFile, passingRoom, type Range } from "./file.js";
import type { OpenFileOptions } from "./types.js";
import { type XmlEvent, XmlReader } from "./xml.js";

export interface ArrayTag {
  readonly attributes: ReadonlyMap<string, string>;
  /** Name and value pairs. */
  readonly metaData: [string, string][];
  readonly transforms: { [key: string]: Json }[];
  /** What is between `<Data>` and its end. */
  data: Range;
}

export interface GiftiDocument {
  readonly version: string;
  readonly metaData: [string, string][];
  readonly labels: JsonObject[];
  readonly arrays: ArrayTag[];
}

/** `refusal`: what is said where tags and texts are too large, of a file that is not held. */
export async function parseDocument(
  file: InputFile,
  options: OpenFileOptions,
  refusal: Unsupported | undefined,
): Promise<GiftiDocument> {
  const limits = withLimits(options.limits);
  const room = refusal === undefined ? Number.POSITIVE_INFINITY : passingRoom(options);
  const chunkBytes = Math.min(limits.chunkBytes, room);
  const reader = new XmlReader(file.where, { ...limits, chunkBytes });
  const builder = new Builder(reader);
  let kept = 0;
  try {
    for await (const bytes of file.stream(0, options))
      for (const event of reader.push(bytes)) {
        kept += reader.offset - reader.start;
        if (kept > room) throw refusal;
        builder.take(event);
      }
    for (const _ of reader.end());
  } catch (error) {
    throw error instanceof LimitExceeded && chunkBytes < limits.chunkBytes ? refusal : error;
  }
  return builder.document;
}

class Builder {
  readonly document: GiftiDocument & { version: string } = { version: "", metaData: [], labels: [], arrays: [] };
  readonly #reader: XmlReader;
  readonly #path: string[] = [];
  #text = "";
  /** Where the last tag ended that opens something. */
  #from = 0;

  constructor(reader: XmlReader) {
    this.#reader = reader;
  }

  take(event: XmlEvent): void {
    if (event.kind === "text") this.#text += event.text;
    else if (event.kind === "open") this.#open(event.name, event.attributes);
    else this.#close(event.name);
    this.#reader.skipsText = this.#path.at(-1) === "Data";
  }

  get #array(): ArrayTag | undefined {
    return this.#path.includes("DataArray") ? this.document.arrays.at(-1) : undefined;
  }

  #open(name: string, attributes: ReadonlyMap<string, string>): void {
    const { document } = this;
    const { where } = this.#reader;
    if (this.#path.length === 0 && name !== "GIFTI")
      throw new Corrupt(`${where} should be <GIFTI>, found <${name}>`, { where });
    if (this.#path.at(-1) === "Data") throw new Corrupt(`${where} has <${name}> within <Data>`, { where });
    this.#path.push(name);
    [this.#text, this.#from] = ["", this.#reader.offset];
    if (name === "GIFTI") document.version = attributes.get("Version") ?? "1.0";
    else if (name === "DataArray")
      document.arrays.push({ attributes, metaData: [], transforms: [], data: { offset: 0, length: 0 } });
    else if (name === "MD") (this.#array ?? document).metaData.push(["", ""]);
    else if (name === "CoordinateSystemTransformMatrix") this.#array?.transforms.push({});
    else if (name === "Label") document.labels.push(Object.fromEntries(attributes));
  }

  #close(name: string): void {
    const { labels } = this.document;
    const array = this.#array;
    const text = this.#text;
    const pair = (array ?? this.document).metaData.at(-1);
    const transform = array?.transforms.at(-1);
    if (name === "Name" && pair !== undefined) pair[0] = text;
    else if (name === "Value" && pair !== undefined) pair[1] = text;
    else if (name === "Label") labels[labels.length - 1] = { ...labels.at(-1), text };
    else if (name === "Data" && array !== undefined)
      array.data = { offset: this.#from, length: Math.max(0, this.#reader.start - this.#from) };
    else if (transform !== undefined && (name === "DataSpace" || name === "TransformedSpace"))
      transform[name] = text.trim();
    else if (transform !== undefined && name === "MatrixData") transform[name] = text.trim().split(/\s+/).map(Number);
    this.#path.pop();
    this.#text = "";
  }
}
