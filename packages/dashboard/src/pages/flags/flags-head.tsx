import { ArrowDown, ArrowUp } from 'lucide-react'
import { EnvironmentDot } from '../../components/environment-dot.tsx'
import { messages } from '../../messages/messages.ts'
import { classNames } from '../../style/class-names.ts'
import type { RowLayout } from './flag-row.tsx'
import styles from './flags.module.css'
import { directionOf, nextSort, type SortName } from './flags-search.ts'
import { tableRoles } from './table-roles.ts'

const flags = messages.flags

/** The properties of `FlagsHead`. */
export interface FlagsHeadProps {
  readonly layout: RowLayout
  readonly sort: SortName | undefined
  readonly onSort: (sort: SortName) => void
}

/** The names of the columns; those of the fields by which the list can be sorted are buttons. */
export function FlagsHead({ layout, sort, onSort }: FlagsHeadProps) {
  const { columns, environments } = layout
  const byKey = directionOf(sort, 'key')
  const first = byKey === 'none' ? directionOf(sort, 'name') : byKey
  const order = { sort, onSort }
  return (
    <div {...tableRoles.group} className={styles.headGroup}>
      <div {...tableRoles.row(1)} className={classNames(styles.row, styles.head)}>
        <div {...tableRoles.columnHeader(first)} className={styles.first}>
          <SortButton field="key" name={flags.columnNames.key} {...order} />
          <SortButton field="name" name={flags.columnNames.name} {...order} />
        </div>
        {columns.map((column) => (
          <div
            {...tableRoles.columnHeader(
              column === 'updated' ? directionOf(sort, 'updated_at') : undefined,
            )}
            key={column}
            className={styles.cell}
          >
            {column === 'updated' ? (
              <SortButton field="updated_at" name={flags.columnNames.updated} {...order} />
            ) : (
              flags.columnNames[column]
            )}
          </div>
        ))}
        {environments.map(({ id, name, isProduction }) => (
          <div {...tableRoles.columnHeader()} key={id} className={styles.cell}>
            <EnvironmentDot name={name} isProduction={isProduction} />
          </div>
        ))}
      </div>
    </div>
  )
}

interface SortButtonProps {
  readonly field: 'key' | 'name' | 'updated_at'
  readonly name: string
  readonly sort: SortName | undefined
  readonly onSort: (sort: SortName) => void
}

function SortButton({ field, name, sort, onSort }: SortButtonProps) {
  const direction = directionOf(sort, field)
  return (
    <button
      type="button"
      className={styles.sort}
      title={flags.sortBy(name)}
      onClick={() => onSort(nextSort(sort, field))}
    >
      {name}
      {direction === 'ascending' && <ArrowUp size={12} aria-hidden="true" />}
      {direction === 'descending' && <ArrowDown size={12} aria-hidden="true" />}
    </button>
  )
}
