import { SlidersHorizontal } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import fieldStyles from '../../components/field.module.css'
import { useShortcuts } from '../../keyboard/use-shortcuts.ts'
import { messages } from '../../messages/messages.ts'
import { classNames } from '../../style/class-names.ts'
import { ColumnMenu, type ColumnMenuProps } from './column-menu.tsx'
import styles from './flags.module.css'
import { FlagsFilters, type FlagsFiltersProps } from './flags-filters.tsx'

const flags = messages.flags
/** The delay of the search after a key. It saves a request for each letter of a fast typist. */
const DELAY_MS = 20

/** The properties of `FlagsToolbar`. */
export interface FlagsToolbarProps extends Omit<FlagsFiltersProps, 'hasSort'> {
  readonly columns: Omit<ColumnMenuProps, 'isNarrow'>
  readonly isNarrow: boolean
  /** The number of flags that match; `undefined` until it is known. */
  readonly total: number | undefined
}

/** The search, filters and columns of the list of flags. */
export function FlagsToolbar({ columns, isNarrow, total, ...filters }: FlagsToolbarProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.toolbar}>
      <Search search={filters.search.search ?? ''} onChange={filters.onChange} />
      {isNarrow && (
        <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          <SlidersHorizontal size={16} aria-hidden="true" />
          {flags.filters}
        </Button>
      )}
      {(!isNarrow || isOpen) && (
        <div className={classNames(styles.filters)}>
          <FlagsFilters {...filters} hasSort={isNarrow} />
        </div>
      )}
      <div className={styles.end}>
        <span className={styles.muted} role="status">
          {total !== undefined && flags.count(total)}
        </span>
        <ColumnMenu {...columns} isNarrow={isNarrow} />
      </div>
    </div>
  )
}

interface SearchProps {
  readonly search: string
  readonly onChange: FlagsFiltersProps['onChange']
}

function Search({ search, onChange }: SearchProps) {
  const place = useRef<HTMLDivElement>(null)
  const [text, setText] = useState(search)
  const sent = useRef(search)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    // The address was changed by another control, or by the buttons of the browser.
    if (search === sent.current) return
    sent.current = search
    setText(search)
  }, [search])
  useEffect(() => () => clearTimeout(timer.current), [])
  const type = (typed: string) => {
    setText(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      sent.current = typed
      onChange({ search: typed === '' ? undefined : typed })
    }, DELAY_MS)
  }
  const shortcuts = useMemo(() => {
    const run = () => place.current?.querySelector('input')?.focus()
    return [{ keys: ['/'], name: flags.focusSearch, run }] as const
  }, [])
  useShortcuts(shortcuts)
  return (
    <div ref={place} className={styles.search}>
      <input
        type="search"
        className={fieldStyles.input}
        aria-label={flags.search}
        placeholder={flags.search}
        value={text}
        maxLength={256}
        onChange={(event) => type(event.target.value)}
      />
    </div>
  )
}
