import type { Plan } from '@ff/protocol/management'

/** What a plan says about API calls. */
export type ApiCallTerms = Pick<
  Plan,
  'maxApiCalls' | 'graceBufferPct' | 'overageBlockSize' | 'overageRateEurCents'
>

/** What API calls beyond a plan cost. */
export interface Overage {
  /** How many calls are free in a period, grace included; `null`: all of them. */
  readonly freeCalls: number | null
  /** Blocks begun beyond the free calls. */
  readonly blocks: number
  readonly eurCents: number
}

/**
 * What a number of API calls in one period costs. Whole numbers throughout: a fraction of a free
 * call is not free, and each block that was begun is paid for as a whole. Without terms, all calls
 * are free.
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
