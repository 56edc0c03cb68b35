import type { FlagSummary } from '@ff/protocol/management'
import { Link } from '@tanstack/react-router'
import { messages } from '../../messages/messages.ts'
import styles from './flags.module.css'
import { Mark } from './mark.tsx'

const { marks } = messages.flags
const UNUSED_MS = 30 * 86_400_000

/** The properties of `FlagNames`. */
export interface FlagNamesProps {
  readonly projectId: string
  readonly flag: FlagSummary
  /** `true` if the fields that the flag has in all environments have unsaved changes. */
  readonly hasDraft: boolean
}

/** The key of a flag as a link to its page, its name, and the marks of the whole flag. */
export function FlagNames({ projectId, flag, hasDraft }: FlagNamesProps) {
  return (
    <div className={styles.names}>
      <div className={styles.line}>
        <Link
          to="/p/$project/flags/$flag"
          params={{ project: projectId, flag: flag.id }}
          className={styles.key}
          title={flag.key}
        >
          {flag.key}
        </Link>
        {hasDraft && <Mark kind="draft" text={marks.draft} hint={marks.fieldsDraftHint} />}
        {flag.archivedAt !== null && (
          <Mark kind="plain" text={marks.archived} hint={marks.archivedHint} />
        )}
        {flag.differs && <Mark kind="plain" text={marks.differs} hint={marks.differsHint} />}
        {isUnused(flag, Date.now()) && (
          <Mark kind="plain" text={marks.unused} hint={marks.unusedHint} />
        )}
      </div>
      <span className={styles.name} title={flag.name}>
        <bdi>{flag.name}</bdi>
      </span>
    </div>
  )
}

/** Returns `true` if a flag is older than 30 days and was not evaluated for 30 days. */
export function isUnused(
  { createdAt, lastEvaluatedAt }: Pick<FlagSummary, 'createdAt' | 'lastEvaluatedAt'>,
  now: number,
): boolean {
  return now - Date.parse(lastEvaluatedAt ?? createdAt) > UNUSED_MS
}
