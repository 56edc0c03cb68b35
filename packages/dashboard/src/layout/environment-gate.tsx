import { Link, useMatches, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { Gone } from '../components/gone.tsx'
import { gone as texts } from '../messages/en/errors.ts'
import { useEnvironment } from '../queries/use-environment.ts'
import { useFlag } from '../queries/use-queries.ts'
import { useChangedPlaces, useUserDrafts } from '../user-drafts/use-user-drafts.ts'

/**
 * Shows the page of an environment that exists. The address of a page that shows an environment
 * always names it, so that the page never changes to another one by itself.
 */
export function EnvironmentGate({ children }: { readonly children: ReactNode }) {
  const { environment, environments } = useEnvironment()
  const { env } = useSearch({ strict: false })
  const navigate = useNavigate()
  const use = useMatches({
    select: (matches) => matches.find(({ staticData }) => staticData.environment)?.staticData,
  })?.environment
  const [known, setKnown] = useState(environment)
  if (environment !== undefined && environment.id !== known?.id) setKnown(environment)
  const unnamed = use === 'shown' && env === undefined ? environment?.key : undefined
  useEffect(() => {
    if (unnamed === undefined) return
    void navigate({ to: '.', search: (before) => ({ ...before, env: unnamed }), replace: true })
  }, [unnamed, navigate])
  const isGone = use !== undefined && env !== undefined && environment === undefined
  if (!isGone || environments.length === 0) return children
  return <GoneEnvironment env={env} recordId={known?.key === env ? known.id : undefined} />
}

interface GoneEnvironmentProps {
  readonly env: string
  readonly recordId: string | undefined
}

function GoneEnvironment({ env, recordId }: GoneEnvironmentProps) {
  const { environments } = useEnvironment()
  return (
    <Gone title={texts.environment(env)} recordId={recordId} onDiscard={useDiscard()}>
      <nav aria-label={texts.environments}>
        <p>{texts.environments}:</p>
        <ul>
          {environments.map(({ key, name }) => (
            <li key={key}>
              <Link to="." search={(before) => ({ ...before, env: key })}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </Gone>
  )
}

/** Returns the function that discards the drafts of the open flag in environments that are gone. */
function useDiscard(): (() => void) | undefined {
  const { project = '', flag = '' } = useParams({ strict: false })
  const { environments } = useEnvironment()
  const { configurations } = useUserDrafts()
  const flagId = useFlag(project, flag).data?.data.id
  const lost = useChangedPlaces().filter((place) => {
    return place.flagId === flagId && environments.every(({ id }) => id !== place.environmentId)
  })
  if (lost.length === 0) return undefined
  return () => {
    for (const place of lost) configurations.drop(place)
  }
}
