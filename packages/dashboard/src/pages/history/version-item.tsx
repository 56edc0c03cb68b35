import type { AuditEvent, Environment, Version } from '@ff/protocol/management'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { messages } from '../../messages/messages.ts'
import { useMay } from '../../session/use-session.ts'
import { ChangesOfVersions } from './changes-of-versions.tsx'
import { EntryChanges } from './entry-changes.tsx'
import styles from './history.module.css'

const { history } = messages
const SHOWN_KEYS = 5

/** The properties of `VersionItem`. */
export interface VersionItemProps {
  readonly version: Version
  readonly environment: Environment
  readonly flagId: string | undefined
  /** The audit entry of the change; `undefined` if it is not known. */
  readonly entry: AuditEvent | undefined
  readonly isNewest: boolean
  readonly onRestore: () => void
  readonly onCompare: () => void
}

/** A version in the timeline: who, when, what, why. It loads its changes when they are opened. */
export function VersionItem(props: VersionItemProps) {
  const { version, environment, flagId, entry, isNewest, onRestore, onCompare } = props
  const note = entry?.comment ?? undefined
  return (
    <li className={styles.item}>
      <div className={styles.head}>
        <div className={styles.who}>
          <h2>
            {history.version(version.version)}
            {isNewest && <span className={styles.badge}>{history.current}</span>}
          </h2>
          <p>
            <bdi className={styles.author}>{version.actor?.name ?? history.nobody}</bdi>{' '}
            {history.event(version.eventType)}
            <span className={styles.muted}>
              {' · '}
              <RelativeTime time={version.publishedAt} />
            </span>
          </p>
          <Keys version={version} />
          {entry !== undefined && <EntryChanges entry={entry} environment={environment} />}
          {note !== undefined && (
            <blockquote className={styles.note} aria-label={history.note}>
              <bdi>{note}</bdi>
            </blockquote>
          )}
        </div>
        {!isNewest && <ItemButtons onRestore={onRestore} onCompare={onCompare} />}
      </div>
      <Changes version={version} environment={environment} flagId={flagId} />
    </li>
  )
}

type ItemButtonsProps = Pick<VersionItemProps, 'onRestore' | 'onCompare'>

function ItemButtons({ onRestore, onCompare }: ItemButtonsProps) {
  const may = useMay('flags.write')
  return (
    <div className={styles.buttons}>
      <Button variant="ghost" onPress={onCompare}>
        {history.compare}
      </Button>
      <Button onPress={onRestore} disabledReason={may.reason}>
        {history.restore.button}
      </Button>
    </div>
  )
}

function Keys({ version: { flags, segments } }: { readonly version: Version }) {
  const keys = [...flags, ...segments].flatMap(({ key }) => key ?? [])
  if (keys.length === 0) return null
  const more = keys.length - SHOWN_KEYS
  return (
    <p className={styles.keys}>
      <bdi>{history.flags(keys.slice(0, SHOWN_KEYS), Math.max(0, more))}</bdi>
    </p>
  )
}

type ChangesProps = Pick<VersionItemProps, 'version' | 'environment' | 'flagId'>

function Changes({ version: { version }, environment, flagId }: ChangesProps) {
  const [isOpen, setOpen] = useState(false)
  const place = { projectId: environment.projectId, environmentId: environment.id, flagId }
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.open}>
        {history.showChanges}
        <span className="visually-hidden"> ({history.version(version)})</span>
      </summary>
      {isOpen && <ChangesOfVersions {...place} from={version - 1} to={version} />}
    </details>
  )
}
