import type { FlagDefinition, JsonValue } from '../../src/index.ts'
import type { Feature, Variant } from './unleash-state.ts'

/** The result of an SDK for a feature. It is the value of the corresponding variation. */
export interface UnleashAnswer {
  readonly name: string
  readonly payload?: JsonValue
  readonly enabled: boolean
  readonly feature_enabled: boolean
}

/** The result of a disabled feature. */
export const OFF: UnleashAnswer = { name: 'disabled', enabled: false, feature_enabled: false }
/** The result of an enabled feature without variants. */
export const ON: UnleashAnswer = { ...OFF, feature_enabled: true }

/** Returns all distinct results of a feature. */
export function answersOf({ variants = [], strategies = [] }: Feature): readonly UnleashAnswer[] {
  const all = [...variants, ...strategies.flatMap((strategy) => strategy.variants ?? [])]
  const answers = [OFF, ON, ...all.map(answerOf)]
  return [...new Map(answers.map((answer) => [idOf(answer), answer])).values()]
}

/** Returns the result of a variant. */
export function answerOf({ name, payload }: Pick<Variant, 'name' | 'payload'>): UnleashAnswer {
  const answer = { name, enabled: true, feature_enabled: true }
  return payload === undefined ? answer : { ...answer, payload }
}

/** Returns the id of the variation of a result: its JSON text. */
export function idOf(answer: UnleashAnswer): string {
  return JSON.stringify(answer)
}

/** Returns the variation of a result. */
export function toVariation(answer: UnleashAnswer): FlagDefinition['variations'][number] {
  const text = idOf(answer)
  return { id: text, key: text, value: text }
}
