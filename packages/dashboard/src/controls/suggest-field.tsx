import { useId } from 'react'
import styles from '../components/field.module.css'

/** The properties of `SuggestField`. */
export interface SuggestFieldProps {
  readonly label: string
  readonly value: string
  readonly suggestions: readonly string[]
  readonly onChange: (text: string) => void
  /** Called when the field receives the focus: the suggestions are wanted. */
  readonly onFocus?: () => void
}

/** A short text field with suggestions by the browser. The placeholder shows the label. */
export function SuggestField(props: SuggestFieldProps) {
  const { label, value, suggestions, onChange, onFocus } = props
  const id = useId()
  return (
    <div className={styles.field}>
      <input
        className={styles.input}
        aria-label={label}
        placeholder={label}
        value={value}
        list={id}
        maxLength={64}
        onChange={(event) => onChange(event.target.value)}
        onFocus={onFocus}
      />
      <datalist id={id}>
        {suggestions.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </div>
  )
}
