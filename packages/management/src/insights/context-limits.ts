import type { Plan } from '@ff/protocol/management'
import type { Job } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import { findPlan } from '../changes/quotas.ts'
import { type ContextUse, measureContexts } from './context-use.ts'

/** A maximum number of observed contexts, and a maximum of their estimated bytes. */
export interface ContextLimit {
  readonly contexts: number
  readonly bytes: number
}

/** The limits of observed contexts; a plan can replace that of its organizations. */
export interface ContextLimits {
  readonly perEnvironment: ContextLimit
  readonly perOrganization: ContextLimit
}

const EVERY_MS = 5 * 60 * 1000

/** The number of environments that are read in one call of the store. */
const ENVIRONMENTS_A_PAGE = 500

/** The maximum number of contexts that one statement deletes, so that others do not wait long. */
const PORTION = 1000

/**
 * Creates the job that deletes the observed contexts beyond the limits, those first that were last
 * seen the longest time ago. If an organization is over its limit, its environments keep equal
 * parts of it, and what an environment does not use falls to the others. The age alone decides, so
 * that the contexts that remain are all those that were stored and seen since some time, and a
 * sample of them is not biased.
 */
export function contextLimitsJob(storage: Storage, limits: ContextLimits): Job {
  return {
    name: 'limit observed contexts',
    everyMs: EVERY_MS,
    isShared: true,
    async run() {
      for (const [orgId, environmentIds] of await environmentsByOrganization(storage)) {
        const uses = []
        for (const environmentId of environmentIds) {
          uses.push(await measureContexts(storage, environmentId))
        }
        const perOrganization = await limitOf(storage, orgId, limits)
        for (const { use, excess } of excesses(uses, { ...limits, perOrganization })) {
          await deleteOldest(storage, use.environmentId, excess)
        }
      }
    },
  }
}

/** Returns the ids of all environments by the id of their organization. */
async function environmentsByOrganization(
  storage: Storage,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const projects = await storage.list('project', {})
  const organizations = new Map(projects.data.map(({ id, orgId }) => [id, orgId]))
  const found = new Map<string, string[]>()
  let after: { readonly value: string; readonly id: string } | undefined
  for (;;) {
    const page = { limit: ENVIRONMENTS_A_PAGE, isCounted: false, ...(after && { after }) }
    const { data } = await storage.list('environment', page)
    for (const { id, projectId } of data) {
      const orgId = organizations.get(projectId)
      if (orgId === undefined) continue
      const known = found.get(orgId)
      if (known === undefined) found.set(orgId, [id])
      else known.push(id)
    }
    const last = data.at(-1)
    if (last === undefined || data.length < ENVIRONMENTS_A_PAGE) return found
    after = { value: last.id, id: last.id }
  }
}

async function limitOf(
  storage: Storage,
  orgId: string,
  { perOrganization }: ContextLimits,
): Promise<ContextLimit> {
  const organization = await storage.find('organization', orgId)
  const plan: Plan | undefined = organization && (await findPlan(storage, organization))
  return {
    contexts: plan?.maxObservedContexts ?? perOrganization.contexts,
    bytes: plan?.maxObservedContextBytes ?? perOrganization.bytes,
  }
}

/** Returns the number of contexts that each environment of one organization has too many. */
function excesses(
  uses: readonly ContextUse[],
  { perEnvironment, perOrganization }: ContextLimits,
): readonly { readonly use: ContextUse; readonly excess: number }[] {
  const shares = {
    contexts: equalShare(
      uses.map(({ contexts }) => Math.min(contexts, perEnvironment.contexts)),
      perOrganization.contexts,
    ),
    bytes: equalShare(
      uses.map(({ bytes }) => Math.min(bytes, perEnvironment.bytes)),
      perOrganization.bytes,
    ),
  }
  return uses.map((use) => {
    const tooMany = use.contexts - Math.min(perEnvironment.contexts, shares.contexts)
    const tooLong = use.bytes - Math.min(perEnvironment.bytes, shares.bytes)
    const bytesEach = use.contexts === 0 ? 1 : use.bytes / use.contexts
    return { use, excess: Math.max(0, Math.ceil(tooMany), Math.ceil(tooLong / bytesEach)) }
  })
}

/**
 * Returns the largest share such that the total of all amounts, each limited to the share, is not
 * over the limit; `Infinity` if the total of the amounts is not.
 */
function equalShare(amounts: readonly number[], limit: number): number {
  let left = limit
  for (const [index, amount] of [...amounts].sort((a, b) => a - b).entries()) {
    const share = left / (amounts.length - index)
    if (amount > share) return share
    left -= amount
  }
  return Number.POSITIVE_INFINITY
}

/** Deletes about `excess` contexts of an environment in portions, oldest first. */
async function deleteOldest(storage: Storage, environmentId: string, excess: number) {
  const oldestFirst = { field: 'lastSeen', direction: 'asc' } as const
  let left = excess
  while (left > 0) {
    const portion = Math.min(left, PORTION)
    const list = { where: { environmentId }, sort: oldestFirst, page: portion, limit: 1 }
    const [last] = (await storage.list('observedContext', { ...list, isCounted: false })).data
    if (last === undefined) return
    const to = new Date(Date.parse(last.lastSeen) + 1).toISOString()
    const range = { field: 'lastSeen', to } as const
    // With `deletedAt`, stores can use the index of living contexts.
    left -= await storage.purge('observedContext', {
      where: { environmentId, deletedAt: null },
      range,
    })
  }
}
