import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { messages } from '../messages/messages.ts'
import { Button } from './button.tsx'
import styles from './toast.module.css'

/** The action of the button "Undo" of a message. */
export interface Undo {
  /** The ids of what was changed. A later message for the same ids replaces this one. */
  readonly subject: readonly string[]
  readonly run: () => void
}

interface ToastMessage {
  readonly id: number
  readonly content: ReactNode
  readonly undo: Undo | undefined
}

const VISIBLE_MS = 8000
const UNDO_VISIBLE_MS = 60_000
const MOST = 3

/** The messages that are visible, newest last. */
class ToastList {
  #toasts: readonly ToastMessage[] = []
  #nextId = 1
  readonly #listeners = new Set<() => void>()
  readonly current = () => this.#toasts
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  add(content: ReactNode, undo: Undo | undefined): void {
    const subject = String(undo?.subject)
    const others = this.#toasts.filter(
      (toast) => !toast.undo || String(toast.undo.subject) !== subject,
    )
    this.#set([...others, { id: this.#nextId++, content, undo }].slice(-MOST))
  }

  close(id: number): void {
    this.#set(this.#toasts.filter((toast) => toast.id !== id))
  }

  #set(toasts: readonly ToastMessage[]): void {
    this.#toasts = toasts
    for (const listener of this.#listeners) listener()
  }
}

const list = new ToastList()

/**
 * Shows a message for 8 seconds; with `undo`, it has a button and stays for a minute. Only the last
 * change of a subject can be undone.
 */
export function showToast(content: ReactNode, undo?: Undo): void {
  list.add(content, undo)
}

/** The place of the messages, once in the page. Screen readers announce each message. */
export function ToastRegion() {
  const toasts = useSyncExternalStore(list.subscribe, list.current)
  return (
    <section
      className={styles.region}
      aria-label={messages.components.notifications}
      aria-live="polite"
    >
      {toasts.map((toast) => (
        <Toast key={toast.id} toast={toast} />
      ))}
    </section>
  )
}

function Toast({ toast: { id, content, undo } }: { readonly toast: ToastMessage }) {
  useEffect(() => {
    const timer = setTimeout(() => list.close(id), undo ? UNDO_VISIBLE_MS : VISIBLE_MS)
    return () => clearTimeout(timer)
  }, [id, undo])
  const runUndo = () => {
    list.close(id)
    undo?.run()
  }
  return (
    <div className={styles.toast}>
      <span className={styles.content}>{content}</span>
      {undo !== undefined && <Button onPress={runUndo}>{messages.components.undo}</Button>}
      <Button variant="ghost" onPress={() => list.close(id)}>
        {messages.components.dismiss}
      </Button>
    </div>
  )
}
