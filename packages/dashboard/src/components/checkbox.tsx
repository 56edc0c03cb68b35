import { Check, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import {
  Checkbox as AriaCheckbox,
  type CheckboxProps as AriaCheckboxProps,
} from 'react-aria-components'
import styles from './field.module.css'

/** The properties of `Checkbox`. */
export interface CheckboxProps extends Omit<AriaCheckboxProps, 'className' | 'children' | 'style'> {
  readonly children?: ReactNode
}

/** A checkbox with its label. Without a visible label, it needs an `aria-label`. */
export function Checkbox({ children, ...rest }: CheckboxProps) {
  return (
    <AriaCheckbox {...rest} className={styles.check ?? ''}>
      {({ isSelected, isIndeterminate }) => (
        <>
          <span className={styles.box} aria-hidden="true">
            {isIndeterminate ? <Minus size={14} /> : isSelected && <Check size={14} />}
          </span>
          {children}
        </>
      )}
    </AriaCheckbox>
  )
}
