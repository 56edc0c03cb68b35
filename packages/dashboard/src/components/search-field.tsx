import { X } from 'lucide-react'
import { SearchField as AriaSearchField, Button, Input, Label } from 'react-aria-components'
import { messages } from '../messages/messages.ts'
import styles from './field.module.css'

/** The properties of `SearchField`. */
export interface SearchFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder?: string
  /** The id of the input, for a keyboard shortcut. */
  readonly id?: string
}

/** A search field with a button that clears it. Escape also clears it. */
export function SearchField({ label, placeholder, id, ...rest }: SearchFieldProps) {
  return (
    <AriaSearchField {...rest} className={styles.field ?? ''} {...(id === undefined ? {} : { id })}>
      {({ isEmpty }) => (
        <>
          <Label className="visually-hidden">{label}</Label>
          <div className={styles.row}>
            <Input className={styles.input ?? ''} placeholder={placeholder ?? label} />
            {!isEmpty && (
              <Button className={styles.trigger ?? ''} aria-label={messages.components.clear}>
                <X size={16} aria-hidden="true" />
              </Button>
            )}
          </div>
        </>
      )}
    </AriaSearchField>
  )
}
