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
  assertRolloutSettings,
  mergeRolloutSettings,
  NO_SETTINGS,
  type RolloutSettings,
} from './rollout-settings.ts'
import { loadVariations } from './variations.ts'

type StoredRollout = Records['rollout']

const OWN_SCHEME = 'ff'

const SALT_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SALT_LENGTH = 11
/** The largest multiple of the alphabet's size in a byte; larger bytes would bias the salt. */
const FAIR_BYTES = 256 - (256 % SALT_ALPHABET.length)

/** The use cases of rollouts. */
export const rolloutUseCases = defineUseCases({
  /** One page of a flag's rollouts in an environment, by name. */
  async listRollouts({ storage, flag, environment, now, query }) {
    const where = { flagId: flag.id, environmentId: environment.id }
    const page = await listPage(storage, 'rollout', { where, sortBy: 'name', query })
    return { ...page, data: page.data.map((rollout) => viewRollout(rollout, now)) }
  },

  /** One rollout, with the ranges as they are now. */
  getRollout: async ({ rollout, now }) => viewRollout(rollout, now),

  /** A new rollout of a flag in an environment, for its rules to refer to. */
  async createRollout({ writer, project, environment, flag, body }) {
    const initial = { ...NO_SETTINGS, strategy: body.strategy }
    const settings = mergeRolloutSettings(initial, body, writer.now)
    assertRolloutSettings(settings, await loadVariations(writer.reader, flag.id))
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
   * Changes a rollout and says what percentage of users that moves, which is as few as can be. The
   * last change is undone by the weights from before it.
   */
  async updateRollout({ writer, flag, rollout, body, expectedRevision }) {
    const now = Date.parse(writer.now)
    const settings = mergeRolloutSettings(rollout, body, writer.now)
    assertRolloutSettings(settings, await loadVariations(writer.reader, flag.id))
    const { name, bucketBy, salt, scheme } = body
    assertSalt(salt ?? rollout.salt, scheme ?? rollout.scheme)
    const table = changedTable(rollout, settings, now)
    const changes = { name, bucketBy, salt, scheme, ...settings, ...table }
    const written = await writer.update('rollout', rollout, changes, expectedRevision)
    const [before, after] = [viewRollout(rollout, now), viewRollout(written, now)]
    const result = { ...after, movedPercentage: movedBetween(before, after) }
    return completed('rollout.updated', { before, after }, { result })
  },

  /** Deletes a rollout that no rule serves. */
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

/** Our own scheme ends the salt with a dot; others make their own text of it. */
function assertSalt(salt: string, scheme: string): void {
  if (scheme === OWN_SCHEME && salt.includes('.'))
    throw invalid('salt', 'must be text without dots')
}

/** Returns the rollout of a reply: with the ranges at `now`, also for a gradual rollout. */
function viewRollout({ previousRanges: _, ...rollout }: StoredRollout, now: number): Rollout {
  return { ...rollout, ranges: [...rangesAt(toRolloutDefinition(rollout), now)] }
}

/** The range table after a change and, if any context moves, the one before it. */
function changedTable(rollout: StoredRollout, settings: RolloutSettings, now: number) {
  const before = viewRollout(rollout, now).ranges
  const previous = rollout.previousRanges ?? undefined
  const ranges = tableOf(settings, (shares) => moveRanges(before, shares, previous))
  const after = viewRollout({ ...rollout, ...settings, ranges }, now).ranges
  return jsonEquals(before, after) ? { ranges } : { ranges, previousRanges: before }
}

/** Returns the stored ranges: none for a gradual rollout, whose schedule determines them. */
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
  const isDealtAnew =
    before.salt !== after.salt ||
    before.bucketBy !== after.bucketBy ||
    before.scheme !== after.scheme ||
    // Other systems may hash otherwise when there are several variations.
    (before.scheme !== OWN_SCHEME && isSplit(before) !== isSplit(after))
  const moved = isDealtAnew ? reshuffledPercentage : movedPercentage
  return moved(before.ranges, after.ranges)
}

function isSplit({ strategy }: Rollout): boolean {
  return strategy === 'variant'
}
