import type { Preview } from '@ff/protocol/management'

/** The impact on all contexts, as it follows from a sample. */
export interface ScaledImpact {
  readonly estimate: number
  /** The bounds that contain the true number with a probability of 95 %. */
  readonly low: number
  readonly high: number
}

/** How many contexts of a sample change. */
export interface SampleCounts {
  readonly changed: number
  readonly evaluated: number
  /** The number of all contexts, at least `evaluated`. */
  readonly inWindow: number
}

/** The quantile of the normal distribution for 95 %. */
const Z = 1.96

/**
 * Scales the result of a uniform sample without repetition to all contexts. The bounds are those of
 * Wilson, corrected for a sample of a finite number of contexts; they also hold for 0 and for all.
 */
export function scaledImpact({ changed, evaluated, inWindow }: SampleCounts): ScaledImpact {
  const rest = inWindow - evaluated
  if (evaluated === 0 || rest <= 0) return { estimate: changed, low: changed, high: changed }
  const size = (evaluated * (inWindow - 1)) / rest
  const share = changed / evaluated
  const width = 1 + Z ** 2 / size
  const centre = (share + Z ** 2 / (2 * size)) / width
  const half = (Z / width) * Math.sqrt((share * (1 - share)) / size + Z ** 2 / (4 * size ** 2))
  // What was seen in the sample is certain.
  const low = Math.max(changed, Math.floor((centre - half) * inWindow))
  const high = Math.min(changed + rest, Math.ceil((centre + half) * inWindow))
  const estimate = Math.min(high, Math.max(low, Math.round(share * inWindow)))
  return { estimate, low, high }
}

/** The impact of a draft on the flag that it changes most. */
export interface MainImpact {
  readonly changed: number
  readonly evaluated: number
  /** The percentage of the evaluated contexts. */
  readonly share: number
  /** The number of contexts with an unknown result. */
  readonly undetermined: number
  /** `null` if all contexts of the window were evaluated. */
  readonly scaled: ScaledImpact | null
}

/** Returns the impact that is shown first. `undefined` if no context was evaluated. */
export function mainImpact({ contexts, flags }: Preview, flagId?: string): MainImpact | undefined {
  const { evaluated, inWindow, isSample } = contexts
  if (evaluated === 0) return undefined
  const own = flags.find((flag) => flag.flagId === flagId) ?? flags[0]
  const changed = own?.changed ?? 0
  const scaled = isSample ? scaledImpact({ changed, evaluated, inWindow }) : null
  const undetermined = own?.undetermined ?? 0
  return { changed, evaluated, share: (changed / evaluated) * 100, undetermined, scaled }
}
