import type { BucketingScheme } from './model/extensions.ts'
import { configcat } from './schemes/configcat.ts'
import { flagd } from './schemes/flagd.ts'
import { flagsmith } from './schemes/flagsmith.ts'
import { growthbook1, growthbook2 } from './schemes/growthbook.ts'
import { launchdarkly } from './schemes/launchdarkly.ts'
import { posthog } from './schemes/posthog.ts'
import { unleash } from './schemes/unleash.ts'

export { configcat, flagd, flagsmith, growthbook1, growthbook2, launchdarkly, posthog, unleash }

/**
 * All bucketing schemes, by the name that a rollout has as its `scheme`. Pass `schemes` to
 * `compileFlagSet` as `extensions.schemes`, so that each context keeps its variation when flags are
 * imported from another system.
 */
export const schemes: ReadonlyMap<string, BucketingScheme> = new Map([
  ['unleash', unleash],
  ['launchdarkly', launchdarkly],
  ['growthbook-1', growthbook1],
  ['growthbook-2', growthbook2],
  ['flagd', flagd],
  ['configcat', configcat],
  ['flagsmith', flagsmith],
  ['posthog', posthog],
])
