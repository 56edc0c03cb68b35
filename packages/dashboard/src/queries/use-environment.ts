import type { Environment } from '@ff/protocol/management'
import { useParams, useSearch } from '@tanstack/react-router'
import { useProject } from './use-queries.ts'

/** The environment that a page shows. */
export interface ChosenEnvironment {
  /** The environment of `?env=`; without it, the first one. `undefined` until the project is loaded. */
  readonly environment: Environment | undefined
  /** All environments of the project in their order. */
  readonly environments: readonly Environment[]
}

/** Returns the environment that the address names by its key in `?env=`. */
export function useEnvironment(): ChosenEnvironment {
  const { project = '' } = useParams({ strict: false })
  const { env } = useSearch({ strict: false })
  const environments = useProject(project).data?.environments ?? []
  const environment = environments.find(({ key }) => key === env) ?? environments[0]
  return { environment, environments }
}
