import type { Environment } from '@ff/protocol/management'
import { Columns3 } from 'lucide-react'
import { ChoiceMenu } from '../../controls/choice-menu.tsx'
import { messages } from '../../messages/messages.ts'
import { OPTIONAL_COLUMNS, type TableView } from './table-view.ts'

const flags = messages.flags
const COMPACT = 'compact'

/** The properties of `ColumnMenu`. */
export interface ColumnMenuProps {
  readonly environments: readonly Pick<Environment, 'id' | 'name'>[]
  readonly view: TableView
  readonly onChange: (view: TableView) => void
  /** `true` offers only what cards can show: the environments. */
  readonly isNarrow: boolean
}

/** The choice of the columns and of the height of the rows; for cards, that of the environments. */
export function ColumnMenu({ environments, view, onChange, isNarrow }: ColumnMenuProps) {
  const details = OPTIONAL_COLUMNS.map((id) => ({ id, name: flags.columnNames[id] }))
  const places = environments.map(({ id, name }) => ({ id, name }))
  const columns = isNarrow ? places : [...details, ...places]
  const shown = columns.map(({ id }) => id).filter((id) => !view.hidden.includes(id))
  const change = (chosen: readonly string[]) => {
    const others = view.hidden.filter((id) => !columns.some((column) => column.id === id))
    const hidden = columns.map(({ id }) => id).filter((id) => !chosen.includes(id))
    const isCompact = isNarrow ? view.isCompact : chosen.includes(COMPACT)
    onChange({ hidden: [...others, ...hidden], isCompact })
  }
  return (
    <ChoiceMenu
      label={isNarrow ? flags.environments : flags.columns}
      icon={<Columns3 size={16} aria-hidden="true" />}
      options={isNarrow ? columns : [...columns, { id: COMPACT, name: flags.compact }]}
      chosen={view.isCompact && !isNarrow ? [...shown, COMPACT] : shown}
      onChange={change}
    />
  )
}
