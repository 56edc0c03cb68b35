import type { Environment } from '@ff/protocol/management'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useIsNarrow } from '../../controls/use-is-narrow.ts'
import { messages } from '../../messages/messages.ts'
import { useProject } from '../../queries/use-queries.ts'
import { useApi, useMay } from '../../session/use-session.ts'
import { FlagCards } from './flag-cards.tsx'
import type { RowLayout } from './flag-row.tsx'
import { type FlagsSearch, isFiltered, toQuery } from './flags-search.ts'
import { FlagsTable } from './flags-table.tsx'
import { FlagsToolbar } from './flags-toolbar.tsx'
import { OPTIONAL_COLUMNS, sortedEnvironments, type TableView, useTableView } from './table-view.ts'
import { useDraftPlaces } from './use-draft-places.ts'
import { useFirstFlags, useTags } from './use-flag-rows.ts'

const flags = messages.flags
const none: readonly Environment[] = []

/** The flags of a project with their configuration in all environments. */
export function FlagsPage() {
  const { project: projectId } = useParams({ from: '/layout/p/$project/flags' })
  const search = useSearch({ from: '/layout/p/$project/flags' })
  const change = useSearchChange()
  const isNarrow = useIsNarrow()
  const project = useProject(projectId)
  const environments = useMemo(
    () => sortedEnvironments(project.data?.environments ?? none),
    [project.data],
  )
  const keys = useMemo(() => environments.map(({ key }) => key), [environments])
  const query = useMemo(() => toQuery(search, keys), [search, keys])
  const list = useMemo(() => ({ projectId, query }), [projectId, query])
  const first = useFirstFlags(list)
  const [view, setView] = useTableView()
  const layout = useRowLayout({ projectId, environments, view, isNarrow, change })
  const error = first.error ?? project.error
  const retry = () => void Promise.all([first.refetch(), project.refetch()])
  const isLoaded = first.data !== undefined && project.data !== undefined
  const [tags, onTags] = useTags(list, first.data)
  return (
    <Page
      title={flags.title}
      actions={<NewFlagButton projectId={projectId} />}
      isFilling={!isNarrow}
    >
      <FlagsToolbar
        {...{ search, environments, tags, onTags, isNarrow, onChange: change }}
        columns={{ environments, view, onChange: setView }}
        total={first.data?.meta.total}
      />
      {isLoaded ? (
        <List {...{ list, layout, search, change }} first={first.data} />
      ) : error !== null ? (
        <ErrorState title={flags.loadFailed} error={error} onRetry={retry} />
      ) : (
        <Skeleton rows={9} />
      )}
    </Page>
  )
}

type SearchChange = (change: FlagsSearch) => void

/** Returns a function that changes a part of the address, without a step back for each letter. */
function useSearchChange(): SearchChange {
  const navigate = useNavigate({ from: '/p/$project/flags' })
  return useCallback(
    (change) =>
      void navigate({
        search: (before) => ({ ...before, ...change }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
}

interface LayoutInput {
  readonly projectId: string
  readonly environments: readonly Environment[]
  readonly view: TableView
  readonly isNarrow: boolean
  readonly change: SearchChange
}

/** Returns what all rows have in common: the same object until something of it changes. */
function useRowLayout({ projectId, environments, view, isNarrow, change }: LayoutInput): RowLayout {
  const hasDraft = useDraftPlaces()
  return useMemo(
    () => ({
      projectId,
      environments: environments.filter(({ id }) => !view.hidden.includes(id)),
      columns: OPTIONAL_COLUMNS.filter((column) => !view.hidden.includes(column)),
      isCompact: view.isCompact,
      isNarrow,
      hasDraft,
      onTag: (tag) => change({ tag }),
    }),
    [projectId, environments, view, isNarrow, hasDraft, change],
  )
}

interface ListProps {
  readonly list: Parameters<typeof FlagsTable>[0]['list']
  readonly first: Parameters<typeof FlagsTable>[0]['first']
  readonly layout: RowLayout
  readonly search: FlagsSearch
  readonly change: SearchChange
}

function List({ list, first, layout, search, change }: ListProps) {
  if (first.meta.total === 0) {
    return isFiltered(search) ? (
      <EmptyState sentence={flags.noResults} />
    ) : (
      <NoFlags projectId={list.projectId} />
    )
  }
  if (layout.isNarrow) return <FlagCards list={list} first={first} layout={layout} />
  const onSort = (sort: FlagsSearch['sort']) => change({ sort })
  return <FlagsTable {...{ list, first, layout, onSort }} sort={search.sort} />
}

function NoFlags({ projectId }: { readonly projectId: string }) {
  const may = useMay('flags.write')
  const path = useApi().addressOf('listFlags', { params: { projectId } })
  if (!may.allowed) return <EmptyState sentence={flags.emptyWithoutPermission} />
  return (
    <EmptyState
      sentence={flags.empty}
      action={<NewFlagButton projectId={projectId} />}
      snippet={flags.snippet(new URL(path, window.location.origin).href)}
    />
  )
}

function NewFlagButton({ projectId }: { readonly projectId: string }) {
  const navigate = useNavigate()
  const { reason } = useMay('flags.write')
  const open = () => navigate({ to: '/p/$project/new-flag', params: { project: projectId } })
  return (
    <Button variant="primary" disabledReason={reason} onPress={() => void open()}>
      <Plus size={16} aria-hidden="true" />
      {flags.newFlag}
    </Button>
  )
}
