import { formatJson } from '@ff/protocol/management'
import { Button } from '../components/button.tsx'
import styles from '../components/field.module.css'
import { TextField } from '../components/text-field.tsx'
import { messages } from '../messages/messages.ts'
import { checkJson } from './json-fault.ts'

const json = messages.newFlag.json

/** The properties of `JsonField`. */
export interface JsonFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  /** Another fault of the value, such as that of the server. */
  readonly error?: string | undefined
}

/** A text area for JSON, with the place of a fault and a button that formats the text. */
export function JsonField({ label, value, onChange, error }: JsonFieldProps) {
  const check = checkJson(value)
  const format = () => onChange(formatJson(value))
  return (
    <div className={styles.field}>
      <TextField
        label={label}
        value={value}
        onChange={onChange}
        error={jsonFault(value) ?? error}
        spellCheck="false"
        isMonospace
        isMultiline
      />
      <div>
        <Button variant="ghost" onPress={format} isDisabled={!check.isValid}>
          {json.format}
        </Button>
      </div>
    </div>
  )
}

/** Returns the fault of JSON text in words; `undefined` if there is none. */
export function jsonFault(text: string): string | undefined {
  const check = checkJson(text)
  if (check.isValid) return undefined
  return json.invalidAt(check.place.line, check.place.column)
}
