const RESOLUTION_MS = 10
const QUANTILES = [0.5, 0.99, 1] as const

/** Measures how late the event loop runs timers, since the last reading. */
export class EventLoopDelay {
  #histogram: ReturnType<typeof monitor> | undefined

  /** Returns seconds by quantile; nothing the first time, which begins the measurement. */
  read(): readonly (readonly [quantile: string, seconds: number])[] {
    if (this.#histogram === undefined) {
      this.#histogram = monitor()
      this.#histogram?.enable()
      return []
    }
    const { count } = this.#histogram
    const delays = QUANTILES.map((quantile): readonly [string, number] => {
      const millis = count === 0 ? 0 : (this.#histogram?.percentile(quantile * 100) ?? 0) / 1e6
      return [String(quantile), Math.max(0, millis - RESOLUTION_MS) / 1000]
    })
    this.#histogram.reset()
    return delays
  }
}

/** `undefined` on platforms other than Node. */
function monitor() {
  // An import would keep the server from loading on these platforms.
  const module = globalThis.process?.getBuiltinModule?.('node:perf_hooks')
  return module?.monitorEventLoopDelay({ resolution: RESOLUTION_MS })
}
