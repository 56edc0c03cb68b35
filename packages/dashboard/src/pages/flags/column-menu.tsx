import type { Environment } from '@ff/protocol/management'
import { Columns3 } from 'lucide-react'
import { ChoiceMenu } from '../../controls/choice-menu.tsx'
import { messages } from '../../messages/messages.ts'
import { OPTIONAL_COLUMNS, type TableView } from './table-view.ts'

const flags = messages.flags
const COMPACT = 'compact'

/** The properties of `ColumnMenu`. */
export interface ColumnMenuProps {
  readonly environments: readonly Environment[]
  readonly view: TableView
  readonly onChange: (view: TableView) => void
}

/** The choice of the columns and of the height of the rows. */
export function ColumnMenu({ environments, view, onChange }: ColumnMenuProps) {
  const columns = [
    ...OPTIONAL_COLUMNS.map((id) => ({ id, name: flags.columnNames[id] })),
    ...environments.map(({ id, name }) => ({ id, name })),
  ]
  const shown = columns.map(({ id }) => id).filter((id) => !view.hidden.includes(id))
  const change = (chosen: readonly string[]) => {
    const others = view.hidden.filter((id) => !columns.some((column) => column.id === id))
    const hidden = columns.map(({ id }) => id).filter((id) => !chosen.includes(id))
    onChange({ hidden: [...others, ...hidden], isCompact: chosen.includes(COMPACT) })
  }
  return (
    <ChoiceMenu
      label={flags.columns}
      icon={<Columns3 size={16} aria-hidden="true" />}
      options={[...columns, { id: COMPACT, name: flags.compact }]}
      chosen={view.isCompact ? [...shown, COMPACT] : shown}
      onChange={change}
    />
  )
}
