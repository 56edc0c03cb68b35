import { type ReactNode, useEffect } from 'react'
import { messages } from '../messages/messages.ts'
import { classNames } from '../style/class-names.ts'
import styles from './page.module.css'

/** Sets the title of the browser's tab. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = messages.shell.pageTitle(title)
  }, [title])
}

/** The properties of `Page`. */
export interface PageProps {
  readonly title: string
  /** A link to the list that the page belongs to. */
  readonly back?: ReactNode
  /** The buttons beside the heading. */
  readonly actions?: ReactNode
  readonly children?: ReactNode
  /** Marks the title of the browser's tab, because the page has unsaved changes. */
  readonly isChanged?: boolean
  /** Makes the page as high as the window, so that its last part scrolls inside itself. */
  readonly isFilling?: boolean
}

/** A page: its title, its only `h1`, its actions and its content. */
export function Page(props: PageProps) {
  const { title, back, actions, children, isChanged = false, isFilling = false } = props
  usePageTitle(isChanged ? messages.shell.changedTitle(title) : title)
  return (
    <div className={classNames(styles.page, isFilling && styles.filling)}>
      {back}
      <header className={styles.header}>
        <h1 className={styles.title}>{title}</h1>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}
