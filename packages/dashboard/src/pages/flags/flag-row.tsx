import type { Environment, FlagSummary } from '@ff/protocol/management'
import { memo } from 'react'
import { EnvironmentDot } from '../../components/environment-dot.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { messages } from '../../messages/messages.ts'
import { classNames } from '../../style/class-names.ts'
import { EnvironmentCell } from './environment-cell.tsx'
import { FlagNames } from './flag-names.tsx'
import { FlagTags } from './flag-tags.tsx'
import styles from './flags.module.css'
import { tableRoles } from './table-roles.ts'
import type { HasDraft } from './use-draft-places.ts'

/** What all rows of a list have in common. It must be the same object while nothing changes. */
export interface RowLayout {
  readonly projectId: string
  /** The environments that are shown, in the order of their columns. */
  readonly environments: readonly Environment[]
  /** The names of the columns before those of the environments. */
  readonly columns: readonly ('type' | 'tags' | 'updated')[]
  readonly isCompact: boolean
  /** `true` shows each flag as a card. */
  readonly isNarrow: boolean
  readonly hasDraft: HasDraft
  readonly onTag: (tag: string) => void
}

/** The properties of `FlagRow`. */
export interface FlagRowProps {
  readonly index: number
  /** The distance of the row from the start of the list, in CSS pixels. */
  readonly start: number
  /** `undefined` while the flag is loaded. */
  readonly flag: FlagSummary | undefined
  readonly layout: RowLayout
}

/** One flag with its configuration in all environments, as a row or a card. */
export const FlagRow = memo(function FlagRow({ index, start, flag, layout }: FlagRowProps) {
  return (
    <div
      {...tableRoles.row(index + 2)}
      tabIndex={-1}
      data-row={index}
      className={classNames(layout.isNarrow ? styles.card : styles.row)}
      style={{ transform: `translateY(${start}px)` }}
    >
      {flag === undefined ? <Placeholder /> : <Cells flag={flag} layout={layout} />}
    </div>
  )
})

function Placeholder() {
  return (
    <div {...tableRoles.cell} className={styles.placeholder}>
      <span className="visually-hidden">{messages.flags.isRead}</span>
    </div>
  )
}

interface CellsProps {
  readonly flag: FlagSummary
  readonly layout: RowLayout
}

function Cells({ flag, layout }: CellsProps) {
  const { columns, environments, isCompact, isNarrow } = layout
  return (
    <>
      <div {...tableRoles.rowHeader} className={styles.first}>
        <FlagNames
          projectId={layout.projectId}
          flag={flag}
          hasDraft={layout.hasDraft(null, flag.id)}
        />
      </div>
      {!isNarrow &&
        columns.map((column) => (
          <div {...tableRoles.cell} key={column} className={styles.cell}>
            <Detail column={column} flag={flag} onTag={layout.onTag} />
          </div>
        ))}
      {environments.map((environment) => (
        <div
          {...tableRoles.cell}
          key={environment.id}
          className={styles.cell}
          data-environment={environment.key}
        >
          {isNarrow && (
            <span className={styles.place}>
              <EnvironmentDot name={environment.name} isProduction={environment.isProduction} />
            </span>
          )}
          <EnvironmentCell
            flag={flag}
            environment={environment}
            hasDraft={layout.hasDraft(environment.id, flag.id)}
            isCompact={isCompact && !isNarrow}
          />
        </div>
      ))}
    </>
  )
}

interface DetailProps {
  readonly column: RowLayout['columns'][number]
  readonly flag: FlagSummary
  readonly onTag: (tag: string) => void
}

function Detail({ column, flag, onTag }: DetailProps) {
  if (column === 'type') return messages.flags.types[flag.type]
  if (column === 'updated') return <RelativeTime time={flag.updatedAt} />
  return <FlagTags tags={flag.tags} onTag={onTag} />
}
