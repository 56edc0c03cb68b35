import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { messages } from '../../messages/messages.ts'
import { FlagRowGroup } from './flag-row-group.tsx'
import styles from './flags.module.css'
import { type FlagsTableProps, useSizes, withRow } from './flags-table.tsx'
import { RowsFailed } from './rows-failed.tsx'
import { tableRoles } from './table-roles.ts'
import { useFlagRows } from './use-flag-rows.ts'
import { useRowFocus } from './use-row-focus.ts'

const NAMES = 64
const ENVIRONMENT = 60
const GAP = 8
const OVERSCAN = 3

/** The flags in a narrow window: cards with the environments below each other. The page scrolls. */
export function FlagCards({ list, first, layout }: Omit<FlagsTableProps, 'sort' | 'onSort'>) {
  const { total } = first.meta
  const { environments } = layout
  const table = useRef<HTMLDivElement>(null)
  const scrollMargin = useTop(table)
  const [kept, setKept] = useState<number>()
  const height = NAMES + environments.length * ENVIRONMENT
  const virtualizer = useWindowVirtualizer({
    count: total,
    estimateSize: () => height + GAP,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    overscan: OVERSCAN,
    scrollMargin,
    rangeExtractor: useCallback((range) => withRow(range, kept), [kept]),
  })
  useSizes(virtualizer.measure, height)
  const scrollTo = useCallback((index: number) => virtualizer.scrollToIndex(index), [virtualizer])
  const focused = useRowFocus({ table, total, scrollTo })
  useEffect(() => setKept(focused), [focused])
  const items = virtualizer.getVirtualItems()
  const rows = useFlagRows(
    list,
    first,
    items.map(({ index }) => index),
  )
  return (
    <>
      <div
        ref={table}
        {...tableRoles.table({
          label: messages.flags.tableLabel,
          rows: total + 1,
          columns: 1 + environments.length,
        })}
        className={styles.cards}
      >
        <FlagRowGroup
          {...{ items, rows, layout }}
          height={virtualizer.getTotalSize()}
          margin={scrollMargin}
        />
      </div>
      <RowsFailed rows={rows} />
    </>
  )
}

/** Returns the distance of an element from the start of the page. */
function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const { top: inView = 0 } = element.current?.getBoundingClientRect() ?? {}
    setTop(Math.round(inView + window.scrollY))
  }, [element])
  return top
}
