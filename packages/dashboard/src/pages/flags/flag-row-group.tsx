import type { VirtualItem } from '@tanstack/react-virtual'
import { FlagRow, type RowLayout } from './flag-row.tsx'
import styles from './flags.module.css'
import { tableRoles } from './table-roles.ts'
import type { FlagRows } from './use-flag-rows.ts'

/** The properties of `FlagRowGroup`. */
export interface FlagRowGroupProps {
  /** The rows that are in view. */
  readonly items: readonly VirtualItem[]
  readonly rows: FlagRows
  readonly layout: RowLayout
  /** The height of all rows, in CSS pixels. */
  readonly height: number
  /** The distance of the list from the start of the element that scrolls. */
  readonly margin?: number
}

/** The rows in view, in the place that all rows of the list would take. */
export function FlagRowGroup({ items, rows, layout, height, margin = 0 }: FlagRowGroupProps) {
  return (
    <div {...tableRoles.group} className={styles.rows} style={{ height }}>
      {items.map(({ index, start }) => (
        <FlagRow
          key={index}
          index={index}
          start={start - margin}
          flag={rows.at(index)}
          layout={layout}
        />
      ))}
    </div>
  )
}
