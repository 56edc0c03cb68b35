import { isFlagError, jsonEquals } from '@ff/core'
import {
  movedPercentage,
  moveRanges,
  rangesAt,
  rangesOf,
  reshuffledPercentage,
  type Share,
} from '@ff/core/authoring'
import type { NewRollout, Rollout, RolloutChanges, Variation } from '@ff/protocol/management'
import { type Records, toRolloutDefinition } from '@ff/storage'
import type { RecordChanges } from '../changes/record-writer.ts'
import { invalid } from '../requests/validation.ts'
import {
  checkRolloutSettings,
  mergeRolloutSettings,
  NO_SETTINGS,
  type RolloutSettings,
} from './rollout-settings.ts'

type StoredRollout = Records['rollout']

const OWN_SCHEME = 'ff'

const SALT_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SALT_LENGTH = 11
/**
 * The largest multiple of the alphabet's size up to 256. Bytes from this value on are discarded,
 * because they would bias the salt.
 */
const FAIR_BYTES = 256 - (256 % SALT_ALPHABET.length)

/** Returns a random salt for a rollout: 11 base-62 characters. */
export function newSalt(): string {
  let salt = ''
  while (salt.length < SALT_LENGTH) {
    const [byte = FAIR_BYTES] = crypto.getRandomValues(new Uint8Array(1))
    if (byte < FAIR_BYTES) salt += SALT_ALPHABET.charAt(byte % SALT_ALPHABET.length)
  }
  return salt
}

/**
 * Returns the salt of a rollout with this id: the same form as a random salt. Buckets of a salt of
 * this length are computed faster than those of a whole id.
 */
export function saltOf(id: string): string {
  const size = BigInt(SALT_ALPHABET.length)
  let rest = BigInt(`0x${id.replaceAll('-', '')}`)
  let salt = ''
  while (salt.length < SALT_LENGTH) {
    salt += SALT_ALPHABET.charAt(Number(rest % size))
    rest /= size
  }
  return salt
}

type NewRolloutFields = RolloutChanges &
  Pick<NewRollout, 'name' | 'strategy'> & { readonly salt: string }

/**
 * Returns the fields of a new rollout. Throws `INVALID_REQUEST` if a field is missing, or not valid
 * for the strategy.
 */
export function newRollout(given: NewRolloutFields, variations: readonly Variation[], now: string) {
  const initial = { ...NO_SETTINGS, strategy: given.strategy }
  const merged = mergeRolloutSettings(initial, given, now)
  const settings = checkRolloutSettings(merged, variations)
  const { name, salt, scheme = OWN_SCHEME, bucketBy = 'user.key' } = given
  assertSalt(salt, scheme)
  const ranges = tableOf(settings, rangesOf)
  return { name, bucketBy, salt, scheme, ...settings, ranges, previousRanges: null }
}

interface ChangeOptions {
  readonly variations: readonly Variation[]
  readonly now: string
}

/**
 * Returns the fields of a rollout after a change that moves as few contexts as possible. A field
 * that is `undefined` is not changed. Throws `INVALID_REQUEST` as `newRollout` does.
 */
export function changedRollout(
  rollout: StoredRollout,
  given: RolloutChanges,
  { variations, now }: ChangeOptions,
): RecordChanges<'rollout'> {
  const settings = checkRolloutSettings(mergeRolloutSettings(rollout, given, now), variations)
  const { name, bucketBy, salt, scheme } = given
  assertSalt(salt ?? rollout.salt, scheme ?? rollout.scheme)
  const table = changedTable(rollout, settings, Date.parse(now))
  return { name, bucketBy, salt, scheme, ...settings, ...table }
}

/**
 * Throws `INVALID_REQUEST` if the salt contains a dot and the scheme is `ff`, because that scheme
 * uses a dot as a separator.
 */
function assertSalt(salt: string, scheme: string): void {
  if (scheme === OWN_SCHEME && salt.includes('.')) throw invalid('salt', 'must not contain a dot')
}

/** Returns the rollout of a reply: with the ranges at `now`, also for a gradual rollout. */
export function viewRollout(
  { previousRanges: _, ...rollout }: StoredRollout,
  now: number,
): Rollout {
  return { ...rollout, ranges: [...rangesAt(toRolloutDefinition(rollout), now)] }
}

/**
 * Returns the ranges after a change and, if a context changes its variation, also the ranges before
 * the change.
 */
function changedTable(rollout: StoredRollout, settings: RolloutSettings, now: number) {
  const before = viewRollout(rollout, now).ranges
  const previous = rollout.previousRanges ?? undefined
  const ranges = tableOf(settings, (shares) => moveRanges(before, shares, previous))
  const after = viewRollout({ ...rollout, ...settings, ranges }, now).ranges
  return jsonEquals(before, after) ? { ranges } : { ranges, previousRanges: before }
}

/**
 * Returns the ranges to store; none for a gradual rollout, because its schedule determines them.
 */
function tableOf(
  { strategy, variationId, percentage, variants }: RolloutSettings,
  layOut: (shares: readonly Share[]) => Rollout['ranges'],
): Rollout['ranges'] {
  if (strategy === 'gradual') return []
  const served = { variationId: variationId ?? '', weight: percentage ?? 0 }
  try {
    return layOut(strategy === 'variant' ? (variants ?? []) : [served])
  } catch (error) {
    const field = strategy === 'variant' ? 'variants' : 'percentage'
    throw isFlagError(error) ? invalid(field, error.message) : error
  }
}

/** Returns the percentage of contexts that changed their variation between two views. */
export function movedBetween(before: Rollout, after: Rollout): number {
  const isReshuffled =
    before.salt !== after.salt ||
    before.bucketBy !== after.bucketBy ||
    before.scheme !== after.scheme ||
    // Other systems can use another hash if a rollout has several variations.
    (before.scheme !== OWN_SCHEME && isSplit(before) !== isSplit(after))
  const moved = isReshuffled ? reshuffledPercentage : movedPercentage
  return moved(before.ranges, after.ranges)
}

function isSplit({ strategy }: Rollout): boolean {
  return strategy === 'variant'
}
