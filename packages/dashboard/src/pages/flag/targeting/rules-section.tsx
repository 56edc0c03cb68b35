import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { Skeleton } from '../../../components/states.tsx'
import { movedIds } from '../../../draft/difference.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { ChangedMark } from '../editing/changed-mark.tsx'
import { useEditing } from '../editing/editing.ts'
import { MoveDialog } from './move-dialog.tsx'
import { Section } from './section.tsx'
import styles from './targeting.module.css'
import { useRuleOrder } from './use-rule-order.ts'

const { rules: texts } = targeting

const RuleList = lazyRouteComponent(() => import('./rule-list.tsx'), 'RuleList')

/** Stands for the id of the last rule. */
export const LAST_RULE = 'last'

/** The properties of `RulesSection`. */
export interface RulesSectionProps {
  /** The id of the open rule, or `LAST_RULE`; `undefined` if none is open. */
  readonly openId: string | undefined
  readonly onOpen: (id: string | undefined) => void
}

/** Loads the list of rules before the page shows it. */
export async function loadRuleList(): Promise<void> {
  await RuleList.preload?.()
}

/** The rules as cards in the order of their evaluation. */
export function RulesSection({ openId, onOpen }: RulesSectionProps) {
  const { handle, refusal } = useEditing()
  const rules = handle.draft.current.targetingRules
  const [movedId, setMovedId] = useState<string>()
  const ids = rules.map(({ id }) => id)
  const order = useRuleOrder(ids)
  const before = handle.draft.base.targetingRules.map(({ id }) => id)
  const isMoved = movedIds(before, ids).length > 0
  const add = () => {
    handle.dispatch({ type: 'addRule', rule: { name: texts.newName(rules.length + 1) } })
    onOpen(LAST_RULE)
  }
  return (
    <Section
      title={texts.title}
      mark={isMoved && <ChangedMark fields={[{ part: 'order' }]} name={texts.list} />}
      action={
        <Button disabledReason={refusal} onPress={add}>
          {texts.add}
        </Button>
      }
    >
      {rules.length === 0 && <p className={styles.muted}>{texts.none}</p>}
      {rules.length > 0 && (
        <Suspense fallback={<Skeleton rows={rules.length} />}>
          <RuleList
            order={order}
            openId={openId === LAST_RULE ? ids.at(-1) : openId}
            onOpen={onOpen}
            onMoveTo={setMovedId}
          />
        </Suspense>
      )}
      <p className="visually-hidden" aria-live="polite">
        {order.announcement}
      </p>
      {movedId !== undefined && ids.includes(movedId) && (
        <MoveDialog
          index={ids.indexOf(movedId)}
          count={ids.length}
          onMove={(index) => order.moveTo(movedId, index)}
          onClose={() => setMovedId(undefined)}
        />
      )}
    </Section>
  )
}
