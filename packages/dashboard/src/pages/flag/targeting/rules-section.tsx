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
const LAST = 'last'

/** Loads the list of rules before the page shows it. */
export async function loadRuleList(): Promise<void> {
  await RuleList.preload?.()
}

/** The rules as cards in the order of their evaluation. */
export function RulesSection() {
  const { handle, refusal } = useEditing()
  const rules = handle.draft.current.targetingRules
  const [openId, setOpenId] = useState<string>()
  const [movedId, setMovedId] = useState<string>()
  const ids = rules.map(({ id }) => id)
  const order = useRuleOrder(ids)
  const before = handle.draft.base.targetingRules.map(({ id }) => id)
  const isMoved = movedIds(before, ids).length > 0
  const add = () => {
    handle.dispatch({ type: 'addRule', rule: { name: texts.newName(rules.length + 1) } })
    setOpenId(LAST)
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
            openId={openId === LAST ? ids.at(-1) : openId}
            onOpen={setOpenId}
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
