/** Blocks the event loop for a number of milliseconds. */
export function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
