/**
 * How far a long piece of work is: done, total, rate, time left, memory. On a terminal one line on stderr that rewrites
 * itself, from the first second on; with `--progress json` one JSON object per line, for programs.
 */

import { toJson } from "../convert/json/text.js";
import type { Progress } from "../model/dataset.js";
import { choice } from "./args.js";
import { bytesText, countText } from "./output.js";

export interface Report {
  /** Hand this to the library as `onProgress`. */
  readonly update: (progress: Progress) => void;
  /** Takes the line away, or says the last word in JSON. */
  end(): void;
}

export type ProgressMode = "line" | "json" | "none";

/** For verbs whose work can take long. */
export const progressOption = choice(["auto", "json", "none"], "how far it is, on stderr: a line, NDJSON or nothing");

const PATIENCE = 1000; // work that is over sooner shows nothing
const PACE = { line: 100, json: 500 };

export function createReport(mode: ProgressMode, write: (text: string) => void, now = () => performance.now()): Report {
  if (mode === "none") return { update() {}, end() {} };
  let started = now();
  let shown = Number.NEGATIVE_INFINITY;
  let last: Progress | undefined;

  const show = (progress: Progress, at: number): void => {
    shown = at;
    const state = measure(progress, (at - started) / 1000);
    write(mode === "json" ? `${toJson(state)}\n` : `\r\x1b[K${lineOf(state)}`);
  };

  return {
    update(progress) {
      last = progress;
      const at = now();
      if (at - shown >= PACE[mode] && (mode === "json" || at - started >= PATIENCE)) show(progress, at);
    },
    end() {
      if (mode === "json" && last !== undefined) show(last, now());
      if (mode === "line" && shown > 0) write("\r\x1b[K");
      last = undefined;
      shown = Number.NEGATIVE_INFINITY;
      started = now();
    },
  };
}

interface State extends Progress {
  readonly perSecond: number;
  readonly secondsLeft: number | null;
  readonly memoryBytes: number;
}

function measure(progress: Progress, seconds: number): State {
  const perSecond = seconds > 0 ? progress.done / seconds : 0;
  const secondsLeft = perSecond > 0 ? Math.max(0, (progress.total - progress.done) / perSecond) : null;
  return { ...progress, perSecond, secondsLeft, memoryBytes: process.memoryUsage.rss() };
}

function lineOf({ done, total, unit, perSecond, secondsLeft, memoryBytes }: State): string {
  const percent = total > 0 ? Math.floor((100 * done) / total) : 100;
  const amount = unit === "bytes" ? bytesText : countText;
  const [of, rate] = [`${amount(done)} of ${amount(total)}`, amount(Math.round(perSecond))];
  const left = secondsLeft === null ? "" : ` · ${clock(secondsLeft)} left`;
  return `${percent} % · ${of}${unit === "bytes" ? "" : ` ${unit}`} · ${rate}/s${left} · ${bytesText(memoryBytes)} memory`;
}

const clock = (seconds: number): string =>
  seconds >= 3600
    ? `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
    : seconds >= 60
      ? `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
      : `${Math.ceil(seconds)} s`;
