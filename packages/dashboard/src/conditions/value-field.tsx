import type { Condition } from '@ff/protocol/management'
import { ChoiceList } from '../components/fields/choice-list.tsx'
import { DateTimeField } from '../components/fields/date-time-field.tsx'
import type { Option } from '../components/select.tsx'
import { TextField } from '../components/text-field.tsx'
import { listOf } from '../draft/sentence.ts'
import { conditions as texts } from '../messages/en/conditions.ts'
import {
  fitsLines,
  linesOf,
  listFromLines,
  rangeFrom,
  rangeOf,
  valueFault,
} from './condition-value.ts'
import styles from './conditions.module.css'
import { valueKindOf } from './operator-kind.ts'
import { useTextOf } from './use-text-of.ts'

/** The properties of `ValueField`. */
export interface ValueFieldProps {
  readonly condition: Condition
  readonly onChange: (value: string) => void
  readonly segments: readonly Option[]
  /** The fault that the server has found. */
  readonly error?: string | undefined
}

/** The field for the value of a condition, by the type of the value. */
export function ValueField({ condition, onChange, segments, error }: ValueFieldProps) {
  const { operator, value } = condition
  const fault = valueFault(operator, value) ?? error
  const field = { value, onChange, error: fault }
  switch (valueKindOf(operator)) {
    case 'none':
      return null
    case 'list':
    case 'versions':
      return fitsLines(value) ? <Lines {...field} operator={operator} /> : <Text {...field} />
    case 'segments':
      return <Choices {...field} label={texts.segment} options={segments} />
    case 'types':
      return <Choices {...field} label={texts.type} options={TYPES} />
    case 'range':
      return <Range {...field} />
    case 'time':
      return isShownAsTime(value) ? (
        <DateTimeField {...field} label={texts.value} isLabelHidden />
      ) : (
        <Text {...field} />
      )
    case 'pattern':
    case 'json':
      return <Text {...field} isMonospace />
    default:
      return <Text {...field} />
  }
}

const TYPES: readonly Option[] = texts.types.map((type) => ({ id: type, name: type }))

interface FieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error: string | undefined
}

function Text(props: FieldProps & { readonly isMonospace?: boolean }) {
  return <TextField {...props} label={texts.value} placeholder={texts.value} isLabelHidden />
}

function Lines({ value, onChange, error, operator }: FieldProps & { readonly operator: string }) {
  const [text, setText] = useTextOf(value, linesOf, listFromLines)
  const change = (next: string) => {
    setText(next)
    onChange(listFromLines(next))
  }
  const count = value === '' ? 0 : listOf(value).length
  const hint = operator.startsWith('flag_is') ? texts.variationsPerLine : texts.onePerLine(count)
  return (
    <TextField
      label={texts.values}
      isLabelHidden
      isMultiline
      value={text}
      onChange={change}
      hint={hint}
      error={error}
    />
  )
}

interface ChoicesProps extends FieldProps {
  readonly label: string
  readonly options: readonly Option[]
}

function Choices({ value, onChange, error, label, options }: ChoicesProps) {
  return (
    <ChoiceList
      label={label}
      options={options}
      chosen={value === '' ? [] : listOf(value)}
      onChange={(ids) => onChange(ids.length === 0 ? '' : JSON.stringify(ids))}
      error={error}
    />
  )
}

function Range({ value, onChange, error }: FieldProps) {
  const [low, high] = rangeOf(value)
  return (
    <div className={styles.range}>
      <TextField
        label={texts.low}
        inputMode="decimal"
        value={low}
        onChange={(text) => onChange(rangeFrom(text, high))}
      />
      <TextField
        label={texts.high}
        inputMode="decimal"
        value={high}
        onChange={(text) => onChange(rangeFrom(low, text))}
        error={error}
      />
    </div>
  )
}

function isShownAsTime(value: string): boolean {
  return value === '' || /^\d{4}-\d\d-\d\d[Tt].*([Zz]|[+-]\d\d:\d\d)$/.test(value)
}
