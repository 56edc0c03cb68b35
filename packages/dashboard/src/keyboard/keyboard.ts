import { readShortcuts } from './keyboard-setting.ts'

/** A keyboard shortcut: one key, or two keys one after the other. */
export interface Shortcut {
  /** The keys, such as `['g', 'f']` or `['?']`. `mod` in front of a key is Ctrl or ⌘: `mod+k`. */
  readonly keys: readonly [string] | readonly [string, string]
  /** What the shortcut does, for the list. */
  readonly name: string
  /** Absent if the page handles the keys itself, and the shortcut is only listed. */
  readonly run?: () => void
}

const SEQUENCE_MS = 1500

/** The shortcuts of the page. Single keys do nothing while a text is edited or a dialog is open. */
export class Keyboard {
  /** `false` disables all shortcuts, except those with Ctrl or ⌘. */
  isEnabled = readShortcuts()
  readonly #shortcuts = new Set<Shortcut>()
  #first: { readonly key: string; readonly at: number } | undefined

  /** The registered shortcuts, in their order. */
  get shortcuts(): readonly Shortcut[] {
    return [...this.#shortcuts]
  }

  /** Registers shortcuts; returns a function that removes them. */
  add(shortcuts: readonly Shortcut[]): () => void {
    for (const shortcut of shortcuts) this.#shortcuts.add(shortcut)
    return () => {
      for (const shortcut of shortcuts) this.#shortcuts.delete(shortcut)
    }
  }

  /** Handles a key press. */
  readonly press = (event: KeyboardEvent): void => {
    const hasModifier = event.ctrlKey || event.metaKey
    if (event.defaultPrevented || event.altKey || event.isComposing) return
    if (!hasModifier && (!this.isEnabled || isOccupied(event.target))) return
    const key = hasModifier ? `mod+${event.key.toLowerCase()}` : event.key
    const first = this.#first
    const isSecond = first !== undefined && event.timeStamp - first.at < SEQUENCE_MS
    const found = (isSecond ? this.#find(first.key, key) : undefined) ?? this.#find(key, undefined)
    this.#first = undefined
    if (found?.run !== undefined) {
      event.preventDefault()
      found.run()
    } else if (this.shortcuts.some(({ keys }) => keys.length === 2 && keys[0] === key)) {
      this.#first = { key, at: event.timeStamp }
    }
  }

  #find(first: string, second: string | undefined): Shortcut | undefined {
    return this.shortcuts.find(({ keys }) => keys[0] === first && keys[1] === second)
  }
}

function isOccupied(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"], [role="alertdialog"]') !== null) return true
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.matches('input, textarea, select, [role="textbox"]')
}
