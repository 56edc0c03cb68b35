import type { Plan } from '@ff/protocol/management'

/** The terms of a plan for API calls. */
export type ApiCallTerms = Pick<
  Plan,
  'maxApiCalls' | 'graceBufferPct' | 'overageBlockSize' | 'overageRateEurCents'
>

/** The cost of API calls beyond a plan. */
export interface Overage {
  /** The number of free calls in a period, including the grace buffer; `null` if all are free. */
  readonly freeCalls: number | null
  /** The number of blocks, complete or begun, beyond the free calls. */
  readonly blocks: number
  readonly eurCents: number
}

/**
 * Returns the cost of a number of API calls in one period. The number of free calls is rounded
 * down, and a block that was begun is charged as a whole. Without terms or without a maximum, all
 * calls are free.
 */
export function overageOf(terms: ApiCallTerms | undefined, apiCalls: number): Overage {
  if (terms === undefined || terms.maxApiCalls === null) {
    return { freeCalls: null, blocks: 0, eurCents: 0 }
  }
  const { maxApiCalls, graceBufferPct, overageBlockSize, overageRateEurCents } = terms
  const freeCalls = Math.floor((maxApiCalls * (100 + graceBufferPct)) / 100)
  const blocks = Math.ceil(Math.max(0, apiCalls - freeCalls) / overageBlockSize)
  return { freeCalls, blocks, eurCents: blocks * overageRateEurCents }
}
