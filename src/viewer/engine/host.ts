/** The worker's side of a dataset that is shown elsewhere: it opens, reads, decodes and packs, and tells what has changed. */
import type { Schema } from "../../model/vectors.js";
import type { Bounds } from "../../scene/camera.js";
import type { Colouring } from "../../scene/colouring.js";
import { type Channel, connect, type Port } from "../../worker/channel.js";
import { PortableError } from "../../worker/message.js";
import { SliceEngine } from "../slices/engine.js";
import { sliceReports } from "../slices/remote.js";
import { buffersOf } from "./drawing.js";
import { type FetchSide, fetchThrough } from "./fetch-bridge.js";
import type { News, PageSide, WorkerSide } from "./protocol.js";
import { openSource } from "./source.js";
import { LocalStreamer } from "./streamer.js";

/** Serves one dataset to the other side of a port. */
export function host(port: Port): void {
  let streamer: LocalStreamer | undefined;
  let slices: SliceEngine | undefined;
  const sliced = sliceReports();
  let told: {
    schema?: Schema | undefined;
    colouring?: Colouring;
    bounds?: Bounds;
    legend: string;
    entries: number;
  } = { legend: "", entries: 0 };

  const report = (): void => {
    if (streamer === undefined) return;
    const { bounds, schema, colouring, legend, timeline } = streamer;
    const seen = JSON.stringify([legend.low, legend.high, legend.kinds.size]);
    const steps = streamer.changes();
    const news: News = {
      status: streamer.status(),
      bounds: bounds === told.bounds ? undefined : bounds,
      known: schema === told.schema && colouring === told.colouring ? undefined : { schema, colouring },
      legend: seen === told.legend ? undefined : legend,
      entries: timeline.entries(told.entries),
      steps,
    };
    told = { bounds, schema, colouring, legend: seen, entries: timeline.count };
    channel.tell(
      "news",
      news,
      steps.flatMap(({ add }) => (add === undefined ? [] : buffersOf(add))),
    );
  };

  const reportSlices = (): void => {
    if (slices === undefined) return;
    const news = sliced(slices);
    channel.tell(
      "slices",
      news,
      news.changed.map(({ pixels }) => pixels.buffer as ArrayBuffer),
    );
  };

  const handlers: WorkerSide = {
    async open({ source, asks, ...change }, signal) {
      const { dataset, traffic } = await openSource(source, {
        fetch: asks ? fetchThrough(channel as unknown as Channel<FetchSide>) : undefined,
        signal,
      });
      const onError = (error: Error): void => channel.tell("failed", PortableError.from(error));
      if (dataset.kind === "volume") {
        slices = new SliceEngine(dataset, { memory: change.memory, onChange: reportSlices, onError }, traffic);
        return slices.about;
      }
      const changing = { ...change, onChange: report, onProgress: report, onError };
      streamer = new LocalStreamer(dataset, changing, traffic, () => channel.call("framed", undefined));
      return streamer.about;
    },
    look: (view) => (slices ?? streamer)!.look(view),
    set: (change) => (slices ?? streamer)!.set(change),
    boxes: () => streamer!.boxes(),
    pick: (at) => streamer!.pick(at),
    check: (where) => streamer!.check(where),
    groups: () => streamer!.groups(),
    find: (id) => streamer!.find(id),
    drawn: (id) => streamer!.drawn(id),
    exported: (what) => streamer!.exported(what),
  };
  const channel: Channel<PageSide> = connect(port, handlers);
}
