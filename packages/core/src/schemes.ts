import type { BucketingScheme } from './model/extensions.ts'
import { configcat } from './schemes/configcat.ts'
import { flagd, flagdJs } from './schemes/flagd.ts'
import { flagsmith } from './schemes/flagsmith.ts'
import { growthbook1, growthbook2 } from './schemes/growthbook.ts'
import { launchdarkly } from './schemes/launchdarkly.ts'
import { posthog } from './schemes/posthog.ts'
import { unleash, unleashNode } from './schemes/unleash.ts'

export {
  configcat,
  flagd,
  flagdJs,
  flagsmith,
  growthbook1,
  growthbook2,
  launchdarkly,
  posthog,
  unleash,
  unleashNode,
}

/**
 * All bucketing schemes, by the name that a rollout has as its `scheme`. Pass `schemes` to
 * `compileFlagSet` as `extensions.schemes`, so that each context keeps its variation when flags are
 * imported from another system.
 */
export const schemes: ReadonlyMap<string, BucketingScheme> = new Map([
  ['unleash', unleash],
  ['unleash-node', unleashNode],
  ['launchdarkly', launchdarkly],
  ['growthbook-1', growthbook1],
  ['growthbook-2', growthbook2],
  ['flagd', flagd],
  ['flagd-js', flagdJs],
  ['configcat', configcat],
  ['flagsmith', flagsmith],
  ['posthog', posthog],
])
