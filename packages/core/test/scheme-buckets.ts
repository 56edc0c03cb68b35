import { createHash } from 'node:crypto'
import type { BucketingSettings } from '../src/model/extensions.ts'
import { schemes } from '../src/schemes.ts'

/** Returns the bucket of a key in a scheme. */
export function bucketOf(
  scheme: string,
  key: string,
  settings: Partial<BucketingSettings>,
): number {
  const compile = schemes.get(scheme)
  if (compile === undefined) throw new TypeError(`There is no scheme "${scheme}"`)
  return compile({ salt: '', strategy: 'percentage', ...settings })(key)
}

/** Returns the hash of a text in hex digits, computed by Node. */
export const hex = (algorithm: string, text: string) =>
  createHash(algorithm).update(text).digest('hex')

/** Returns the percentage of ids in the formula of Flagsmith. */
export function percentageOf(ids: readonly string[], times = 1): number {
  const text = Array(times).fill(ids).flat().join(',')
  const value = (Number(BigInt(`0x${hex('md5', text)}`) % 9999n) / 9998) * 100
  return value === 100 ? percentageOf(ids, times + 1) : value
}
