import type { Environment, Version } from '@ff/protocol/management'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { messages } from '../../messages/messages.ts'
import { useVersions } from '../../queries/use-queries.ts'
import { CompareDialog } from './compare-dialog.tsx'
import styles from './history.module.css'
import { RestoreDialog } from './restore-dialog.tsx'
import { useAuditEntries } from './use-audit-entries.ts'
import { VersionItem } from './version-item.tsx'

const { history } = messages
const NONE: readonly Version[] = []

/** The properties of `VersionTimeline`. */
export interface VersionTimelineProps {
  readonly environment: Environment
  /** The id or the key of a flag: shows only the versions that changed it. */
  readonly flagId?: string | undefined
}

type Opened =
  | { readonly kind: 'restore'; readonly version: number }
  | { readonly kind: 'compare'; readonly from: number; readonly to: number }

/** The versions of an environment, or of a flag in it, with their authors and changes. */
export function VersionTimeline({ environment, flagId }: VersionTimelineProps) {
  const [page, setPage] = useState(1)
  const [opened, setOpened] = useState<Opened>()
  const { id: environmentId, projectId } = environment
  const { data, error, refetch } = useVersions({ projectId, environmentId, page })
  const newest = useVersions({ projectId, environmentId }).data?.data[0]?.version
  const entries = useAuditEntries(environment, data?.data ?? NONE)
  if (data === undefined && error !== null) {
    const title = messages.errors.loadFailed(history.what)
    return <ErrorState title={title} error={error} onRetry={() => void refetch()} />
  }
  if (data === undefined) return <Skeleton />
  if (data.data.length === 0) return <EmptyState sentence={history.empty} />
  const close = () => setOpened(undefined)
  const versions = data.data.filter((version) => isChangeOf(version, flagId))
  return (
    <div className={styles.history}>
      {versions.length === 0 ? (
        <EmptyState sentence={history.emptyOfFlag} />
      ) : (
        <ol className={styles.timeline}>
          {versions.map((version) => (
            <VersionItem
              key={version.version}
              {...{ version, environment, flagId }}
              entry={entries.get(version.eventId ?? '')}
              isNewest={version.version === newest}
              onRestore={() => setOpened({ kind: 'restore', version: version.version })}
              onCompare={() =>
                setOpened({ kind: 'compare', from: version.version, to: newest ?? version.version })
              }
            />
          ))}
        </ol>
      )}
      <Pages page={page} pages={data.meta.pageCount} onPage={setPage} />
      {opened?.kind === 'restore' && newest !== undefined && (
        <RestoreDialog {...{ environment, newest }} version={opened.version} onClose={close} />
      )}
      {opened?.kind === 'compare' && (
        <CompareDialog {...{ environment, flagId, ...opened }} onClose={close} />
      )}
    </div>
  )
}

function isChangeOf({ flags }: Version, flagId: string | undefined): boolean {
  return flagId === undefined || flags.some(({ id, key }) => id === flagId || key === flagId)
}

interface PagesProps {
  readonly page: number
  readonly pages: number
  readonly onPage: (page: number) => void
}

function Pages({ page, pages, onPage }: PagesProps) {
  if (pages <= 1) return null
  return (
    <nav className={styles.pages} aria-label={history.page(page, pages)}>
      <Button isDisabled={page <= 1} onPress={() => onPage(page - 1)}>
        {history.newer}
      </Button>
      <span className={styles.muted}>{history.page(page, pages)}</span>
      <Button isDisabled={page >= pages} onPress={() => onPage(page + 1)}>
        {history.older}
      </Button>
    </nav>
  )
}
