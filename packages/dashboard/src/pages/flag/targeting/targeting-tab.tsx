import { Redo2, Undo2 } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Button } from '../../../components/button.tsx'
import { SentenceText } from '../../../components/text/sentence-text.tsx'
import type { Configuration } from '../../../draft/configuration.ts'
import { stateSentence } from '../../../draft/sentence.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import type { FlagDraftHandle } from '../../../user-drafts/flag-draft-handle.ts'
import { useEditing } from '../editing/editing.ts'
import { PrerequisitesSection } from './prerequisites-section.tsx'
import { RulesSection } from './rules-section.tsx'
import { Section } from './section.tsx'
import { DefaultRule, OffVariation } from './serving-section.tsx'
import styles from './targeting.module.css'
import { TargetsSection } from './targets-section.tsx'

/** The properties of `TargetingTab`. */
export interface TargetingTabProps {
  /** The switch, which takes effect at once. */
  readonly flagSwitch: ReactNode
}

/** The targeting of a flag in one environment: everything that a draft contains. */
export function TargetingTab({ flagSwitch }: TargetingTabProps) {
  const { handle, names } = useEditing()
  useUndoKeys(handle)
  return (
    <div className={styles.targeting}>
      <Section title={targeting.switchTitle} action={<UndoButtons handle={handle} />}>
        <div className={styles.line}>
          {flagSwitch}
          <SentenceText sentence={stateSentence(withDefault(handle), names)} />
        </div>
        <OffVariation />
      </Section>
      <PrerequisitesSection />
      <TargetsSection />
      <RulesSection />
      <DefaultRule />
    </div>
  )
}

/** Returns the configuration with the default variation of the flag, if it has none of its own. */
function withDefault({ flag, draft: { current } }: FlagDraftHandle): Configuration {
  const { defaultVariationId } = current.state
  const own = flag.variations.find(({ isDefault }) => isDefault)?.id ?? null
  return {
    ...current,
    state: { ...current.state, defaultVariationId: defaultVariationId ?? own },
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

/** Undoes and redoes with Ctrl/⌘ Z, except in dialogs, whose fields are not part of the draft yet. */
function useUndoKeys(handle: FlagDraftHandle): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return
      if (event.key.toLowerCase() !== 'z') return
      const isInDialog = (event.target as Element).closest('[role=dialog], [role=alertdialog]')
      if (isInDialog !== null) return
      event.preventDefault()
      handle.dispatch({ type: event.shiftKey ? 'redo' : 'undo' })
    }
    // The list of rules stops keys on their way up.
    document.addEventListener('keydown', press, true)
    return () => document.removeEventListener('keydown', press, true)
  }, [handle])
}
