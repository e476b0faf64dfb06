/**
 * How long the tasks of a page's own thread are, as Chromium traces them. A task is judged by the time that the processor gave it:
 * on the clock, other programs of the machine and a browser that draws in software are in it too.
 */
import type { Browser, Page } from "playwright-core";

interface Event {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of the thread. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Milliseconds of the processor of each task of the page's thread while something is done, the longest first. */
export async function tasksDuring(browser: Browser, page: Page, act: () => Promise<void>): Promise<number[]> {
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "toplevel"] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: Event[] };
  const main = traceEvents.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
  const isOurs = ({ pid, tid }: Event): boolean => main.some((own) => own.pid === pid && own.tid === tid);
  return traceEvents
    .filter((event) => event.ph === "X" && event.name === "RunTask" && isOurs(event))
    .map(({ tdur = 0 }) => tdur / 1000)
    .sort((a, b) => b - a);
}
