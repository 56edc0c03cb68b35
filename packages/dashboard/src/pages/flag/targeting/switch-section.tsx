import { Redo2, Undo2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../../components/button.tsx'
import { SentenceText } from '../../../components/text/sentence-text.tsx'
import type { Configuration } from '../../../draft/configuration.ts'
import { stateSentence } from '../../../draft/sentence.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import type { FlagDraftHandle } from '../../../user-drafts/flag-draft-handle.ts'
import { useEditing } from '../editing/editing.ts'
import { Section } from './section.tsx'
import { OffVariation } from './serving-section.tsx'
import styles from './targeting.module.css'

/** The properties of `SwitchSection`. */
export interface SwitchSectionProps {
  /** The switch, which takes effect at once. */
  readonly flagSwitch: ReactNode
}

/** The switch of a flag with its published state, and what a draft does to it. */
export function SwitchSection({ flagSwitch }: SwitchSectionProps) {
  const { handle, names } = useEditing()
  const { isActive } = handle.draft.current.state
  return (
    <Section title={targeting.switchTitle} action={<UndoButtons handle={handle} />}>
      <div className={styles.line}>
        {flagSwitch}
        <SentenceText sentence={stateSentence(withDefault(handle), names)} />
      </div>
      {isActive !== handle.draft.base.state.isActive && (
        <p className={styles.muted}>{targeting.draftSwitches(isActive)}</p>
      )}
      <OffVariation />
    </Section>
  )
}

/**
 * Returns the configuration with the published state of the switch, which a draft does not change,
 * and with the default variation of the flag if it has none of its own.
 */
function withDefault({ flag, draft: { base, current } }: FlagDraftHandle): Configuration {
  const { defaultVariationId } = current.state
  const { isActive } = base.state
  const own = flag.variations.find(({ isDefault }) => isDefault)?.id ?? null
  return {
    ...current,
    state: { ...current.state, isActive, defaultVariationId: defaultVariationId ?? own },
  }
}

function UndoButtons({ handle }: { readonly handle: FlagDraftHandle }) {
  const { past, future } = handle.draft
  if (past.length === 0 && future.length === 0) return null
  return (
    <>
      <Button
        variant="ghost"
        aria-label={targeting.undo}
        isDisabled={past.length === 0}
        onPress={() => handle.dispatch({ type: 'undo' })}
      >
        <Undo2 size={16} aria-hidden="true" />
      </Button>
      <Button
        variant="ghost"
        aria-label={targeting.redo}
        isDisabled={future.length === 0}
        onPress={() => handle.dispatch({ type: 'redo' })}
      >
        <Redo2 size={16} aria-hidden="true" />
      </Button>
    </>
  )
}
