import type { Environment, Preview } from '@ff/protocol/management'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../components/button.tsx'
import { messages } from '../../messages/messages.ts'
import { queryKeys } from '../../queries/query-keys.ts'
import { useApi, useMay } from '../../session/use-session.ts'
import styles from './impact.module.css'

const { impact } = messages.publishing
const MOST_KEPT = 50

/** The properties of `UnknownAttributes`. */
export interface UnknownAttributesProps {
  readonly preview: Preview
  readonly environment: Environment
}

/** The contexts without a known result, and the attributes that would be needed. */
export function UnknownAttributes({ preview, environment }: UnknownAttributesProps) {
  const undetermined = Math.max(0, ...preview.flags.map((flag) => flag.undetermined))
  const { unknownAttributes } = preview
  if (undetermined === 0 || unknownAttributes.length === 0) return null
  return (
    <div className={styles.warning}>
      <p>{impact.undetermined(undetermined)}</p>
      <ul className={styles.attributes}>
        {unknownAttributes.map((attribute) => (
          <li key={attribute}>
            <code>
              <bdi>{attribute}</bdi>
            </code>
            <Collect attribute={attribute} environment={environment} />
          </li>
        ))}
      </ul>
    </div>
  )
}

interface CollectProps {
  readonly attribute: string
  readonly environment: Environment
}

function Collect({ attribute, environment }: CollectProps) {
  const { mutate, isPending, isSuccess, error } = useCollect(environment)
  const may = useMay('projects.write')
  const isFull = environment.keptAttributes.length >= MOST_KEPT
  const reason = may.reason ?? (isFull ? impact.tooManyAttributes : undefined)
  if (isSuccess || environment.keptAttributes.includes(attribute)) {
    return <span role="status">{impact.collected(attribute)}</span>
  }
  return (
    <>
      <Button disabledReason={reason} onPress={() => isPending || mutate(attribute)}>
        {impact.collect(attribute)}
      </Button>
      {error !== null && <span role="alert">{impact.collectFailed(error.message)}</span>}
    </>
  )
}

/** Adds an attribute to those that an environment keeps, based on its current list. */
function useCollect({ id: environmentId, projectId }: Environment) {
  const api = useApi()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async (attribute: string) => {
      const params = { projectId, environmentId }
      const { data, etag } = await api.call('getEnvironment', { params })
      const keptAttributes = [...new Set([...data.keptAttributes, attribute])]
      await api.call('updateEnvironment', { params, body: { keptAttributes }, ifMatch: etag })
    },
    onSuccess: () =>
      queryClient.invalidateQueries({ queryKey: queryKeys.projectRecord(projectId) }),
  })
}
