const LIMIT_MS = 3000

let begin: Promise<void> | undefined

/** Delays idle work until a promise resolves, at most a few seconds. */
export function holdIdleWork(until: Promise<void>): void {
  const limit = new Promise<void>((resolve) => setTimeout(resolve, LIMIT_MS))
  begin = Promise.race([until, limit]).then(() => {
    begin = undefined
  })
}

/** Runs work when the browser is idle, within a few seconds; returns a function that cancels it. */
export function whenIdle(work: () => void): () => void {
  let isCancelled = false
  let cancel = () => {
    isCancelled = true
  }
  const request = () => {
    if (!isCancelled) cancel = requestIdle(work)
  }
  if (begin === undefined) request()
  else void begin.then(request)
  return () => cancel()
}

function requestIdle(work: () => void): () => void {
  if (typeof requestIdleCallback === 'function') {
    const id = requestIdleCallback(work, { timeout: LIMIT_MS })
    return () => cancelIdleCallback(id)
  }
  const timer = setTimeout(work, 1)
  return () => clearTimeout(timer)
}
