import type { ReactNode } from 'react'
import { Switch as AriaSwitch, type SwitchProps as AriaSwitchProps } from 'react-aria-components'
import styles from './field.module.css'

/** The properties of `Switch`. */
export interface SwitchProps extends Omit<AriaSwitchProps, 'className' | 'children' | 'style'> {
  readonly children?: ReactNode
}

/** A switch with its label. Without a visible label, it needs an `aria-label`. */
export function Switch({ children, ...rest }: SwitchProps) {
  return (
    <AriaSwitch {...rest} className={styles.check ?? ''}>
      <span className={styles.track} aria-hidden="true" />
      {children}
    </AriaSwitch>
  )
}
