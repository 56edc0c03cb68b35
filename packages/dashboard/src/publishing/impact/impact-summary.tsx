import type { Preview } from '@ff/protocol/management'
import { messages } from '../../messages/messages.ts'
import styles from './impact.module.css'
import { mainImpact, type ScaledImpact } from './impact-numbers.ts'
import type { PreviewState } from './use-preview.ts'

const { impact } = messages.publishing

/** The numbers of a preview in words. Screen readers read the first sentence when it changes. */
export function ImpactSummary({ state: { preview, isStale } }: { readonly state: PreviewState }) {
  return (
    <div className={styles.summary}>
      <p className={styles.main} aria-live="polite" aria-atomic="true" aria-busy={isStale}>
        {preview === undefined ? (
          <span className={styles.muted}>{impact.loading}</span>
        ) : (
          <MainSentence preview={preview} />
        )}
      </p>
      {preview !== undefined && <Notes preview={preview} />}
    </div>
  )
}

function MainSentence({ preview }: { readonly preview: Preview }) {
  const main = mainImpact(preview)
  if (main === undefined) return impact.noContexts
  const { changed, evaluated, share } = main
  return (
    <>
      <strong>{impact.of(changed, evaluated)}</strong> {impact.change(evaluated, share)}
    </>
  )
}

function Notes({ preview }: { readonly preview: Preview }) {
  const main = mainImpact(preview)
  const [first] = preview.flags
  const reasonOnly = first?.reasonOnly ?? 0
  const { evaluated, inWindow } = preview.contexts
  return (
    <div className={styles.notes}>
      {main !== undefined && main.scaled !== null && (
        <p>
          {aboutAll(main.scaled)} {impact.sample(evaluated, inWindow)}
        </p>
      )}
      {main?.changed === 0 && main.undetermined === 0 && <p>{impact.nothingChanges}</p>}
      {reasonOnly > 0 && <p>{impact.reasonOnly(reasonOnly)}</p>}
      {!preview.complete && <p className={styles.warning}>{impact.incomplete}</p>}
    </div>
  )
}

function aboutAll({ estimate, low, high }: ScaledImpact): string {
  return impact.about(estimate, low, high)
}
