import type { Json } from '../world/world.ts'
import { type LargeEnvironment, LONGEST_VALUE, listOf, VARIATIONS } from './large-environment.ts'

type Variations = Pick<LargeEnvironment, 'variationIds'>

/** The largest body that most endpoints accept. */
const BODY_BYTES = 256 * 1024

/** Returns conditions that fill a body: three of the maximum length and many short ones. */
export function conditionsOf(attempt: number): Json {
  const long = ['contains', 'in', 'ends_with'].map((operator, index) => {
    return {
      attribute: `long${index}`,
      operator,
      value: listOf(LONGEST_VALUE, `${attempt}-${index}-`),
    }
  })
  const short = Array.from({ length: 61 }, (_, index) => {
    return {
      attribute: `short${index}`,
      operator: 'in',
      value: listOf(400, `${attempt}-${index}-`),
    }
  })
  return [...long, ...short]
}

/** Returns the largest accepted context: about 2,000 attributes with `bytes` bytes in total. */
export function contextOf(attempt: number, bytes = BODY_BYTES - 600): Json {
  const count = 1990
  const length = Math.floor(bytes / count) - 14
  const attributes = Array.from({ length: count }, (_, index) => {
    return [index < 6 ? `a${index}` : `n${index}`, String(attempt).padEnd(length, 'x')]
  })
  return {
    kind: 'user',
    key: `user-${attempt}`,
    email: 'u@x.test',
    ...Object.fromEntries(attributes),
  }
}

/** Returns individual targets with 10,000 keys, for all variations of a flag. */
export function targetsOf({ variationIds }: Variations, attempt: number): Json {
  const keys = Array.from({ length: 10_000 }, (_, index) => `t${attempt}-${index}-user-key`)
  const part = Math.floor(keys.length / 100)
  return Array.from({ length: 100 }, (_, index) => ({
    variation_id: variationIds[index % VARIATIONS],
    kind: 'user',
    keys: keys.slice(index * part, (index + 1) * part),
  }))
}

/** Returns weights of all variations. Each attempt increases the weight of a different one. */
export function variantsOf({ variationIds }: Variations, attempt: number): Json {
  return variationIds.map((variation_id, index) => {
    return { variation_id, weight: index === attempt ? 2 : 1.1 - (index % 2) / 10 }
  })
}

/** Returns metadata with the maximum number of keys and bytes. */
export function metadataOf(attempt: number): Json {
  const entries = Array.from({ length: 1000 }, (_, index) => [`k${index}`, `${attempt}`.padEnd(50)])
  return Object.fromEntries(entries)
}
