import { Button } from '../../../components/button.tsx'
import { type ConfigurationField, isFieldChanged } from '../../../draft/flag-draft.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import styles from './changed-mark.module.css'
import { useEditing } from './editing.ts'

/** The properties of `ChangedMark`. */
export interface ChangedMarkProps {
  readonly fields: readonly ConfigurationField[]
  /** The name of the field, for the label of the button. */
  readonly name: string
}

/** A dot beside a changed field, and a button that resets it. Nothing if the field is unchanged. */
export function ChangedMark({ fields, name }: ChangedMarkProps) {
  const { handle } = useEditing()
  const changed = fields.filter((field) => isFieldChanged(handle.draft, field))
  if (changed.length === 0) return null
  const reset = () => {
    for (const field of changed) handle.dispatch({ type: 'resetField', field })
  }
  return (
    <span className={styles.changed}>
      <ChangedDot />
      <Button variant="ghost" aria-label={targeting.resetField(name)} onPress={reset}>
        {targeting.reset}
      </Button>
    </span>
  )
}

/** A dot that marks something with unpublished changes. */
export function ChangedDot() {
  return (
    <>
      <span className={styles.dot} aria-hidden="true" />
      <span className="visually-hidden">{targeting.changed}</span>
    </>
  )
}
