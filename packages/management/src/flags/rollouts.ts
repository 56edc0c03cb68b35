import { isFlagError, jsonEquals } from '@ff/core'
import {
  movedPercentage,
  moveRanges,
  rangesAt,
  rangesOf,
  reshuffledPercentage,
  type Share,
} from '@ff/core/authoring'
import { type ChangedRollout, endpoints, type PageOf, type Rollout } from '@ff/protocol/management'
import { type Records, toRolloutDefinition } from '@ff/storage'
import { loadPermitted } from '../access/access-request.ts'
import { loadFlagStatePath, loadRolloutPath } from '../access/project-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import { assertUnused, findDependentsOfRollout } from '../changes/dependents.ts'
import type { Management } from '../changes/management.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'
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

/** One page of a flag's rollouts in an environment, by name. */
export async function listRollouts(
  management: Management,
  { params, query }: Input<'listRollouts', 'params' | 'query'>,
): Promise<PageOf<Rollout>> {
  const { permission } = endpoints.listRollouts
  const request = { permission, load: loadFlagStatePath, params }
  const { flag, environment } = await loadPermitted(management, request)
  const found = await management.storage.list('rollout', {
    where: { flagId: flag.id, environmentId: environment.id },
    sort: { field: 'name', direction: 'asc' },
    ...pagingOf(query),
  })
  const now = management.clock.now()
  return toPage({ ...found, data: found.data.map((rollout) => viewRollout(rollout, now)) }, query)
}

/** One rollout, with the ranges as they are now. */
export async function getRollout(
  management: Management,
  { params }: Input<'getRollout', 'params'>,
): Promise<Rollout> {
  const { permission } = endpoints.getRollout
  const request = { permission, load: loadRolloutPath, params }
  const { rollout } = await loadPermitted(management, request)
  return viewRollout(rollout, management.clock.now())
}

/** A new rollout of a flag in an environment, for its rules to refer to. */
export async function createRollout(
  management: Management,
  { params, body }: Input<'createRollout', 'params' | 'body'>,
): Promise<Rollout> {
  const { permission } = endpoints.createRollout
  const request = { permission, load: loadFlagStatePath, params }
  return applyChange(management, request, async (writer, { project, environment, flag }) => {
    const settings = mergeRolloutSettings(
      { ...NO_SETTINGS, strategy: body.strategy },
      body,
      writer.now,
    )
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
    const event = changeEvent('rollout.created', rollout.id, { before: null, after })
    return { event, result: after }
  })
}

/**
 * Changes a rollout and says what percentage of users that moves, which is as few as can be. The
 * last change is undone by the weights from before it.
 */
export async function updateRollout(
  management: Management,
  input: Input<'updateRollout', 'params' | 'body' | 'expectedRevision'>,
): Promise<ChangedRollout> {
  const { params, body, expectedRevision } = input
  const { permission } = endpoints.updateRollout
  const request = { permission, load: loadRolloutPath, params }
  return applyChange(management, request, async (writer, { flag, rollout }) => {
    const now = Date.parse(writer.now)
    const settings = mergeRolloutSettings(rollout, body, writer.now)
    assertRolloutSettings(settings, await loadVariations(writer.reader, flag.id))
    const { name, bucketBy, salt, scheme } = body
    assertSalt(salt ?? rollout.salt, scheme ?? rollout.scheme)
    const table = changedTable(rollout, settings, now)
    const changes = { name, bucketBy, salt, scheme, ...settings, ...table }
    const written = await writer.update('rollout', rollout, changes, expectedRevision)
    const [before, after] = [viewRollout(rollout, now), viewRollout(written, now)]
    const event = changeEvent('rollout.updated', rollout.id, { before, after })
    return { event, result: { ...after, movedPercentage: movedBetween(before, after) } }
  })
}

/** Deletes a rollout that no rule serves. */
export async function deleteRollout(
  management: Management,
  { params, expectedRevision }: Input<'deleteRollout', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteRollout
  const request = { permission, load: loadRolloutPath, params }
  return applyChange(management, request, async (writer, { rollout }) => {
    writer.assertRevision('rollout', rollout, expectedRevision)
    assertUnused('rollout', await findDependentsOfRollout(writer.reader, rollout))
    await writer.remove('rollout', rollout)
    const before = viewRollout(rollout, Date.parse(writer.now))
    const event = changeEvent('rollout.deleted', rollout.id, { before, after: null })
    return { event, result: null }
  })
}

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
