import { isFlagError } from '@ff/core'
import type { Storage, StorageSession } from '../../ports/storage.ts'

/** The work of a transaction. */
export type Work<T> = (tx: StorageSession) => Promise<T>

/** The result of a transaction, or the error of its work. */
export type Outcome<T> = { readonly result: T } | { readonly refusal: string }

/** The time after which a transaction no longer waits for the other one. */
const WAIT_MS = 200

/** Runs two transactions with different locks, one in each store, and returns their outcomes. */
export async function both<A, B>(
  [first, second]: readonly [Storage, Storage],
  one: Work<A>,
  two: Work<B>,
): Promise<readonly [Outcome<A>, Outcome<B>]> {
  return Promise.all([
    outcomeOf(first.transaction('lock one', one)),
    outcomeOf(second.transaction('lock two', two)),
  ])
}

async function outcomeOf<T>(work: Promise<T>): Promise<Outcome<T>> {
  try {
    return { result: await work }
  } catch (error) {
    // Only errors of the work are expected. Those of the store fail the test.
    if (isFlagError(error)) throw error
    return { refusal: String(error) }
  }
}

/** Returns `true` if the work succeeds, and `false` if it fails with this code. */
export async function succeedsUnless(code: string, work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (isFlagError(error) && error.code === code) return false
    throw error
  }
}

/**
 * Returns a function with which two transactions wait for each other. A transaction waits only a
 * short time, because the other one may not begin, or may have to wait in the store.
 */
export function barrier(): () => Promise<void> {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let arrivals = 0
  return async () => {
    arrivals += 1
    if (arrivals > 1) open()
    else setTimeout(open, WAIT_MS)
    await opened
  }
}

/** Waits some milliseconds. */
export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
