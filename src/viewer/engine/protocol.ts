/**
 * What a page and the worker that reads for it say to each other (src/worker/channel.ts): the page is `RemoteStreamer`, the worker is
 * `host`. Drawings are handed over, everything else is copied.
 *
 *   page → worker   open, look, set, boxes, pick, check, groups, find, drawn, exported
 *   worker → page   news, framed, slices, failed; fetch, pull and stop where the caller has a fetch of its own
 */
import type { Schema } from "../../model/vectors.js";
import type { Bounds } from "../../scene/camera.js";
import type { Colouring, Legend } from "../../scene/colouring.js";
import type { PortableError } from "../../worker/message.js";
import type { SliceLook } from "../slices/engine.js";
import type { SliceNews } from "../slices/remote.js";
import type { VolumeAbout } from "../slices/streamer.js";
import type { Drawing } from "./drawing.js";
import type { EngineOptions, Status } from "./engine.js";
import type { FetchSide } from "./fetch-bridge.js";
import type { Found, NamedGroup } from "./found.js";
import type { Step } from "./packing.js";
import type { Pointed } from "./pick.js";
import type { Picked } from "./picked.js";
import type { Source } from "./source.js";
import type { About, Change, Exported } from "./streamer.js";
import type { Entry } from "./timeline.js";
import type { View } from "./view.js";

/** What is to be opened, and how it is shown at first. */
export interface Opened extends Change, Pick<EngineOptions, "memory"> {
  readonly source: Source;
  /** Requests go through the page. */
  readonly asks: boolean;
}

/** What has changed; what is not there is as it was. */
export interface News {
  readonly status: Status;
  readonly bounds?: Bounds | undefined;
  readonly known?: { readonly schema: Schema | undefined; readonly colouring: Colouring } | undefined;
  readonly legend?: Legend | undefined;
  readonly entries: readonly Entry[];
  readonly steps: readonly Step[];
}

/** What the worker does for the page. */
export type WorkerSide = {
  open(opened: Opened, signal: AbortSignal): Promise<About | VolumeAbout>;
  look(view: View): Promise<void>;
  set(change: Change & SliceLook): void;
  boxes(): Promise<Float64Array>;
  pick(at: Pointed): Promise<Picked | undefined>;
  check(where: string): Promise<void>;
  groups(): Promise<readonly NamedGroup[]>;
  find(id: bigint): Promise<Found | undefined>;
  drawn(id: bigint): Promise<Drawing | undefined>;
  exported(what: Exported): Promise<Uint8Array>;
};

/** What the page does for the worker. */
export type PageSide = FetchSide & {
  news(news: News): void;
  /** Resolves when a frame has been drawn with the news so far. */
  framed(): Promise<void>;
  slices(news: SliceNews): void;
  failed(error: PortableError): void;
};
