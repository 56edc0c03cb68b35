import type { AuditEvent, Environment, FlagView } from '@ff/protocol/management'
import { useMemo } from 'react'
import { SentenceText } from '../../components/text/sentence-text.tsx'
import { configurationDifferences } from '../../draft/differences.ts'
import { messages } from '../../messages/messages.ts'
import { useNames } from '../../queries/use-names.ts'
import { useFlag } from '../../queries/use-queries.ts'
import { type AuditedChange, auditedChange } from './audited-change.ts'
import styles from './history.module.css'

const { changes: words } = messages.history
const MOST_SHOWN = 3

/** The properties of `EntryChanges`. */
export interface EntryChangesProps {
  readonly entry: AuditEvent
  readonly environment: Environment
}

/** What a publish changed, in words. Nothing for other changes, and for a flag that was deleted. */
export function EntryChanges({ entry, environment }: EntryChangesProps) {
  const change = useMemo(() => auditedChange(entry), [entry])
  if (change === undefined) return null
  return <ConfigurationChanges {...{ entry, environment, change }} />
}

interface ConfigurationChangesProps extends EntryChangesProps {
  readonly change: AuditedChange
}

function ConfigurationChanges({ change, ...props }: ConfigurationChangesProps) {
  const { data: flag } = useFlag(props.environment.projectId, change.flagId)
  if (flag === undefined) return null
  return <ChangesInWords {...props} change={change} flag={flag.data} />
}

interface ChangesInWordsProps extends ConfigurationChangesProps {
  readonly flag: FlagView
}

function ChangesInWords({ entry, environment, change, flag }: ChangesInWordsProps) {
  const { before, after } = change
  const names = useNames(flag, [before, after])
  const options = {
    names,
    isProduction: environment.isProduction,
    now: Date.parse(entry.createdAt),
  }
  const differences = configurationDifferences(before, after, options)
  if (differences.length === 0) return null
  const hidden = differences.length - MOST_SHOWN
  return (
    <ul className={styles.words}>
      {differences.slice(0, MOST_SHOWN).map(({ sentence }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two changes can have the same words
        <li key={index}>
          <SentenceText sentence={sentence} />
        </li>
      ))}
      {hidden > 0 && <li className={styles.muted}>{words.more(hidden)}</li>}
    </ul>
  )
}
