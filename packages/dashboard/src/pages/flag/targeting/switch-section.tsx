import type { ReactNode } from 'react'
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
    <Section title={targeting.switchTitle}>
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
