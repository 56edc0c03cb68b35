import { ChevronDown } from 'lucide-react'
import { useEffect, useState } from 'react'
import {
  Select as AriaSelect,
  Button,
  type Key,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
} from 'react-aria-components'
import styles from '../components/field.module.css'

/** One option of a select or a menu. */
export interface Option {
  readonly id: string
  readonly name: string
}

/** The properties of `Select`. */
export interface SelectProps {
  readonly label: string
  readonly options: readonly Option[]
  readonly value: string | null
  readonly onChange: (id: string) => void
  readonly isLabelHidden?: boolean
  readonly isDisabled?: boolean
  readonly placeholder?: string
}

/** The properties of `SelectWidget`. */
export interface SelectWidgetProps extends SelectProps {
  /** Focuses the button at first. */
  readonly hasFocus: boolean
  /** Opens the list at first. */
  readonly isOpenFirst: boolean
}

/** The button and the list of a `Select`. */
export function SelectWidget(props: SelectWidgetProps) {
  const [isOpen, setOpen] = useState(false)
  const { isOpenFirst } = props
  // The list opens after the button has the focus, so that the focus can return to it.
  useEffect(() => {
    if (isOpenFirst) setOpen(true)
  }, [isOpenFirst])
  const choose = (key: Key | null) => key !== null && props.onChange(String(key))
  return (
    <AriaSelect
      className={styles.field ?? ''}
      value={props.value}
      onChange={choose}
      isOpen={isOpen}
      onOpenChange={setOpen}
      isDisabled={props.isDisabled ?? false}
      autoFocus={props.hasFocus || isOpenFirst}
      {...(props.placeholder === undefined ? {} : { placeholder: props.placeholder })}
    >
      <Label className={props.isLabelHidden ? 'visually-hidden' : styles.label}>
        {props.label}
      </Label>
      <Button className={styles.trigger ?? ''}>
        <SelectValue className={styles.value ?? ''} />
        <ChevronDown size={16} aria-hidden="true" />
      </Button>
      <Popover className={styles.popover ?? ''}>
        <ListBox className={styles.list ?? ''} items={props.options}>
          {({ id, name }) => (
            <ListBoxItem id={id} textValue={name} className={styles.option ?? ''}>
              {name}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  )
}
