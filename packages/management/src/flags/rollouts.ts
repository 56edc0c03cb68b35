import { completed } from '../changes/change-event.ts'
import { assertUnused, findDependentsOfRollout } from '../changes/dependents.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import {
  changedRollout,
  movedBetween,
  newRollout,
  newSalt,
  viewRollout,
} from './rollout-changes.ts'
import { loadVariations } from './variations.ts'

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
    const variations = await loadVariations(writer.reader, flag.id)
    const rollout = await writer.insert('rollout', {
      flagId: flag.id,
      environmentId: environment.id,
      projectId: project.id,
      ...newRollout({ ...body, salt: body.salt ?? newSalt() }, variations, writer.now),
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
    const variations = await loadVariations(writer.reader, flag.id)
    const changes = changedRollout(rollout, body, { variations, now: writer.now })
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
