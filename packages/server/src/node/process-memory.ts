import { memoryUsage } from 'node:process'

/** How much memory this process uses, in bytes. */
export interface ProcessMemory {
  /** Held of the machine's memory. */
  readonly resident: number
  /** Used by JavaScript values. */
  readonly heap: number
}

export function processMemory(): ProcessMemory {
  const { rss, heapUsed } = memoryUsage()
  return { resident: rss, heap: heapUsed }
}
