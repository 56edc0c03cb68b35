import { type Configuration, isSame } from './configuration.ts'
import type { DraftStart, FlagDraft } from './flag-draft.ts'
import { mergeConfigurations } from './merge.ts'

/**
 * Returns a draft that continues from a newer configuration which differs from its base at most in
 * the names of rules and rollouts: the draft has these names, also in its steps. Returns `undefined`
 * if anything else differs, or if the draft has another name for the same rule or rollout.
 */
export function renamedDraft(
  draft: FlagDraft,
  { base: newer, etag }: Pick<DraftStart, 'base' | 'etag'>,
): FlagDraft | undefined {
  const { base: before, current, past, future } = draft
  if (!isSame(withoutNames(before), withoutNames(newer))) return undefined
  const merged = (yours: Configuration) => mergeConfigurations({ before, theirs: newer, yours })
  const { configuration, conflicts } = merged(current)
  if (conflicts.length > 0) return undefined
  const steps = (all: readonly Configuration[]) => all.map((step) => merged(step).configuration)
  const continued = { current: configuration, past: steps(past), future: steps(future) }
  return { ...draft, ...continued, base: newer, etag }
}

/** Returns a configuration without the fields whose changes make no version. */
function withoutNames({ state, targetingRules, rollouts }: Configuration): Configuration {
  const unnamed = <T extends object>(items: readonly T[]) =>
    items.map((item) => ({ ...item, name: '' }))
  return {
    ...{ state, revision: 0 },
    targetingRules: unnamed(targetingRules),
    rollouts: unnamed(rollouts),
  }
}
