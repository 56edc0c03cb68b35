import type { FlagDefinition, JsonValue } from '../../src/index.ts'
import type { Feature, Variant } from './unleash-state.ts'

/** What an SDK answers about a feature: the value of the variation that stands for it. */
export interface UnleashAnswer {
  readonly name: string
  readonly payload?: JsonValue
  readonly enabled: boolean
  readonly feature_enabled: boolean
}

export const OFF: UnleashAnswer = { name: 'disabled', enabled: false, feature_enabled: false }
export const ON: UnleashAnswer = { ...OFF, feature_enabled: true }

/** Everything that a feature can answer, each once. */
export function answersOf({ variants = [], strategies = [] }: Feature): readonly UnleashAnswer[] {
  const all = [...variants, ...strategies.flatMap((strategy) => strategy.variants ?? [])]
  const answers = [OFF, ON, ...all.map(answerOf)]
  return [...new Map(answers.map((answer) => [idOf(answer), answer])).values()]
}

export function answerOf({ name, payload }: Pick<Variant, 'name' | 'payload'>): UnleashAnswer {
  const answer = { name, enabled: true, feature_enabled: true }
  return payload === undefined ? answer : { ...answer, payload }
}

export function idOf(answer: UnleashAnswer): string {
  return JSON.stringify(answer)
}

export function toVariation(answer: UnleashAnswer): FlagDefinition['variations'][number] {
  const text = idOf(answer)
  return { id: text, key: text, value: text }
}
