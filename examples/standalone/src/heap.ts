import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** The limit of the heap, in bytes, below which V8 limits the growth between collections strictly. */
const SMALL_HEAP = 1024 * 1024 * 1024

interface HeapSettings {
  readonly heapLimit: number
  /** The limit of the memory for flag sets; absent for the default. */
  readonly maxFlagSetBytes?: number | undefined
}

/** Sets by how many percent the heap may grow between two collections of garbage. */
export function adaptHeap({ maxFlagSetBytes }: Pick<HeapSettings, 'maxFlagSetBytes'>): void {
  const { heap_size_limit: heapLimit } = getHeapStatistics()
  const percent = heapGrowth({ heapLimit, maxFlagSetBytes })
  if (percent !== undefined) setFlagsFromString(`--heap-growing-percent=${percent}`)
}

/**
 * Returns by how many percent the heap may grow; `undefined` if V8 decides.
 *
 * An operator who limits the memory for flag sets wants a small process, so that the heap is
 * collected early. In contrast, V8 collects a heap with a low limit more often than the limit
 * requires. Each collection delays requests, so that such a heap may grow further.
 */
export function heapGrowth({ heapLimit, maxFlagSetBytes }: HeapSettings): number | undefined {
  if (maxFlagSetBytes !== undefined) return 20
  return heapLimit < SMALL_HEAP ? 100 : undefined
}
