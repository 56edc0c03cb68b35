import { messages } from '../../messages/messages.ts'
import { Button } from '../button.tsx'
import styles from '../page.module.css'

/** The properties of `Pager`. */
export interface PagerProps {
  /** The page, counted from 1. */
  readonly page: number
  readonly pageCount: number
  readonly onChange: (page: number) => void
}

/** The buttons of a list with several pages; nothing for one page. */
export function Pager({ page, pageCount, onChange }: PagerProps) {
  const { pages, previousPage, nextPage, pageOf } = messages.components
  if (pageCount < 2) return null
  return (
    <nav className={styles.actions} aria-label={pages}>
      <Button isDisabled={page <= 1} onPress={() => onChange(page - 1)}>
        {previousPage}
      </Button>
      <Button isDisabled={page >= pageCount} onPress={() => onChange(page + 1)}>
        {nextPage}
      </Button>
      <span className={styles.muted}>{pageOf(page, pageCount)}</span>
    </nav>
  )
}
