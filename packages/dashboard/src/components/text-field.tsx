import type { ReactNode } from 'react'
import {
  TextArea as AriaTextArea,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  Text,
} from 'react-aria-components'
import { classNames } from '../style/class-names.ts'
import styles from './field.module.css'

/** The properties of `TextField`. */
export interface TextFieldProps
  extends Omit<AriaTextFieldProps, 'className' | 'children' | 'style'> {
  readonly label: string
  readonly hint?: string | undefined
  /** The fault of the value; the field is then marked as not valid. */
  readonly error?: string | undefined
  readonly placeholder?: string
  readonly isMonospace?: boolean
  readonly isLabelHidden?: boolean
  /** Makes the field a text area. */
  readonly isMultiline?: boolean
  /** A control after the input, such as a button. */
  readonly after?: ReactNode
}

/** A text field with its label, hint and fault. */
export function TextField(props: TextFieldProps) {
  const { label, hint, error, placeholder, isMonospace, isLabelHidden, ...others } = props
  const { isMultiline, after, onKeyDown, ...rest } = others
  const input = {
    className: classNames(styles.input, isMonospace && styles.mono),
    ...(placeholder === undefined ? {} : { placeholder }),
  }
  return (
    <AriaTextField
      {...rest}
      className={styles.field ?? ''}
      {...(onKeyDown === undefined ? {} : { onKeyDown: passingOn(onKeyDown) })}
      // With `native`, the browser would refuse to submit the form again while a fault is shown.
      {...(error === undefined ? {} : { isInvalid: true, validationBehavior: 'aria' })}
    >
      <Label className={isLabelHidden ? 'visually-hidden' : styles.label}>{label}</Label>
      <div className={styles.row}>
        {isMultiline ? <AriaTextArea {...input} /> : <Input {...input} />}
        {after}
      </div>
      {hint !== undefined && (
        <Text slot="description" className={styles.hint ?? ''}>
          {hint}
        </Text>
      )}
      <FieldError className={styles.error ?? ''}>
        {error ?? (({ validationErrors }) => validationErrors.join(' '))}
      </FieldError>
    </AriaTextField>
  )
}

type KeyListener = NonNullable<TextFieldProps['onKeyDown']>

/**
 * Returns a listener that passes on the keys that it does not handle, such as Escape in a dialog.
 * React Aria stops every key for which a field has a listener.
 */
function passingOn(listener: KeyListener): KeyListener {
  return (event) => {
    listener(event)
    if (!event.isDefaultPrevented()) event.continuePropagation()
  }
}
