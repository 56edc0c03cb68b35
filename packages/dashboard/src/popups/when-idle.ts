const LIMIT_MS = 3000

/** Runs work when the browser is idle, within a few seconds; returns a function that cancels it. */
export function whenIdle(work: () => void): () => void {
  if (typeof requestIdleCallback === 'function') {
    const id = requestIdleCallback(work, { timeout: LIMIT_MS })
    return () => cancelIdleCallback(id)
  }
  const timer = setTimeout(work, 1)
  return () => clearTimeout(timer)
}
