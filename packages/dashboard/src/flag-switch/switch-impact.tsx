import type { Preview } from '@ff/protocol/management'
import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { type Configuration, toConfigurationInput } from '../draft/configuration.ts'
import { messages } from '../messages/messages.ts'
import { queryKeys } from '../queries/query-keys.ts'
import { useApi } from '../session/use-session.ts'
import styles from './flag-switch.module.css'
import type { FlagSwitchQuestion } from './flag-switch-context.ts'

const flagSwitch = messages.flagSwitch
const MOST_MOVES = 4

/** The properties of `SwitchImpact`. */
export interface SwitchImpactProps {
  readonly question: FlagSwitchQuestion
  /** The published configuration; `undefined` until it is loaded. */
  readonly configuration: Configuration | undefined
}

/** What would change for observed contexts. It never delays the switch. */
export function SwitchImpact({ question, configuration }: SwitchImpactProps) {
  const preview = useSwitchPreview(question, configuration)
  return (
    <section className={styles.impact} aria-label={flagSwitch.impact} aria-live="polite">
      {preview.data !== undefined && <Numbers preview={preview.data} flagId={question.flag.id} />}
      {preview.error !== null && <p className={styles.muted}>{failureText(preview.error)}</p>}
      {preview.isPending && <p className={styles.muted}>{flagSwitch.impactLoading}</p>}
    </section>
  )
}

function useSwitchPreview(
  { flag, environment, isActive }: FlagSwitchQuestion,
  configuration: Configuration | undefined,
) {
  const api = useApi()
  const { projectId, id: environmentId } = environment
  const place = queryKeys.configuration(projectId, environmentId, flag.id)
  return useQuery({
    queryKey: [...place, 'switchPreview', !isActive, configuration?.revision],
    enabled: configuration !== undefined,
    retry: false,
    queryFn: async ({ signal }) => {
      const base = configuration as Configuration
      const state = { ...base.state, isActive: !isActive }
      const changed = toConfigurationInput({ ...base, state }, base)
      const change = {
        kind: 'flag_configuration' as const,
        flagId: flag.id,
        configuration: changed,
      }
      const body = { changes: [change], examples: 0 }
      const params = { projectId, environmentId }
      return (await api.call('previewChanges', { params, body, signal })).data
    },
  })
}

/** Returns in words why there is no preview. */
export function failureText(error: unknown): string {
  if (!(error instanceof ApiError)) return flagSwitch.impactFailed(messages.errors.unknown)
  if (error.code === 'PREVIEW_WITHOUT_CONTEXTS') return flagSwitch.impactWithoutContexts
  if (error.status === 429) return flagSwitch.impactBusy
  return flagSwitch.impactFailed(error.message)
}

function Numbers({ preview, flagId }: { readonly preview: Preview; readonly flagId: string }) {
  const { evaluated, isSample } = preview.contexts
  const own = preview.flags.find((flag) => flag.flagId === flagId)
  const others = preview.flags.filter((flag) => flag.flagId !== flagId && flag.changed > 0).length
  const changed = own?.changed ?? 0
  if (evaluated === 0) return <p>{flagSwitch.impactEmpty}</p>
  const share = Math.round((changed / evaluated) * 1000) / 10
  const notes = [
    isSample ? flagSwitch.impactSample : undefined,
    preview.complete ? undefined : flagSwitch.impactPartial,
    own?.undetermined ? flagSwitch.impactUndetermined(own.undetermined) : undefined,
    others > 0 ? flagSwitch.impactDependents(others) : undefined,
  ].filter((note) => note !== undefined)
  return (
    <>
      <p>
        {changed === 0
          ? flagSwitch.impactNone(evaluated)
          : flagSwitch.impactChanged(changed, evaluated, share)}
      </p>
      <ul className={styles.moves}>
        {own?.moves.slice(0, MOST_MOVES).map(({ from, to, contexts, toRuleId, fromReason }) => (
          <li key={`${from} ${to} ${toRuleId} ${fromReason}`}>
            <bdi>
              {flagSwitch.impactMove(
                from ?? flagSwitch.impactNothing,
                to ?? flagSwitch.impactNothing,
                contexts,
              )}
            </bdi>
          </li>
        ))}
      </ul>
      {notes.map((note) => (
        <p key={note} className={styles.muted}>
          {note}
        </p>
      ))}
    </>
  )
}
