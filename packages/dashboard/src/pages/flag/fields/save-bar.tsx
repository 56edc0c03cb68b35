import { Button } from '../../../components/button.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { fields as texts } from '../../../messages/en/fields.ts'
import { useBottomBar } from '../../../publishing/use-bottom-bar.ts'
import { useMay } from '../../../session/use-session.ts'
import styles from './fields.module.css'
import type { FlagFieldsHandle, SaveFailure } from './use-flag-fields.ts'

/** The properties of `SaveBar`. */
export interface SaveBarProps {
  readonly fields: FlagFieldsHandle
  /** Why the draft cannot be saved yet. */
  readonly fault?: string | undefined
}

/** What a save does, and the button that saves. Nothing without changes. */
export function SaveBar({ fields, fault }: SaveBarProps) {
  const { steps, failure, isSaving, save, discard } = fields
  const may = useMay('flags.write')
  const own = fields.issues.length === 0 ? undefined : texts.faultySettings
  const element = useBottomBar()
  if (steps.length === 0 && failure === undefined) return null
  return (
    <section ref={element} className={styles.bar} aria-label={texts.bar}>
      {failure !== undefined && <Failure failure={failure} />}
      {steps.length > 0 && (
        <>
          <Overwritten fields={fields} />
          <p>{texts.summary(steps.length)}</p>
          <ol className={styles.steps}>
            {steps.map(({ words }) => (
              <li key={words}>{words}</li>
            ))}
          </ol>
          <p className={styles.hint}>{texts.everywhere}</p>
          <div className={styles.buttons}>
            <Button onPress={discard}>{texts.discard}</Button>
            <Button
              variant="primary"
              isPending={isSaving}
              onPress={save}
              disabledReason={may.reason ?? fault ?? own}
            >
              {texts.save}
            </Button>
          </div>
        </>
      )}
    </section>
  )
}

/** The values that were changed elsewhere, which a save replaces. */
function Overwritten({ fields }: Pick<SaveBarProps, 'fields'>) {
  const { settings, variations } = fields.overwritten
  if (settings.length + variations.length === 0) return null
  return <p role="alert">{texts.overwritten(settings, variations)}</p>
}

function Failure({ failure }: { readonly failure: SaveFailure }) {
  const { saved, failed, error, notSaved } = failure
  const title = failed === '' ? texts.savedNotLoaded : texts.failed(failed)
  return (
    <>
      <ErrorState title={title} error={error} />
      {saved.length > 0 && <p>{texts.saved(saved)}</p>}
      {notSaved.length > 0 && <p>{texts.notSaved(notSaved)}</p>}
    </>
  )
}
