import { ChevronDown } from 'lucide-react'
import {
  ComboBox as AriaComboBox,
  Button,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
} from 'react-aria-components'
import styles from './field.module.css'
import type { Option } from './select.tsx'

/** The properties of `ComboBox`. */
export interface ComboBoxProps {
  readonly label: string
  readonly options: readonly Option[]
  /** The text of the input. */
  readonly value: string
  readonly onChange: (text: string) => void
  /** Called with the id of a chosen option. */
  readonly onChoose?: (id: string) => void
  readonly error?: string | undefined
  readonly isLabelHidden?: boolean
  readonly allowsOther?: boolean
  readonly placeholder?: string
  /** The id of the chosen option, whose name the input has again when the focus leaves it. */
  readonly chosen?: string
}

/** A text field with a list of options that match the text. */
export function ComboBox(props: ComboBoxProps) {
  const { label, options, value, onChange, onChoose, error, allowsOther = false } = props
  return (
    <AriaComboBox
      className={styles.field ?? ''}
      defaultItems={options}
      inputValue={value}
      onInputChange={onChange}
      onChange={(key) => key !== null && onChoose?.(String(key))}
      allowsCustomValue={allowsOther}
      isInvalid={error !== undefined}
      {...(props.chosen === undefined ? {} : { value: props.chosen })}
    >
      <Label className={props.isLabelHidden ? 'visually-hidden' : styles.label}>{label}</Label>
      <div className={styles.row}>
        <Input className={styles.input ?? ''} placeholder={props.placeholder ?? ''} />
        <Button className={styles.trigger ?? ''}>
          <ChevronDown size={16} aria-hidden="true" />
        </Button>
      </div>
      <FieldError className={styles.error ?? ''}>{error}</FieldError>
      <Popover className={styles.popover ?? ''}>
        <ListBox<Option> className={styles.list ?? ''}>
          {({ id, name }) => (
            <ListBoxItem id={id} textValue={name} className={styles.option ?? ''}>
              {name}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  )
}
