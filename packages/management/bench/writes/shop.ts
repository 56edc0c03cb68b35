import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import { manyFlags } from '../../../core/bench/workload.ts'
import { insertWorkload, withUuids } from '../records.ts'

/** The credentials and ids in the data file that the load uses. */
export interface Shop {
  readonly token: string
  readonly sdkKey: string
  readonly projectId: string
  readonly environmentId: string
  readonly flags: readonly { readonly id: string; readonly ruleId: string }[]
}

/**
 * Creates a data file with an environment of `flagCount` flags, each with six rules and a rollout.
 */
export async function fillShop(path: string, flagCount: number): Promise<Shop> {
  const { storage, ...rest } = sqlite({ path })
  const flags = createFlagServer({ storage, ...rest, management: createManagement() })
  await flags.start()
  const management = flags.as({
    id: 'bench',
    email: '',
    name: 'Bench',
    role: 'platform',
    orgId: null,
  })
  const { id: orgId } = await management.createOrganization({ body: { name: 'Bench' } })
  const params = { orgId }
  const project = await management.createProject({ params, body: { key: 'shop' } })
  const projectId = project.id
  const environmentId = project.environments[0]?.id ?? ''
  const { token } = await management.createAccessToken({
    params,
    body: { name: 'bench', role: 'editor' },
  })
  const { key: sdkKey } = await management.createSdkKey({
    params: { projectId, environmentId },
    body: { name: 'bench', kind: 'client', rateLimit: 1_000_000 },
  })
  const place = { projectId, environmentIds: [environmentId] }
  await storage.transaction(orgId, (session) =>
    insertWorkload(session, withUuids(manyFlags(flagCount)), place),
  )
  const where = { environmentId, orderIndex: 0 }
  const rules = (await storage.list('targetingRule', { where })).data
  await flags.close()
  const changed = rules.map(({ id, flagId }) => ({ id: flagId, ruleId: id }))
  return { token, sdkKey, projectId, environmentId, flags: changed }
}
