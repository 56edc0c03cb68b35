import { type KeyboardEvent, type RefObject, useRef, useState } from 'react'
import { findById } from '../../../draft/configuration.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { useEditing } from '../editing/editing.ts'
import { shiftedIndex } from './rule-order.ts'

const { rules: texts } = targeting

/** The functions that move rules. */
export interface RuleOrder {
  /** The element that contains the list. */
  readonly ref: RefObject<HTMLDivElement | null>
  /** The last move in words, for screen readers. */
  readonly announcement: string
  readonly moveTo: (ruleId: string, index: number) => void
  readonly shift: (ruleId: string, by: 1 | -1) => void
  readonly press: (event: KeyboardEvent<HTMLElement>) => void
}

/** Moves rules, announces the new position, and keeps the focus on the moved rule. */
export function useRuleOrder(ids: readonly string[]): RuleOrder {
  const { handle, refusal } = useEditing()
  const ref = useRef<HTMLDivElement>(null)
  const [announcement, setAnnouncement] = useState('')
  const moveTo = (ruleId: string, index: number) => {
    const rule = findById(handle.draft.current.targetingRules, ruleId)
    if (refusal !== undefined || rule === undefined) return
    handle.dispatch({ type: 'moveRule', ruleId, index })
    setAnnouncement(texts.moved(rule.name, index))
  }
  const shift = (ruleId: string, by: 1 | -1) => {
    const index = shiftedIndex(ids, ruleId, by)
    if (index !== undefined) moveTo(ruleId, index)
  }
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const isMove = event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')
    const row = (event.target as Element).closest<HTMLElement>('[data-key]')
    if (!isMove || row === null || ref.current?.contains(row) !== true) return
    event.preventDefault()
    event.stopPropagation()
    const id = row.dataset['key'] ?? ''
    shift(id, event.key === 'ArrowUp' ? -1 : 1)
    const focused = event.target as HTMLElement
    requestAnimationFrame(() => focused.focus())
  }
  return { ref, announcement, moveTo, shift, press }
}
