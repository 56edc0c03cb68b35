/** The memory of this process, in bytes. */
export interface ProcessMemory {
  /** Held of the machine's memory. */
  readonly resident: number
  /** Used by JavaScript values. */
  readonly heap: number
}

/** Returns the memory of this process; `undefined` where the platform does not report it. */
export function processMemory(): ProcessMemory | undefined {
  const usage = globalThis.process?.memoryUsage?.()
  return usage && { resident: usage.rss, heap: usage.heapUsed }
}
