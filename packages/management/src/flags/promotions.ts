import { PublishedDefinitions } from '@ff/core/authoring'
import type { AuditedFields, Environment, Flag, NewPromotion } from '@ff/protocol/management'
import { runInTimeSlices } from '@ff/server/plane'
import { findByIdOrKey } from '../access/id-or-key.ts'
import { completed } from '../changes/change-event.ts'
import { assertPublishable, PUBLISH_RULES } from '../changes/publish-check.ts'
import type { Reader } from '../changes/record-writer.ts'
import { defineChange } from '../changes/use-case.ts'
import { invalid } from '../requests/validation.ts'
import { viewDifferences } from './configuration-differences.ts'
import { copyFlagConfiguration, type FlagCopy, planFlagCopy } from './copy-flag-configuration.ts'
import { loadFlagConfiguration } from './flag-configuration.ts'

/** The use cases of promotions. */
export const promotionUseCases = {
  /**
   * Copies a flag's configuration to another environment; with `dryRun`, only lists the changes.
   */
  promoteFlag: defineChange('promoteFlag', {
    async prepare({ storage, flag, body, now }) {
      if (body.dryRun !== true) return undefined
      const copy = await loadCopy(storage, flag, body)
      await assertCopyPublishable(storage, copy)
      const plan = await planFlagCopy(storage, copy, new Date(now).toISOString())
      return { applied: false, differences: await runInTimeSlices(viewDifferences(plan)) }
    },
    async run({ writer, body, flag, prepared: rehearsed }) {
      if (rehearsed !== undefined) return { result: rehearsed }
      const copy = await loadCopy(writer.reader, flag, body)
      const before = await viewTarget(writer.reader, copy)
      const differences = await copyFlagConfiguration(writer, copy)
      const after = await viewTarget(writer.reader, copy)
      const views = await runInTimeSlices(viewDifferences(differences))
      const result = { applied: differences.length > 0, differences: views }
      const completion = { id: flag.id, result, field: 'from_env_id' }
      return completed('flag.promoted', { before, after }, completion)
    },
  }),
}

async function loadCopy(
  reader: Reader,
  flag: Flag,
  { fromEnvironmentId, toEnvironmentId }: NewPromotion,
): Promise<FlagCopy> {
  const find = async (text: string, field: string): Promise<Environment> => {
    const parent = { projectId: flag.projectId }
    const environment = await findByIdOrKey(reader, 'environment', { text, parent })
    if (environment !== undefined) return environment
    throw invalid(field, 'must be the id or the key of an environment of this project')
  }
  const from = await find(fromEnvironmentId, 'from_env_id')
  const to = await find(toEnvironmentId, 'to_env_id')
  if (from.id !== to.id) return { flag, from, to }
  throw invalid('to_env_id', 'must not be the same environment as from_env_id')
}

/**
 * Throws `INVALID_DEFINITION` if the copy could not be published. Checks the definition in `from`.
 * A copy differs from that definition only in ids, and the check does not depend on ids.
 */
async function assertCopyPublishable(reader: Reader, { flag, from, to }: FlagCopy): Promise<void> {
  const source = (await reader.loadFlagSet(from.id))?.flags.find(({ id }) => id === flag.id)
  const target = await reader.loadFlagSet(to.id)
  if (source === undefined || target === undefined) return
  const change = { kind: 'flag', id: flag.id, definition: source } as const
  const published = new PublishedDefinitions(target, PUBLISH_RULES)
  await runInTimeSlices(assertPublishable(published, [change]))
}

async function viewTarget(
  reader: Reader,
  { flag, from, to }: FlagCopy,
): Promise<AuditedFields<'flag.promoted'>> {
  const { state, targetingRules, rollouts } = await loadFlagConfiguration(reader, flag.id, to.id)
  return {
    fromEnvironmentId: from.id,
    toEnvironmentId: to.id,
    state,
    targetingRules: [...targetingRules],
    rollouts: [...rollouts],
  }
}
