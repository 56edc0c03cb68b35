import { type RefObject, useEffect, useMemo, useState } from 'react'
import type { Shortcut } from '../../keyboard/keyboard.ts'
import { useShortcuts } from '../../keyboard/use-shortcuts.ts'
import { messages } from '../../messages/messages.ts'

const flags = messages.flags

/** The list in which the keyboard moves. */
export interface FocusedList {
  readonly table: RefObject<HTMLElement | null>
  readonly total: number
  readonly scrollTo: (index: number) => void
}

/**
 * Moves the focus from row to row with `j` and `k`, and switches with `s`. Returns the index of the
 * row that was focused last, which must stay in the page.
 */
export function useRowFocus({ table, total, scrollTo }: FocusedList): number | undefined {
  const [focused, setFocused] = useState<{ readonly index: number }>()
  useEffect(() => {
    if (focused === undefined) return
    scrollTo(focused.index)
    const row = table.current?.querySelector<HTMLElement>(`[data-row="${focused.index}"]`)
    const target = row?.querySelector<HTMLElement>('a') ?? row
    target?.focus({ preventScroll: true })
  }, [focused, table, scrollTo])
  const shortcuts = useMemo((): readonly Shortcut[] => {
    const move = (step: 1 | -1) => () =>
      setFocused((last) => {
        const current = indexOfFocus() ?? last?.index ?? -1
        return { index: Math.max(0, Math.min(total - 1, current + step)) }
      })
    return [
      { keys: ['j'], name: flags.nextRow, run: move(1) },
      { keys: ['k'], name: flags.previousRow, run: move(-1) },
      { keys: ['s'], name: flags.switchRow, run: () => switchIn(table.current) },
    ]
  }, [total, table])
  useShortcuts(shortcuts)
  return focused?.index
}

function focusedRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>('[data-row]') ?? null
}

function indexOfFocus(): number | undefined {
  const index = focusedRow()?.dataset['row']
  return index === undefined ? undefined : Number(index)
}

/** Presses the switch of the focused cell; otherwise the first one of the focused row. */
function switchIn(table: HTMLElement | null): void {
  const cell = document.activeElement?.closest('[data-environment]') ?? focusedRow()
  if (cell === null || !table?.contains(cell)) return
  cell.querySelector<HTMLElement>('[role="switch"]')?.click()
}
