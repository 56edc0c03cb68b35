import { ChevronDown } from 'lucide-react'
import { useId, useState } from 'react'
import type { SelectProps } from '../popups/select-widget.tsx'
import { useWidget, Widget } from '../popups/widget.ts'
import styles from './field.module.css'

export type { Option, SelectProps } from '../popups/select-widget.tsx'

const widget = new Widget(async () => (await import('../popups/select-widget.tsx')).SelectWidget)

/** A select: a button that opens a list of options. Until the list is loaded, it is only the button. */
export function Select(props: SelectProps) {
  const { Component, load } = useWidget(widget)
  const [isFocused, setFocused] = useState(false)
  const [isWanted, setWanted] = useState(false)
  const open = () => {
    setWanted(true)
    load()
  }
  if (Component !== undefined) {
    return <Component {...props} hasFocus={isFocused} isOpenFirst={isWanted} />
  }
  return (
    <SelectButton
      {...props}
      onPress={open}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
      onHover={load}
    />
  )
}

interface SelectButtonProps extends SelectProps {
  readonly onPress: () => void
  readonly onFocus: () => void
  readonly onBlur: () => void
  readonly onHover: () => void
}

function SelectButton(props: SelectButtonProps) {
  const id = useId()
  const chosen = props.options.find((option) => option.id === props.value)
  return (
    <div className={styles.field}>
      <span id={`${id}-label`} className={props.isLabelHidden ? 'visually-hidden' : styles.label}>
        {props.label}
      </span>
      <button
        type="button"
        className={styles.trigger}
        aria-haspopup="listbox"
        aria-expanded="false"
        aria-labelledby={`${id}-value ${id}-label`}
        disabled={props.isDisabled ?? false}
        onClick={props.onPress}
        onFocus={props.onFocus}
        onBlur={props.onBlur}
        onPointerEnter={props.onHover}
      >
        <span id={`${id}-value`} className={styles.value}>
          {chosen?.name ?? props.placeholder}
        </span>
        <ChevronDown size={16} aria-hidden="true" />
      </button>
    </div>
  )
}
