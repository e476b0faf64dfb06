/** Lets so many work at once: who takes a turn waits for it, and gives it back by calling what it was given. */
export function turns(most: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const leaver = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = waiting.shift();
      if (next === undefined) taken--;
      else next();
    };
  };
  return async () => {
    if (taken >= most) await new Promise<void>((go) => waiting.push(go));
    else taken++;
    return leaver();
  };
}
