import {
  NumberField as AriaNumberField,
  type NumberFieldProps as AriaNumberFieldProps,
  FieldError,
  Input,
  Label,
} from 'react-aria-components'
import styles from './field.module.css'

/** The properties of `NumberField`. */
export interface NumberFieldProps
  extends Omit<AriaNumberFieldProps, 'className' | 'children' | 'style'> {
  readonly label: string
  readonly error?: string | undefined
  readonly isLabelHidden?: boolean
}

/** A field for a number. The arrow keys change it by `step`. */
export function NumberField({ label, error, isLabelHidden, ...rest }: NumberFieldProps) {
  return (
    <AriaNumberField
      {...rest}
      className={styles.field ?? ''}
      {...(error === undefined ? {} : { isInvalid: true })}
    >
      <Label className={isLabelHidden ? 'visually-hidden' : styles.label}>{label}</Label>
      <Input className={styles.input ?? ''} />
      <FieldError className={styles.error ?? ''}>{error}</FieldError>
    </AriaNumberField>
  )
}
