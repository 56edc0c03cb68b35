import type { FlagSetDefinition } from '@ff/core'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import { mixedFlags } from '../../../core/bench/mixed.ts'
import { insertWorkload, withUuids } from '../records.ts'

/** The number of environments and flags of a store. */
export interface Size {
  readonly environments: number
  /** The number of flags in each environment. */
  readonly flags: number
}

/** An environment of the store, and a key with which its flags are evaluated. */
export interface Environment {
  readonly id: string
  readonly projectId: string
  readonly sdkKey: string
}

const PROJECTS_OF_ORGANIZATION = 10
const RATE_LIMIT = 1_000_000

/** Creates a data file with projects of three environments, in organizations of ten projects. */
export async function fillStore(path: string, size: Size): Promise<readonly Environment[]> {
  const { storage, ...rest } = sqlite({ path })
  const flags = createFlagServer({ storage, ...rest, management: createManagement() })
  await flags.start()
  const as = flags.as({ id: 'scale', email: '', name: 'Scale', role: 'platform', orgId: null })
  const environments: Environment[] = []
  let orgId = ''
  for (let number = 0; environments.length < size.environments; number += 1) {
    if (number % PROJECTS_OF_ORGANIZATION === 0) {
      orgId = (await as.createOrganization({ body: { name: `Organization ${number}` } })).id
    }
    const project = await as.createProject({ params: { orgId }, body: { key: `p-${number}` } })
    const projectId = project.id
    const third = await as.createEnvironment({ params: { projectId }, body: { key: 'third' } })
    const environmentIds = [...project.environments, third]
      .map(({ id }) => id)
      .slice(0, size.environments - environments.length)
    const workload = workloadOf(size.flags, number)
    await storage.transaction(orgId, (session) =>
      insertWorkload(session, workload, { projectId, environmentIds }),
    )
    for (const id of environmentIds) {
      const { key } = await as.createSdkKey({
        params: { projectId, environmentId: id },
        body: { name: 'scale', kind: 'server', rateLimit: RATE_LIMIT },
      })
      environments.push({ id, projectId, sdkKey: key })
    }
  }
  await flags.close()
  return environments
}

function workloadOf(flags: number, seed: number): Pick<FlagSetDefinition, 'flags' | 'segments'> {
  const { segments, ...rest } = mixedFlags(flags, seed + 1)
  const unlisted = segments.map((segment) => ({ ...segment, included: [], excluded: [] }))
  return withUuids({ ...rest, segments: unlisted })
}
