/**
 * Hands on a camera: one button or finger turns, another button, a second finger or shift moves, the wheel or two fingers come
 * closer; a click picks. Keys: arrows turn, with shift they move; + and - come closer and go away; F shows everything, and
 * Escape ends what a click began.
 */
import { basisOf, type Camera, type Vector } from "../scene/camera.js";

interface Handled {
  camera: Camera;
  fit(): void;
  /** Comes closer (below 1) or goes away. */
  zoom(by: number): void;
  pick(x: number, y: number): Promise<unknown>;
  choose(picked: undefined, layer: undefined): void;
}

const TURN = 0.4; // degrees per pixel
const STILL = 4; // pixels that a click may move

/** Answers what ends it; `failed` is told why nothing could be picked. */
export function controls(canvas: HTMLCanvasElement, stage: Handled, failed: (error: Error) => void): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = 0;

  const turn = (dx: number, dy: number): void => {
    const { camera } = stage;
    stage.camera = { ...camera, azimuth: camera.azimuth - dx * TURN, elevation: camera.elevation + dy * TURN };
  };
  const move = (dx: number, dy: number): void => {
    const { camera } = stage;
    const { right, up } = basisOf(camera);
    const unit = camera.span / canvas.clientHeight;
    const target = camera.target.map((at, k) => at - (dx * right[k]! - dy * up[k]!) * unit) as unknown as Vector;
    stage.camera = { ...camera, target };
  };
  const zoom = (by: number): void => stage.zoom(by);
  const spread = (): number => {
    const [a, b] = [...pointers.values()];
    return a === undefined || b === undefined ? 0 : Math.hypot(a.x - b.x, a.y - b.y);
  };

  const listen: { readonly [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void } = {
    pointerdown(event) {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved = pointers.size > 1 ? STILL : 0;
    },
    pointermove(event) {
      const last = pointers.get(event.pointerId);
      if (last === undefined) return;
      const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
      const before = spread();
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved += Math.abs(dx) + Math.abs(dy);
      if (pointers.size === 2) {
        if (before > 0 && spread() > 0) zoom(before / spread());
        move(dx / 2, dy / 2);
      } else if (event.shiftKey || event.ctrlKey || (event.buttons & 6) !== 0) move(dx, dy);
      else turn(dx, dy);
    },
    pointerup(event) {
      pointers.delete(event.pointerId);
      if (moved > STILL || event.button !== 0) return;
      const { left, top } = canvas.getBoundingClientRect();
      stage.pick(event.clientX - left, event.clientY - top).catch(failed);
    },
    pointercancel(event) {
      pointers.delete(event.pointerId);
    },
    wheel(event) {
      event.preventDefault();
      zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 400))));
    },
    contextmenu: (event) => event.preventDefault(),
    dblclick: () => stage.fit(),
    keydown(event) {
      const step = 24;
      const arrows: Readonly<Record<string, readonly [number, number]>> = {
        ArrowLeft: [step, 0],
        ArrowRight: [-step, 0],
        ArrowUp: [0, step],
        ArrowDown: [0, -step],
      };
      const arrow = arrows[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (arrow !== undefined) (event.shiftKey ? move : turn)(...arrow);
      else if (event.key === "+" || event.key === "=") zoom(0.8);
      else if (event.key === "-") zoom(1.25);
      else if (event.key === "f" || event.key === "F") stage.fit();
      else if (event.key === "Escape") stage.choose(undefined, undefined);
      else return;
      event.preventDefault();
    },
  };
  const entries = Object.entries(listen) as [string, EventListener][];
  for (const [name, listener] of entries) canvas.addEventListener(name, listener, { passive: false });
  return () => {
    for (const [name, listener] of entries) canvas.removeEventListener(name, listener);
  };
}
