import { isFlagError, jsonEquals } from '@ff/core'
import {
  movedPercentage,
  moveRanges,
  rangesAt,
  rangesOf,
  reshuffledPercentage,
  type Share,
} from '@ff/core/authoring'
import type { Rollout } from '@ff/protocol/management'
import { type Records, toRolloutDefinition } from '@ff/storage'
import { completed } from '../changes/change-event.ts'
import { assertUnused, findDependentsOfRollout } from '../changes/dependents.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'
import {
  checkRolloutSettings,
  mergeRolloutSettings,
  NO_SETTINGS,
  type RolloutSettings,
} from './rollout-settings.ts'
import { loadVariations } from './variations.ts'

type StoredRollout = Records['rollout']

const OWN_SCHEME = 'ff'

const SALT_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SALT_LENGTH = 11
/**
 * The largest multiple of the alphabet's size up to 256. Bytes from this value on are discarded,
 * because they would bias the salt.
 */
const FAIR_BYTES = 256 - (256 % SALT_ALPHABET.length)

/** The use cases of rollouts. */
export const rolloutUseCases = defineUseCases({
  /** Returns one page of a flag's rollouts in an environment, sorted by name. */
  async listRollouts({ storage, flag, environment, now, query }) {
    const where = { flagId: flag.id, environmentId: environment.id }
    const page = await listPage(storage, 'rollout', { where, sortBy: 'name', query })
    return { ...page, data: page.data.map((rollout) => viewRollout(rollout, now)) }
  },

  /** Returns a rollout with its current ranges. */
  getRollout: async ({ rollout, now }) => viewRollout(rollout, now),

  /** Creates a rollout of a flag in an environment, to which the flag's rules can refer. */
  async createRollout({ writer, project, environment, flag, body }) {
    const initial = { ...NO_SETTINGS, strategy: body.strategy }
    const merged = mergeRolloutSettings(initial, body, writer.now)
    const settings = checkRolloutSettings(merged, await loadVariations(writer.reader, flag.id))
    const { salt = newSalt(), scheme = OWN_SCHEME } = body
    assertSalt(salt, scheme)
    const rollout = await writer.insert('rollout', {
      flagId: flag.id,
      environmentId: environment.id,
      projectId: project.id,
      name: body.name,
      bucketBy: body.bucketBy ?? 'user.key',
      salt,
      scheme,
      ...settings,
      ranges: tableOf(settings, rangesOf),
      previousRanges: null,
    })
    const after = viewRollout(rollout, Date.parse(writer.now))
    return completed('rollout.created', { after })
  },

  /**
   * Changes a rollout so that as few contexts as possible change their variation. Returns the
   * rollout with the percentage of contexts that change their variation. Restoring the previous
   * weights undoes the last change exactly.
   */
  async updateRollout({ writer, flag, rollout, body, expectedRevision }) {
    const now = Date.parse(writer.now)
    const merged = mergeRolloutSettings(rollout, body, writer.now)
    const settings = checkRolloutSettings(merged, await loadVariations(writer.reader, flag.id))
    const { name, bucketBy, salt, scheme } = body
    assertSalt(salt ?? rollout.salt, scheme ?? rollout.scheme)
    const table = changedTable(rollout, settings, now)
    const changes = { name, bucketBy, salt, scheme, ...settings, ...table }
    const written = await writer.update('rollout', rollout, changes, expectedRevision)
    const [before, after] = [viewRollout(rollout, now), viewRollout(written, now)]
    const result = { ...after, movedPercentage: movedBetween(before, after) }
    return completed('rollout.updated', { before, after }, { result })
  },

  /** Deletes a rollout. Throws `CONFLICT` if a rule serves the rollout. */
  async deleteRollout({ writer, rollout, expectedRevision }) {
    await writer.remove('rollout', rollout, expectedRevision)
    assertUnused('rollout', await findDependentsOfRollout(writer.reader, rollout))
    const before = viewRollout(rollout, Date.parse(writer.now))
    return completed('rollout.deleted', { before })
  },
})

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
 * Throws `INVALID_REQUEST` if the salt contains a dot and the scheme is `ff`, because that scheme
 * uses a dot as a separator.
 */
function assertSalt(salt: string, scheme: string): void {
  if (scheme === OWN_SCHEME && salt.includes('.')) throw invalid('salt', 'must not contain a dot')
}

/** Returns the rollout of a reply: with the ranges at `now`, also for a gradual rollout. */
function viewRollout({ previousRanges: _, ...rollout }: StoredRollout, now: number): Rollout {
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

function movedBetween(before: Rollout, after: Rollout): number {
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
