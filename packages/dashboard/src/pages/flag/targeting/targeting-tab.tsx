import { useEffect, useState } from 'react'
import type { Shortcut } from '../../../keyboard/keyboard.ts'
import { useShortcuts } from '../../../keyboard/use-shortcuts.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import type { FlagDraftHandle } from '../../../user-drafts/flag-draft-handle.ts'
import { useEditing } from '../editing/editing.ts'
import { PrerequisitesSection } from './prerequisites-section.tsx'
import { LAST_RULE, RulesSection } from './rules-section.tsx'
import { DefaultRule } from './serving-section.tsx'
import { SwitchSection, type SwitchSectionProps } from './switch-section.tsx'
import styles from './targeting.module.css'
import { TargetsSection } from './targets-section.tsx'

/** The targeting of a flag in one environment: everything that a draft contains. */
export function TargetingTab({ flagSwitch }: SwitchSectionProps) {
  const { handle } = useEditing()
  useUndoKeys(handle)
  const [openRule, setOpenRule] = useState<string>()
  return (
    <div className={styles.targeting}>
      <SwitchSection flagSwitch={flagSwitch} />
      <PrerequisitesSection />
      <TargetsSection />
      <RulesSection openId={openRule} onOpen={setOpenRule} />
      <DefaultRule onRuleAdded={() => setOpenRule(LAST_RULE)} />
    </div>
  )
}

const UNDO_SHORTCUTS = [
  { keys: ['mod+z'], name: targeting.undoShortcut },
] as const satisfies readonly Shortcut[]

/** Undoes and redoes with Ctrl/⌘ Z, except in dialogs, whose fields are not part of the draft yet. */
function useUndoKeys(handle: FlagDraftHandle): void {
  useShortcuts(UNDO_SHORTCUTS)
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
