import type { FlagView } from '@ff/protocol/management'
import { useState } from 'react'
import { SentenceText } from '../components/text/sentence-text.tsx'
import type { Configuration } from '../draft/configuration.ts'
import { configurationDifferences } from '../draft/differences.ts'
import { messages } from '../messages/messages.ts'
import { textOf } from '../messages/phrases/fragment.ts'
import styles from './flag-switch.module.css'
import { namesOf } from './switch-effect.ts'

/** The properties of `SwitchChanges`. */
export interface SwitchChangesProps {
  readonly flag: FlagView
  readonly configuration: Configuration
  /** `true` while the configuration is loaded again, and may be an old one. */
  readonly isLoading: boolean
  readonly isProduction: boolean
  /** `true` if the server refused the switch because the flag was changed. */
  readonly isRefused: boolean
}

/** What others have changed since the dialog was opened. It is empty if there is nothing. */
export function SwitchChanges(props: SwitchChangesProps) {
  const { flag, configuration, isLoading, isProduction, isRefused } = props
  const [opened, setOpened] = useState<Configuration>()
  const [now] = useState(Date.now)
  if (opened === undefined && !isLoading) setOpened(configuration)
  const options = { names: namesOf(flag), isProduction, now }
  const differences = configurationDifferences(opened ?? configuration, configuration, options)
  if (differences.length === 0 && !isRefused) return null
  return (
    <div className={styles.notice} role="alert">
      {differences.length === 0 ? (
        <p>{messages.flagSwitch.staleUnknown}</p>
      ) : (
        <>
          <p>{messages.flagSwitch.stale}</p>
          <ul>
            {differences.map(({ sentence }) => (
              <li key={textOf(sentence)}>
                <SentenceText sentence={sentence} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
