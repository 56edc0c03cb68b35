import type { Condition } from '@ff/protocol/management'
import { useEffect, useRef } from 'react'
import { Button } from '../../../components/button.tsx'
import { Select } from '../../../components/select.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { ConditionEditor } from '../../../conditions/condition-editor.tsx'
import { findById, type Rule, rolloutOf } from '../../../draft/configuration.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { faultAt, faultBelow, useEditing } from '../editing/editing.ts'
import { variationOptions } from '../editing/variation-select.tsx'
import { RolloutEditor } from '../rollouts/rollout-editor.tsx'
import styles from './targeting.module.css'

const { rules: texts } = targeting
const NEW_CONDITION: Condition = { attribute: '', operator: 'eq', value: '' }

interface PartProps {
  readonly rule: Rule
  /** The position of the rule, for the paths of faults. */
  readonly index: number
}

/**
 * The editor of a rule: its name, its conditions, and what it serves. It takes the rule from the
 * context, because properties reach the items of a list too late for the caret of a text field.
 */
export function RuleEditor({ ruleId }: { readonly ruleId: string }) {
  const { handle, issues } = useEditing()
  const editor = useRef<HTMLFieldSetElement>(null)
  useEffect(() => {
    // A browser may return a promise, which an effect must not return.
    editor.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const rules = handle.draft.current.targetingRules
  const rule = findById(rules, ruleId)
  if (rule === undefined) return null
  const index = rules.indexOf(rule)
  return (
    <fieldset
      ref={editor}
      className={styles.editor}
      aria-label={texts.edit(rule.name)}
      onBlur={() => handle.dispatch({ type: 'settle' })}
    >
      <TextField
        label={texts.name}
        value={rule.name}
        onChange={(name) => handle.dispatch({ type: 'renameRule', ruleId, name })}
        error={faultAt(issues, `targetingRules.${index}.name`)}
      />
      <Conditions rule={rule} index={index} />
      <Serve rule={rule} index={index} />
    </fieldset>
  )
}

function Conditions({ rule, index }: PartProps) {
  const { handle, issues, segments, attributes } = useEditing()
  const { id: ruleId, conditions } = rule
  const items = conditions.map((condition, at) => ({ condition, at, key: `${ruleId} ${at}` }))
  return (
    <fieldset className={styles.part}>
      <legend>{texts.conditions}</legend>
      {conditions.length === 0 && rule.segmentId === null && (
        <p className={styles.muted}>{texts.everyone}</p>
      )}
      {items.map(({ condition, at, key }) => (
        <ConditionEditor
          key={key}
          condition={condition}
          index={at}
          onChange={(changes) =>
            handle.dispatch({ type: 'setCondition', ruleId, index: at, changes })
          }
          onRemove={() => handle.dispatch({ type: 'removeCondition', ruleId, index: at })}
          attributes={attributes}
          segments={segments}
          faultOf={(field) =>
            faultAt(issues, `targetingRules.${index}.conditions.${at}.${field}`) ??
            (field === 'value'
              ? faultAt(issues, `targetingRules.${index}.conditions.${at}`)
              : undefined)
          }
        />
      ))}
      <div className={styles.line}>
        <Button
          onPress={() =>
            handle.dispatch({ type: 'addCondition', ruleId, condition: NEW_CONDITION })
          }
        >
          {texts.addCondition}
        </Button>
        <SegmentSelect rule={rule} index={index} />
      </div>
    </fieldset>
  )
}

function SegmentSelect({ rule, index }: PartProps) {
  const { handle, issues, segments } = useEditing()
  const { id: ruleId, segmentId } = rule
  const isKnown = segmentId === null || segments.some(({ id }) => id === segmentId)
  const options = [
    { id: '', name: texts.anySegment },
    ...segments,
    ...(isKnown ? [] : [{ id: segmentId, name: texts.missingSegment(segmentId) }]),
  ]
  const fault = faultBelow(issues, `targetingRules.${index}.segmentId`)
  return (
    <>
      <span className={styles.label} aria-hidden="true">
        {texts.segment}
      </span>
      <Select
        label={texts.segment}
        isLabelHidden
        options={options}
        value={segmentId ?? ''}
        onChange={(id) =>
          handle.dispatch({ type: 'setRuleSegment', ruleId, segmentId: id === '' ? null : id })
        }
      />
      {fault !== undefined && <span className={styles.fault}>{fault}</span>}
    </>
  )
}

const ROLLOUT = 'rollout'

function Serve({ rule, index }: PartProps) {
  const { handle, issues } = useEditing()
  const { id: ruleId, variationId, rolloutId } = rule
  const rollout = rolloutOf(handle.draft.current, rule)
  const options = [...variationOptions(handle.flag), { id: ROLLOUT, name: texts.rollout }]
  const choose = (id: string) => {
    if (id !== ROLLOUT) handle.dispatch({ type: 'serveVariation', ruleId, variationId: id })
    else if (rolloutId === null) {
      const served = variationId ?? handle.flag.variations[0]?.id ?? null
      handle.dispatch({ type: 'serveRollout', ruleId, variationId: served })
    }
  }
  const select = (
    <Select
      label={texts.serve}
      isLabelHidden
      options={options}
      value={rolloutId === null ? variationId : ROLLOUT}
      placeholder={texts.nothing}
      onChange={choose}
    />
  )
  const fault =
    faultBelow(issues, `targetingRules.${index}.variationId`) ??
    faultBelow(issues, `targetingRules.${index}.rolloutId`)
  return (
    <fieldset className={styles.part}>
      <legend>{texts.serve}</legend>
      {rollout === undefined ? (
        <div className={styles.line}>{select}</div>
      ) : (
        <RolloutEditor key={rollout.id} rollout={rollout} serve={select} />
      )}
      {fault !== undefined && <p className={styles.fault}>{fault}</p>}
    </fieldset>
  )
}
