import type { Segment } from '@ff/protocol/management'
import { Plus } from 'lucide-react'
import { Button } from '../../components/button.tsx'
import { Checkbox } from '../../components/checkbox.tsx'
import { Select } from '../../components/select.tsx'
import { ConditionListEditor } from '../../conditions/condition-list-editor.tsx'
import { messages } from '../../messages/messages.ts'
import { useSegmentHandle } from './segment-handle.ts'
import styles from './segments.module.css'

const { segments: texts } = messages
const OPERATORS = (['AND', 'OR', 'NOT'] as const).map((id) => ({ id, name: texts.operators[id] }))
const NEW_CONDITION = { attribute: '', operator: 'eq', value: '' }
const PREFIX = 'rules.'

/** The conditions of a segment and how they are joined. */
export function SegmentConditions() {
  const { draft, issues, segments, disabledReason, dispatch } = useSegmentHandle()
  const { rules, logicalOp, force } = draft.current
  const isDisabled = disabledReason !== undefined
  const own = issues.filter(({ path }) => path.startsWith(PREFIX))
  return (
    <section className={styles.card} aria-label={texts.conditions}>
      <h2>{texts.conditions}</h2>
      <Select
        label={texts.operator}
        options={OPERATORS}
        value={logicalOp}
        isDisabled={isDisabled}
        onChange={(id) => {
          const changes = { logicalOp: id as Segment['logicalOp'] }
          dispatch({ type: 'setSegment', changes })
        }}
      />
      {rules.length === 0 && !force && <p className={styles.muted}>{texts.noConditions}</p>}
      <fieldset className={styles.parts} disabled={isDisabled}>
        <ConditionListEditor
          conditions={rules}
          onChange={(index, changes) => dispatch({ type: 'setCondition', index, changes })}
          onRemove={(index) => dispatch({ type: 'removeCondition', index })}
          suggestions={[]}
          segments={segments}
          issues={own.map(({ path, message }) => ({ path: path.slice(PREFIX.length), message }))}
        />
      </fieldset>
      <div>
        <Button
          onPress={() => dispatch({ type: 'addCondition', condition: NEW_CONDITION })}
          disabledReason={disabledReason}
        >
          <Plus size={16} aria-hidden="true" />
          {texts.addCondition}
        </Button>
      </div>
      <div>
        <Checkbox
          isSelected={force}
          isDisabled={isDisabled}
          onChange={(isForced) => {
            dispatch({ type: 'setSegment', changes: { force: isForced } })
          }}
        >
          {texts.force}
        </Checkbox>
        {force && <p className={styles.muted}>{texts.forceHint}</p>}
      </div>
    </section>
  )
}
