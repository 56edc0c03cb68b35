const RESOLUTION_MS = 10
const QUANTILES = [0.5, 0.99, 1] as const

/** Measures the delay with which the event loop runs timers. */
export class EventLoopDelay {
  #histogram: ReturnType<typeof monitor> | undefined

  /**
   * Returns the delays in seconds since the last call, by quantile. The first call starts the
   * measurement and returns an empty list.
   */
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

/** Returns a histogram of delays; `undefined` on platforms other than Node. */
function monitor() {
  // With an import of this module, the server would not load on other platforms.
  const module = globalThis.process?.getBuiltinModule?.('node:perf_hooks')
  return module?.monitorEventLoopDelay({ resolution: RESOLUTION_MS })
}
