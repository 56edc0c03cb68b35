import type { BucketingSettings } from '../model/extensions.ts'
import { isJsonObject, type JsonValue } from '../model/json.ts'
import { findScheme, OWN_SCHEME, rangesFault } from '../rollouts/bucketing.ts'
import { type Comparison, parseStructure } from './comparison.ts'

interface BucketShare extends Omit<BucketingSettings, 'strategy' | 'ranges'> {
  readonly scheme: string
  readonly ranges: readonly { readonly from: number; readonly to: number }[]
}

/**
 * Matches a bucketing key if one of the listed ranges contains the bucket of the key in a rollout
 * with the same salt and scheme.
 */
export const bucketing: Comparison = {
  expects: 'share',
  read: (value, means) => {
    const share = parseShare(value)
    if (share === undefined) return undefined
    const { scheme, ...settings } = share
    const deal = findScheme(scheme, means.extensions)
    if (deal === undefined) return means.reportMissing(`bucketing scheme "${scheme}"`)
    const bucketOf = deal({ ...settings, strategy: 'percentage' })
    return (key) => {
      if (typeof key !== 'string') return undefined
      const bucket = bucketOf(key)
      return settings.ranges.some(({ from, to }) => from <= bucket && bucket < to)
    }
  },
  isOfWhole: true,
}

function parseShare(text: string): BucketShare | undefined {
  const written = parseStructure(text)
  if (!isJsonObject(written)) return undefined
  const { salt, scheme = OWN_SCHEME, ranges: pairs, totalWeight, ...others } = written
  if (typeof salt !== 'string' || typeof scheme !== 'string') return undefined
  if (!Array.isArray(pairs) || Object.keys(others).length > 0) return undefined
  const ranges: { from: number; to: number }[] = []
  for (const pair of pairs as readonly JsonValue[]) {
    if (!Array.isArray(pair) || pair.length !== 2) return undefined
    ranges.push({ from: pair[0], to: pair[1] })
  }
  if (rangesFault(ranges, totalWeight) !== undefined) return undefined
  // The object has no members other than those checked above.
  return { ...(written as object), salt, scheme, ranges }
}
