import type { FlagView } from '@ff/protocol/management'
import { formatJson } from '@ff/protocol/management'
import { Button } from '../../../components/button.tsx'
import { Select } from '../../../components/select.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { fields as texts } from '../../../messages/en/fields.ts'
import styles from '../fields/fields.module.css'

const { variations: words } = texts
const BOOLEANS = [
  { id: 'true', name: words.isTrue },
  { id: 'false', name: words.isFalse },
]

/** The properties of `VariationValue`. */
export interface VariationValueProps {
  readonly type: FlagView['type']
  readonly value: string
  readonly isReadOnly: boolean
  readonly onChange: (value: string) => void
  readonly fault: string | undefined
}

/** The field for the value of a variation, by the type of the flag. */
export function VariationValue(props: VariationValueProps) {
  const { type, value, isReadOnly, onChange, fault } = props
  if (type === 'boolean') {
    return (
      <Select
        label={words.value}
        options={BOOLEANS}
        value={value}
        isDisabled={isReadOnly}
        onChange={onChange}
      />
    )
  }
  const isJson = type === 'json'
  return (
    <>
      <TextField
        label={words.value}
        isMultiline={isJson || (type === 'string' && (value.length > 80 || value.includes('\n')))}
        isMonospace={isJson}
        inputMode={type === 'number' ? 'decimal' : 'text'}
        value={value}
        isReadOnly={isReadOnly}
        onChange={onChange}
        error={fault}
      />
      {isJson && !isReadOnly && (
        <div className={styles.start}>
          <Button onPress={() => onChange(formatJson(value))}>{words.format}</Button>
        </div>
      )}
    </>
  )
}
