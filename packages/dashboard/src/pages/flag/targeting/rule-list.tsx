import { type KeyboardEvent, useEffect } from 'react'
import { GridList, useDragAndDrop } from 'react-aria-components'
import { targeting } from '../../../messages/en/targeting.ts'
import { useEditing } from '../editing/editing.ts'
import { loadRuleEditor, RuleCard } from './rule-card.tsx'
import { dropIndex } from './rule-order.ts'
import styles from './targeting.module.css'
import type { RuleOrder } from './use-rule-order.ts'

const { rules: texts } = targeting

/** The properties of `RuleList`. */
export interface RuleListProps {
  readonly order: RuleOrder
  readonly openId: string | undefined
  readonly onOpen: (id: string | undefined) => void
  readonly onMoveTo: (id: string) => void
}

/** The cards of the rules, which can be dragged while none is open. */
export function RuleList({ order, openId, onOpen, onMoveTo }: RuleListProps) {
  useEffect(() => void loadRuleEditor(), [])
  const { handle, refusal } = useEditing()
  const rules = handle.draft.current.targetingRules
  const isOpen = rules.some(({ id }) => id === openId)
  // Sliders and text fields of an open rule could not be used if the cards could be dragged.
  const isDraggable = refusal === undefined && !isOpen && rules.length > 1
  const { dragAndDropHooks } = useDragAndDrop({
    isDisabled: !isDraggable,
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder: ({ keys: [id], target }) => {
      const place = { key: String(target.key), position: target.dropPosition }
      const ids = rules.map((rule) => rule.id)
      if (id !== undefined) order.moveTo(String(id), dropIndex(ids, String(id), place))
    },
  })
  const press = (event: KeyboardEvent<HTMLElement>) => {
    onOpen(openId)
    order.press(event)
  }
  return (
    <div ref={order.ref} onKeyDownCapture={press}>
      <GridList
        aria-label={texts.list}
        className={styles.rules ?? ''}
        keyboardNavigationBehavior="tab"
        disallowTypeAhead
        dragAndDropHooks={dragAndDropHooks}
      >
        {rules.map((rule, index) => (
          <RuleCard
            key={rule.id}
            rule={rule}
            index={index}
            isOpen={openId === rule.id}
            isDraggable={isDraggable}
            onToggle={() => onOpen(openId === rule.id ? undefined : rule.id)}
            onMove={(by) => order.shift(rule.id, by)}
            onMoveTo={() => onMoveTo(rule.id)}
          />
        ))}
      </GridList>
    </div>
  )
}
