import { bool, defineFlags } from '@ff/core/typed-flags'
import { type As, SYSTEM } from '@ff/management'
import type { FlagServer } from '@ff/server'

/** A boolean flag that serves `false`, and the credentials to evaluate and to change it. */
export interface ExampleProject {
  /** The id of the organization. */
  readonly orgId: string
  /** The keys of the project, the environment and the flag. */
  readonly project: string
  readonly environment: string
  readonly flag: string
  readonly sdkKey: string
  /** An access token with the role `editor`. */
  readonly token: string
}

/** The keys of the project that `createExampleProject` creates. */
const EXAMPLE = { project: 'site', environment: 'live', flag: 'maintenance' } as const

/** Creates a project with one flag. */
export async function createExampleProject(flags: FlagServer<As>): Promise<ExampleProject> {
  const management = flags.as(SYSTEM)
  const { orgId } = await management.ensureProject({
    key: EXAMPLE.project,
    flags: defineFlags({ [EXAMPLE.flag]: bool(false) }),
  })
  const { key } = await management.createSdkKey({
    params: { projectId: EXAMPLE.project, environmentId: EXAMPLE.environment },
    body: { name: 'Example', kind: 'client' },
  })
  const { token } = await management.createAccessToken({
    params: { orgId },
    body: { name: 'Example', role: 'editor' },
  })
  return { ...EXAMPLE, orgId, sdkKey: key ?? '', token: token ?? '' }
}
