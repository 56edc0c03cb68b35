import { useMemo } from 'react'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { SentenceText } from '../../components/text/sentence-text.tsx'
import { messages } from '../../messages/messages.ts'
import styles from './history.module.css'
import { type ComparedVersions, useVersionPair } from './use-version-pair.ts'
import { type ResourceChange, versionDifferences } from './version-differences.ts'

const { changes: words, changesWhat } = messages.history
const MOST_SHOWN = 100

/** The properties of `ChangesOfVersions`. */
export interface ChangesOfVersionsProps extends ComparedVersions {
  /** Shows only the changes of this flag. */
  readonly flagId?: string | undefined
}

/** The differences of two versions as sentences. */
export function ChangesOfVersions({ flagId, ...compared }: ChangesOfVersionsProps) {
  const { pair, error, retry } = useVersionPair(compared)
  const changes = useMemo(() => pair && versionDifferences(pair, flagId), [pair, flagId])
  if (error !== null) {
    const title = messages.errors.loadFailed(changesWhat)
    return <ErrorState title={title} error={error} onRetry={retry} />
  }
  if (changes === undefined) return <Skeleton rows={1} />
  if (changes.length === 0) return <p>{flagId === undefined ? words.none : words.noneOfFlag}</p>
  return <ChangeList changes={changes} />
}

/** Changes of flags and segments, each with its sentences. */
export function ChangeList({ changes }: { readonly changes: readonly ResourceChange[] }) {
  const hidden = changes.length - MOST_SHOWN
  return (
    <div className={styles.changes}>
      {changes.slice(0, MOST_SHOWN).map(({ resource, id, key, sentences }) => (
        <section key={id} className={styles.change}>
          <p className={styles.resource}>
            <bdi>{words[resource](key)}</bdi>
          </p>
          <ul>
            {sentences.map((sentence, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two changes can have the same words
              <li key={index}>
                <SentenceText sentence={sentence} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {hidden > 0 && <p className={styles.muted}>{words.more(hidden)}</p>}
    </div>
  )
}
