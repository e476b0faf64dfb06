import { expect, it } from "vitest";
import { onAbort } from "./signal.js";

it("calls everybody who still listens, once, with one real listener", () => {
  const controller = new AbortController();
  const heard: string[] = [];
  let real = 0;
  const add = controller.signal.addEventListener.bind(controller.signal);
  controller.signal.addEventListener = ((...args: Parameters<typeof add>) => {
    real++;
    add(...args);
  }) as typeof add;
  onAbort(controller.signal, () => heard.push("a"));
  const leave = onAbort(controller.signal, () => heard.push("b"));
  onAbort(controller.signal, () => heard.push("c"));
  leave();
  controller.abort();
  expect(heard).toEqual(["a", "c"]);
  expect(real).toBe(1);
  expect(() => onAbort(undefined, () => {})()).not.toThrow();
});
