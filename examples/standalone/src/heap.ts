import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** The limit of the heap, in bytes, below which V8 limits the growth between collections strictly. */
const SMALL_HEAP = 1024 * 1024 * 1024

/**
 * Sets by how many percent the heap may grow between two collections of garbage. Without a call, V8
 * chooses the growth.
 *
 * An operator who limits the memory of flag sets wants a small process, so that the heap is collected
 * early. In contrast, V8 collects a heap with a low limit more often than that limit requires. Each
 * collection delays requests, so that such a heap may grow further, up to its limit.
 */
export function adaptHeap({ maxFlagSetBytes }: { readonly maxFlagSetBytes?: number }): void {
  const isSmall = getHeapStatistics().heap_size_limit < SMALL_HEAP
  if (maxFlagSetBytes !== undefined) growBy(20)
  else if (isSmall) growBy(100)
}

function growBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}
