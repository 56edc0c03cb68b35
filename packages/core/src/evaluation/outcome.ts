import type { FlagValue } from '../model/value.ts'
import {
  type EvaluationDetail,
  type EvaluationReason,
  type Explanation,
  REASONS,
} from './detail.ts'

/** A variation with its parsed value. */
export interface CompiledVariation {
  /** The index among the variations of the flag. */
  readonly index: number
  readonly id: string
  readonly key: string
  /** The value, deeply frozen. `null` if it is invalid. */
  readonly value: FlagValue
  /**
   * The reason why the value is invalid. `undefined` if it is valid. A variation with a fault is
   * never served.
   */
  readonly fault: string | undefined
}

/** A possible result of a flag. */
export interface Outcome {
  /** The variation that is served. If it is `undefined`, the value is `null`. */
  readonly variation: CompiledVariation | undefined
  /** The part of the explanation that does not depend on the context. */
  readonly explanation: Explanation
  /** The variation and the reason in one number. See `servedBy` and `reasonOf`. */
  readonly code: number
}

/** The variations that a flag can serve, for the compilation of its parts. */
export interface Servable {
  /** The variations with a valid value, by id. */
  readonly servable: ReadonlyMap<string, CompiledVariation>
  readonly defaultVariationId: string
}

/**
 * Returns the outcome that serves a variation. If the variation does not exist or is invalid, the
 * outcome serves the default variation with the reason `ERROR`.
 */
export function serve(flag: Servable, variationId: string, explanation: Explanation): Outcome {
  const { servable, defaultVariationId } = flag
  return serveOr(servable.get(defaultVariationId), servable.get(variationId), explanation)
}

/**
 * Returns the outcome that serves `variation`. If it is `undefined`, the outcome is that of a broken
 * flag, which serves `fallback` with the reason `ERROR` and the other fields of the explanation.
 */
export function serveOr(
  fallback: CompiledVariation | undefined,
  variation?: CompiledVariation,
  explanation?: Explanation,
): Outcome {
  return variation !== undefined && explanation !== undefined
    ? outcomeOf(variation, explanation)
    : outcomeOf(fallback, { ...explanation, reason: 'ERROR', errorCode: 'MALFORMED_FLAG' })
}

const REASON_BITS = 3

function outcomeOf(variation: CompiledVariation | undefined, explanation: Explanation): Outcome {
  const served = variation === undefined ? 0 : variation.index + 1
  return { variation, explanation, code: codeOf(served, explanation.reason) }
}

/** Returns the outcome code of a detail of a flag. */
export function outcomeCodeOf(
  { variations }: { readonly variations: readonly { readonly id: string }[] },
  { variationId, reason }: Pick<EvaluationDetail, 'variationId' | 'reason'>,
): number {
  const index = variations.findIndex(({ id }) => id === variationId)
  return codeOf(index + 1, reason)
}

function codeOf(served: number, reason: EvaluationReason): number {
  return (served << REASON_BITS) | REASONS.indexOf(reason)
}

/** Returns the number of possible outcome codes of a flag. The codes are less than this number. */
export function codeCountOf({ variations }: { readonly variations: readonly unknown[] }): number {
  return (variations.length + 1) << REASON_BITS
}

/** Returns the index of the variation of an outcome code plus 1, or 0 if there is no variation. */
export function servedBy(code: number): number {
  // A literal instead of `REASON_BITS`, because V8 does not inline constants of modules.
  return code >> 3
}

/** Returns the reason of an outcome code. */
export function reasonOf(code: number): EvaluationReason {
  return REASONS[code & ((1 << REASON_BITS) - 1)] ?? 'ERROR'
}
