import type { Condition } from '@ff/protocol/management'
import { X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../components/button.tsx'
import { Checkbox } from '../components/checkbox.tsx'
import { ComboBox } from '../components/combo-box.tsx'
import type { Option } from '../components/select.tsx'
import { conditions as texts } from '../messages/en/conditions.ts'
import { changeOperator, type ReplacedValues } from './condition-value.ts'
import styles from './conditions.module.css'
import { caseTwin, hasAttribute, operatorName, operatorOptions } from './operator-kind.ts'
import { ValueField } from './value-field.tsx'

/** The properties of `ConditionEditor`. */
export interface ConditionEditorProps {
  readonly condition: Condition
  /** The position among the conditions, for the label. */
  readonly index: number
  readonly onChange: (changes: Partial<Condition>) => void
  readonly onRemove: () => void
  /** The attributes to suggest. */
  readonly attributes: readonly string[]
  readonly segments: readonly Option[]
  /** Returns the fault of a field that the server has found. */
  readonly faultOf?: (field: keyof Condition) => string | undefined
}

/** The editor of a condition: its attribute, operator and value. */
export function ConditionEditor(props: ConditionEditorProps) {
  const { condition, index, onChange, onRemove, attributes, segments, faultOf } = props
  const { attribute, operator } = condition
  const [replaced, setReplaced] = useState<ReplacedValues>(new Map())
  const changeTo = (next: string) => {
    const change = changeOperator(next, condition, replaced)
    setReplaced(change.replaced)
    onChange({ operator: next, value: change.value })
  }
  const label = operator.startsWith('flag_is') ? texts.flagKey : texts.attribute
  return (
    <fieldset className={styles.condition} aria-label={texts.conditionOf(index)}>
      <div className={styles.fields}>
        {hasAttribute(operator) && (
          <ComboBox
            label={label}
            isLabelHidden
            placeholder={label}
            allowsOther
            options={attributes.map((name) => ({ id: name, name }))}
            value={attribute}
            onChange={(name) => onChange({ attribute: name })}
            error={faultOf?.('attribute')}
          />
        )}
        <OperatorField key={operator} operator={operator} onChange={changeTo} />
        <div className={styles.value}>
          <ValueField
            key={operator}
            condition={condition}
            onChange={(value) => onChange({ value })}
            segments={segments}
            error={faultOf?.('value') ?? faultOf?.('operator')}
          />
        </div>
        <Button variant="ghost" aria-label={texts.remove} onPress={onRemove}>
          <X size={16} aria-hidden="true" />
        </Button>
      </div>
      <More condition={condition} onChange={onChange} />
    </fieldset>
  )
}

type PartProps = Pick<ConditionEditorProps, 'condition' | 'onChange'>

interface OperatorFieldProps {
  readonly operator: string
  readonly onChange: (operator: string) => void
}

function OperatorField({ operator, onChange }: OperatorFieldProps) {
  const listed = operatorOptions(operator)
  const twin = caseTwin(operator)
  const isListed = listed.some(({ id }) => id === operator)
  const chosen = isListed || twin === undefined ? operator : twin
  const [text, setText] = useState(operatorName(chosen))
  const choose = (next: string) => {
    if (next !== chosen) onChange(next)
  }
  const isKnown = listed.some(({ id }) => id === chosen)
  const options = isKnown ? listed : [{ id: chosen, name: chosen }, ...listed]
  return (
    <ComboBox
      label={texts.operator}
      isLabelHidden
      options={options}
      chosen={chosen}
      value={text}
      onChange={setText}
      onChoose={choose}
    />
  )
}

function More({ condition: { operator, negate = false }, onChange }: PartProps) {
  const twin = caseTwin(operator)
  const isIgnored = operator.endsWith('_ci')
  return (
    <details className={styles.more} open={isIgnored || negate}>
      <summary>{texts.more}</summary>
      <div className={styles.options}>
        {twin !== undefined && (
          <Checkbox isSelected={isIgnored} onChange={() => onChange({ operator: twin })}>
            {texts.ignoreCase}
          </Checkbox>
        )}
        <Checkbox isSelected={negate} onChange={(isNegated) => onChange({ negate: isNegated })}>
          {texts.negate}
        </Checkbox>
        <span className={styles.hint}>{texts.negateHint}</span>
      </div>
    </details>
  )
}
