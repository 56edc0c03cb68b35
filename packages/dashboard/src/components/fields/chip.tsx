import { X } from 'lucide-react'
import { Button } from '../button.tsx'
import styles from './chip.module.css'

/** The properties of `Chip`. */
export interface ChipProps {
  readonly name: string
  /** Says what the button of the chip removes. */
  readonly removeLabel: string
  /** Without it, the chip has no button. */
  readonly onRemove?: (() => void) | undefined
}

/** One element of a list, with a button that removes it. */
export function Chip({ name, removeLabel, onRemove }: ChipProps) {
  return (
    <span className={styles.chip}>
      <bdi className={styles.name}>{name}</bdi>
      {onRemove !== undefined && (
        <Button variant="ghost" aria-label={removeLabel} onPress={onRemove}>
          <X size={14} aria-hidden="true" />
        </Button>
      )}
    </span>
  )
}
