import type { CompiledFlag } from '@ff/core'
import { type Evaluation, reasonAt, variationAt } from '@ff/core/all-flags'
import { getOrInsert } from '../runtime/get-or-insert.ts'

/** The items of each flag as JSON text, by outcome code. A flag has only a few outcomes. */
const texts = new WeakMap<CompiledFlag, Map<number, string>>()

/**
 * Returns the item of each flag in a bulk answer of OFREP, as JSON text. An item is the same for
 * all contexts with the same outcome, so its text is created only once.
 */
export function ofrepItems(evaluation: Evaluation): readonly string[] {
  const { flags, codes, start } = evaluation
  return flags.map((flag, index) => {
    const known = getOrInsert(texts, flag, () => new Map<number, string>())
    const create = () => JSON.stringify(itemAt(evaluation, index))
    return getOrInsert(known, codes[start + index] ?? 0, create)
  })
}

/** Returns `true` if the flag at `index` is broken. */
export function isBroken(evaluation: Evaluation, index: number): boolean {
  return reasonAt(evaluation, index) === 'ERROR'
}

function itemAt(evaluation: Evaluation, index: number): object {
  const key = evaluation.flags[index]?.key
  if (isBroken(evaluation, index)) {
    const errorDetails = 'The flag cannot be evaluated, because its definition has a fault.'
    return { key, errorCode: 'GENERAL', errorDetails }
  }
  const reason = reasonAt(evaluation, index)
  const variation = variationAt(evaluation, index)
  return {
    key,
    // Without a value, the program uses its own default.
    ...(variation && { value: variation.value, variant: variation.key }),
    // The protocol has no reason for "nothing matched".
    ...(reason === 'DEFAULT' ? { reason: 'UNKNOWN', metadata: { reason } } : { reason }),
  }
}
