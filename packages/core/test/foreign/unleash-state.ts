import type { JsonValue } from '../../src/index.ts'
import type { Constraint } from './unleash-constraint.ts'

/** The part of the state that Unleash sends to SDKs that affects evaluation. */
export interface UnleashState {
  readonly features?: readonly Feature[]
  readonly segments?: readonly Segment[]
  readonly events?: readonly StateEvent[]
}

/** A feature of Unleash. */
export interface Feature {
  readonly name: string
  readonly enabled: boolean
  readonly strategies?: readonly Strategy[]
  readonly variants?: readonly Variant[]
  readonly dependencies?: readonly Dependency[]
}

/** An activation strategy of a feature. */
export interface Strategy {
  readonly name: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly constraints?: readonly Constraint[]
  readonly segments?: readonly number[]
  readonly variants?: readonly Variant[]
}

/** A variant of a feature or strategy. */
export interface Variant {
  readonly name: string
  readonly weight: number
  readonly payload?: JsonValue
  readonly stickiness?: string
  readonly overrides?: readonly { readonly contextName: string; readonly values: string[] }[]
}

/** A dependency of a feature on a parent feature. */
export interface Dependency {
  readonly feature: string
  readonly enabled?: boolean
  readonly variants?: readonly string[]
}

/** A segment of Unleash. */
export interface Segment {
  readonly id: number
  readonly constraints: readonly Constraint[]
}

interface StateEvent {
  readonly type: string
  readonly features?: readonly Feature[]
  readonly segments?: readonly Segment[]
  readonly feature?: Feature
  readonly segment?: Segment
  readonly featureName?: string
  readonly segmentId?: number
}

/** Returns a state without events. If a state consists of events, they are applied. */
export function foldEvents({ events, ...state }: UnleashState): UnleashState {
  if (events === undefined) return state
  const features = new Map<string, Feature>()
  const segments = new Map<number, Segment>()
  for (const event of events) {
    for (const each of event.features ?? []) features.set(each.name, each)
    for (const each of event.segments ?? []) segments.set(each.id, each)
    if (event.feature !== undefined) features.set(event.feature.name, event.feature)
    if (event.segment !== undefined) segments.set(event.segment.id, event.segment)
    if (event.type === 'feature-removed') features.delete(event.featureName ?? '')
    if (event.type === 'segment-removed') segments.delete(event.segmentId ?? Number.NaN)
  }
  return { features: [...features.values()], segments: [...segments.values()] }
}
