import type { FlagValue } from '../model/value.ts'
import { type EvaluationReason, type Explanation, REASONS } from './detail.ts'

export interface CompiledVariation {
  /** Its position among the flag's variations. */
  readonly index: number
  readonly id: string
  readonly key: string
  /** Deeply frozen. */
  readonly value: FlagValue
  /** Why the value could not be read; such a variation is never served. */
  readonly fault: string | undefined
}

/** What a flag may evaluate to. All of a flag's outcomes are made when it is compiled. */
export interface Outcome {
  /** undefined: there is nothing to serve, and the value is null. */
  readonly variation: CompiledVariation | undefined
  /** All that can be said before the context is known. */
  readonly explanation: Explanation
  /** The variation and the reason in one number; `servedBy` and `reasonOf` read it. */
  readonly code: number
}

/** The part of a flag that decides what can be served. */
export interface Servable {
  /** The variations whose value could be read, by id. */
  readonly servable: ReadonlyMap<string, CompiledVariation>
  readonly defaultVariationId: string
}

/** Serves a variation, or the default with reason `ERROR` when that variation cannot be served. */
export function serve(flag: Servable, variationId: string, explanation: Explanation): Outcome {
  const variation = flag.servable.get(variationId)
  return variation === undefined ? fail(flag, explanation) : outcomeOf(variation, explanation)
}

/** Serves the default because the flag is broken; what is known of the attempt is kept. */
export function fail(flag: Servable, attempt: Partial<Explanation>): Outcome {
  return outcomeOf(flag.servable.get(flag.defaultVariationId), {
    ...attempt,
    reason: 'ERROR',
    errorCode: 'MALFORMED_FLAG',
  })
}

const REASON_BITS = 3

function outcomeOf(variation: CompiledVariation | undefined, explanation: Explanation): Outcome {
  const served = variation === undefined ? 0 : variation.index + 1
  const code = (served << REASON_BITS) | REASONS.indexOf(explanation.reason)
  return { variation, explanation, code }
}

/** How many codes the outcomes of a flag may have: from 0 on. */
export function codeCountOf({ variations }: { readonly variations: readonly unknown[] }): number {
  return (variations.length + 1) << REASON_BITS
}

/** Which variation an outcome's code stands for: its index plus one; 0 is none. */
export function servedBy(code: number): number {
  // `REASON_BITS`, which engines do not take for a constant.
  return code >> 3
}

/** The reason that an outcome's code stands for. */
export function reasonOf(code: number): EvaluationReason {
  return REASONS[code & ((1 << REASON_BITS) - 1)] ?? 'ERROR'
}
