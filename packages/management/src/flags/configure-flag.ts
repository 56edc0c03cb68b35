import { FlagError } from '@ff/core'
import {
  type AuditedFields,
  type ConfigurationUpdate,
  type FlagConfigurationInput,
  staleConfigurationCodec,
} from '@ff/protocol/management'
import { runInTimeSlices } from '@ff/server/plane'
import { completed } from '../changes/change-event.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { encodeWire, invalid, withinField } from '../requests/validation.ts'
import {
  applyDifference,
  type PartDifference,
  viewDifferences,
} from './configuration-differences.ts'
import {
  type FlagConfiguration,
  loadCommittedConfiguration,
  loadFlagConfiguration,
  toDocument,
} from './flag-configuration.ts'
import { type ConfigurationPlace, differencesTo, planConfiguration } from './plan-configuration.ts'
import { movedBetween, viewRollout } from './rollout-changes.ts'

/** The number of versions in which the last change of a flag is searched. */
const MOST_VERSIONS = 100

/** The use cases of the configuration of a flag in an environment. */
export const flagConfigurationUseCases = defineUseCases({
  /** Returns the state, the rules and the rollouts of a flag in an environment. */
  getFlagConfiguration: ({ storage, flag, environment }) =>
    loadCommittedConfiguration(storage, flag.id, environment.id),

  /**
   * Replaces the state, the rules and the rollouts of a flag in an environment, with as few writes
   * as possible. Throws `CONFLICT`, with the current configuration, if the configuration has
   * changed since the caller read it. With `dryRun`, nothing is written.
   */
  async updateFlagConfiguration({ writer, body, expectedRevision, ...place }) {
    const { reader, now } = writer
    const { flag, environment } = place
    const { dryRun: isDryRun = false, ...document } = body
    const present = await loadFlagConfiguration(reader, flag.id, environment.id)
    const base = await assertCurrent(reader, place, { present, expectedRevision })
    const wanted = await planConfiguration(reader, place, { present, document, now })
    const differences = await applyAll(writer, differencesTo(present, wanted), document)
    const updated = await loadFlagConfiguration(reader, flag.id, environment.id)
    const configuration = await toDocument(updated)
    const result: ConfigurationUpdate = {
      configuration: isDryRun ? { ...configuration, revision: base.revision } : configuration,
      version: base.version,
      differences: await runInTimeSlices(viewDifferences(differences)),
      moved: movesIn(differences, Date.parse(now)),
    }
    const fields = { before: toAudited(place, present), after: toAudited(place, updated) }
    const field = publishedField(differences)
    const completion = { id: flag.id, result, field, isDryRun, publishedAs: 'version' } as const
    return completed('flag.configured', fields, completion)
  },
})

interface Expectation {
  readonly present: FlagConfiguration
  readonly expectedRevision: number | undefined
}

/**
 * Returns the revision of the configuration and the version of the environment. Throws
 * `INVALID_REQUEST` if no revision is expected, and `CONFLICT` if another one is expected.
 */
async function assertCurrent(
  reader: Reader,
  { environment, flag }: ConfigurationPlace,
  { present, expectedRevision }: Expectation,
): Promise<{ readonly revision: number; readonly version: number }> {
  if (expectedRevision === undefined)
    throw invalid('If-Match', 'is required and must be the ETag of the configuration')
  const configuration = await toDocument(present)
  const limit = configuration.revision === expectedRevision ? 1 : MOST_VERSIONS
  const { data } = await reader.listVersions(environment.id, { page: 1, limit })
  const version = data[0]?.version ?? 0
  if (configuration.revision === expectedRevision) {
    return { revision: configuration.revision, version }
  }
  const last = data.find(({ flags }) => flags.some(({ id }) => id === flag.id))
  const event = last?.eventId ? await reader.find('auditEvent', last.eventId) : undefined
  const changedBy = event?.actor.name ?? null
  const details = encodeWire(staleConfigurationCodec, { configuration, version, changedBy })
  const message = 'The configuration has changed. Read it again, and apply your changes to it.'
  throw new FlagError('CONFLICT', message, { details })
}

/** Writes the differences. The path of an error is that of the record in the document. */
async function applyAll(
  writer: RecordWriter,
  differences: readonly PartDifference[],
  document: FlagConfigurationInput,
): Promise<readonly PartDifference[]> {
  const paths = new Map([
    ...document.targetingRules.map(({ id }, index) => [id, `targeting_rules.${index}`] as const),
    ...document.rollouts.map(({ id }, index) => [id, `rollouts.${index}`] as const),
  ])
  const applied: PartDifference[] = []
  for (const difference of differences) {
    const field = paths.get(difference.after?.id ?? '') ?? 'state'
    applied.push(await withinField(field, () => applyDifference(writer, difference)))
  }
  return applied
}

function movesIn(
  differences: readonly PartDifference[],
  now: number,
): ConfigurationUpdate['moved'] {
  return differences.flatMap((difference) => {
    const { kind, before, after } = difference as PartDifference<'rollout'>
    if (kind !== 'rollout' || before === null || after === null) return []
    const movedPercentage = movedBetween(viewRollout(before, now), viewRollout(after, now))
    return { rolloutId: after.id, movedPercentage }
  })
}

/** Returns the field that can be the cause if a configuration cannot be published. */
function publishedField(differences: readonly PartDifference[]): string {
  const isState = differences.some(({ kind }) => kind === 'flagState')
  return isState ? 'state.prerequisites' : 'targeting_rules'
}

function toAudited(
  { environment }: ConfigurationPlace,
  { state, targetingRules, rollouts }: FlagConfiguration,
): AuditedFields<'flag.configured'> {
  return {
    environmentId: environment.id,
    state,
    targetingRules: [...targetingRules],
    rollouts: [...rollouts],
  }
}
