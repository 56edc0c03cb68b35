import type { Environment } from '@ff/protocol/management'
import { useMatches, useParams, useSearch } from '@tanstack/react-router'
import { useProject } from './use-queries.ts'

/** The environment that a page shows. */
export interface ChosenEnvironment {
  /**
   * The environment of `?env=`, and none if the project has no environment with this key. Without
   * `?env=`, the one that the page shows first. `undefined` until the project is loaded.
   */
  readonly environment: Environment | undefined
  /** All environments of the project in their order. */
  readonly environments: readonly Environment[]
}

/** Returns the environment that the address names by its key in `?env=`. */
export function useEnvironment(): ChosenEnvironment {
  const { project = '' } = useParams({ strict: false })
  const { env } = useSearch({ strict: false })
  const prefersProduction = useMatches({
    select: (matches) => matches.some(({ staticData }) => staticData.prefersProduction),
  })
  const environments = useProject(project).data?.environments ?? []
  const isChosen = ({ key, isProduction }: Environment) =>
    env === undefined ? !prefersProduction || isProduction : key === env
  const chosen = environments.find(isChosen)
  return { environment: chosen ?? (env === undefined ? environments[0] : undefined), environments }
}
