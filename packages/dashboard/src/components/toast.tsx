import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { messages } from '../messages/messages.ts'
import { Button } from './button.tsx'
import styles from './toast.module.css'

interface ToastMessage {
  readonly id: number
  readonly content: ReactNode
  readonly onUndo: (() => void) | undefined
}

const VISIBLE_MS = 8000
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

  add(content: ReactNode, onUndo: (() => void) | undefined): void {
    this.#set([...this.#toasts, { id: this.#nextId++, content, onUndo }].slice(-MOST))
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

/** Shows a message for some seconds; with `onUndo`, it has a button and stays until it is closed. */
export function showToast(content: ReactNode, onUndo?: () => void): void {
  list.add(content, onUndo)
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

function Toast({ toast: { id, content, onUndo } }: { readonly toast: ToastMessage }) {
  useEffect(() => {
    if (onUndo !== undefined) return
    const timer = setTimeout(() => list.close(id), VISIBLE_MS)
    return () => clearTimeout(timer)
  }, [id, onUndo])
  const undo = () => {
    onUndo?.()
    list.close(id)
  }
  return (
    <div className={styles.toast}>
      <span className={styles.content}>{content}</span>
      {onUndo !== undefined && <Button onPress={undo}>{messages.components.undo}</Button>}
      <Button variant="ghost" onPress={() => list.close(id)}>
        {messages.components.dismiss}
      </Button>
    </div>
  )
}
