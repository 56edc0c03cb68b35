import type { FlagSummary, PageOf } from '@ff/protocol/management'
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useCallback, useEffect, useRef, useState } from 'react'
import { messages } from '../../messages/messages.ts'
import { classNames } from '../../style/class-names.ts'
import type { RowLayout } from './flag-row.tsx'
import { FlagRowGroup } from './flag-row-group.tsx'
import styles from './flags.module.css'
import { FlagsHead } from './flags-head.tsx'
import type { SortName } from './flags-search.ts'
import { RowsFailed } from './rows-failed.tsx'
import { tableRoles } from './table-roles.ts'
import { type FlagList, useFlagRows } from './use-flag-rows.ts'
import { useRowFocus } from './use-row-focus.ts'

const ROW = 56
const COMPACT_ROW = 40
const HEAD = 40
const OVERSCAN = 6

/** The properties of `FlagsTable` and `FlagCards`. */
export interface FlagsTableProps {
  readonly list: FlagList
  readonly first: PageOf<FlagSummary>
  readonly layout: RowLayout
  readonly sort: SortName | undefined
  readonly onSort: (sort: SortName) => void
}

/** The table of flags in a wide window. It scrolls inside itself; only the rows in view exist. */
export function FlagsTable({ list, first, layout, sort, onSort }: FlagsTableProps) {
  const { total } = first.meta
  const table = useRef<HTMLDivElement>(null)
  const [kept, setKept] = useState<number>()
  const height = layout.isCompact ? COMPACT_ROW : ROW
  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => table.current,
    estimateSize: () => height,
    // The rows are rendered at once instead of after the first layout.
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    overscan: OVERSCAN,
    scrollPaddingStart: HEAD,
    rangeExtractor: useCallback((range: Range) => withRow(range, kept), [kept]),
  })
  useSizes(virtualizer.measure, height)
  useStart(list, () => virtualizer.scrollToOffset(0))
  const scrollTo = useCallback((index: number) => virtualizer.scrollToIndex(index), [virtualizer])
  const focused = useRowFocus({ table, total, scrollTo })
  useEffect(() => setKept(focused), [focused])
  const items = virtualizer.getVirtualItems()
  const rows = useFlagRows(
    list,
    first,
    items.map(({ index }) => index),
  )
  const { columns, environments } = layout
  return (
    <>
      <div
        ref={table}
        {...tableRoles.table({
          label: messages.flags.tableLabel,
          rows: total + 1,
          columns: 1 + columns.length + environments.length,
        })}
        className={classNames(styles.table, layout.isCompact && styles.compact)}
        style={widthsOf(layout)}
      >
        <FlagsHead layout={layout} sort={sort} onSort={onSort} />
        <FlagRowGroup {...{ items, rows, layout }} height={virtualizer.getTotalSize()} />
      </div>
      <RowsFailed rows={rows} />
    </>
  )
}

/** Returns the rows of a range, and a row that must stay in the page because it has the focus. */
export function withRow(range: Range, kept: number | undefined): number[] {
  const indexes = defaultRangeExtractor(range)
  if (kept === undefined || kept >= range.count || indexes.includes(kept)) return indexes
  return [...indexes, kept].toSorted((one, other) => one - other)
}

/** Measures the rows again after their size has changed. */
export function useSizes(measure: () => void, size: unknown): void {
  const last = useRef(size)
  useEffect(() => {
    if (last.current === size) return
    last.current = size
    measure()
  }, [measure, size])
}

/** Returns to the start of the list after its search or its order has changed. */
function useStart({ query }: FlagList, scroll: () => void): void {
  const last = useRef(query)
  useEffect(() => {
    if (last.current === query) return
    last.current = query
    scroll()
  })
}

const FIRST_WIDTH = 260
const WIDTHS = { type: 84, tags: 190, updated: 120 } as const
const ENVIRONMENT_WIDTH = 220

/** Returns the custom properties with the widths of the columns. */
function widthsOf({ columns, environments }: RowLayout): CSSProperties {
  const fixed = columns.map((column) => WIDTHS[column])
  const least = FIRST_WIDTH + fixed.reduce((sum, width) => sum + width, 0)
  const others = environments.map(() => `minmax(${ENVIRONMENT_WIDTH}px, 1fr)`)
  const all = [`minmax(${FIRST_WIDTH}px, 1.2fr)`, ...fixed.map((width) => `${width}px`), ...others]
  const properties = {
    '--columns': all.join(' '),
    '--least-width': `${least + ENVIRONMENT_WIDTH * environments.length}px`,
  }
  return properties as CSSProperties
}
