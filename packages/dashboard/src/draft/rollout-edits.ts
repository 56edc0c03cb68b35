import { type Configuration, type Rollout, withItem } from './configuration.ts'

/** The fields of a rollout that an edit can change. */
export type RolloutFields = Partial<Omit<Rollout, 'id' | 'strategy'>>

/** An edit of a rollout. */
export type RolloutEdit =
  | { readonly type: 'setRollout'; readonly rolloutId: string; readonly changes: RolloutFields }
  | {
      readonly type: 'setStrategy'
      readonly rolloutId: string
      readonly strategy: Rollout['strategy']
      /** The variation that new shares contain besides those that the rollout already serves. */
      readonly otherVariationId?: string
    }

/** The settings of a rollout that depend on its strategy, none of them set. */
const NO_SETTINGS = {
  variationId: null,
  percentage: null,
  variants: null,
  targetPercentage: null,
  increment: null,
  intervalHours: null,
  startAt: null,
} satisfies Partial<Rollout>

/** Returns a new rollout: 0 % of a variation, by user key, with a salt that the server chooses. */
export function newRollout(id: string, name: string, variationId: string | null): Rollout {
  const basis = { id, name, bucketBy: 'user.key', salt: '', scheme: 'ff' }
  return { ...basis, ...NO_SETTINGS, strategy: 'percentage', variationId, percentage: 0 }
}

/** Returns a configuration after an edit of a rollout. */
export function withRolloutEdit(configuration: Configuration, edit: RolloutEdit): Configuration {
  const change = (rollout: Rollout): Rollout =>
    edit.type === 'setRollout' ? { ...rollout, ...edit.changes } : withStrategy(rollout, edit)
  return { ...configuration, rollouts: withItem(configuration.rollouts, edit.rolloutId, change) }
}

type StrategyEdit = Extract<RolloutEdit, { type: 'setStrategy' }>

function withStrategy(rollout: Rollout, { strategy, otherVariationId }: StrategyEdit): Rollout {
  if (strategy === rollout.strategy) return rollout
  const variationId = rollout.variationId ?? rollout.variants?.[0]?.variationId ?? null
  const share = shareOf(rollout)
  const cleared = { ...rollout, ...NO_SETTINGS, strategy }
  if (strategy === 'percentage') return { ...cleared, variationId, percentage: share }
  if (strategy === 'gradual') {
    const steps = { targetPercentage: 100, increment: 10, intervalHours: 24 }
    return { ...cleared, variationId, ...steps }
  }
  const others = otherVariationId !== undefined && otherVariationId !== variationId
  const rest = others ? [{ variationId: otherVariationId, weight: round(100 - share) }] : []
  const first = variationId === null ? [] : [{ variationId, weight: share }]
  return { ...cleared, variants: [...first, ...rest] }
}

/** Returns the percentage of the first variation of a rollout. */
function shareOf({ percentage, variants, targetPercentage }: Rollout): number {
  return percentage ?? variants?.[0]?.weight ?? targetPercentage ?? 0
}

function round(percentage: number): number {
  return Math.round(percentage * 1000) / 1000
}
