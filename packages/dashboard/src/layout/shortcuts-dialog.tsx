import { use, useState } from 'react'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Switch } from '../components/switch.tsx'
import { keyWords } from '../keyboard/key-words.ts'
import { rememberShortcuts } from '../keyboard/keyboard-setting.ts'
import { KeyboardContext } from '../keyboard/use-shortcuts.ts'
import { messages } from '../messages/messages.ts'
import styles from './layout.module.css'

/** The list of all shortcuts, with the switch that disables them. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const keyboard = use(KeyboardContext)
  const [isEnabled, setEnabled] = useState(keyboard.isEnabled)
  const shell = messages.shell
  const enable = (value: boolean) => {
    keyboard.isEnabled = value
    rememberShortcuts(value)
    setEnabled(value)
  }
  return (
    <Dialog
      title={shell.keyboardShortcuts}
      isOpen
      onClose={onClose}
      actions={<Button onPress={onClose}>{shell.close}</Button>}
    >
      <Switch isSelected={isEnabled} onChange={enable}>
        {shell.shortcutsEnabled}
      </Switch>
      <dl className={styles.shortcuts}>
        {keyboard.shortcuts.map(({ keys, name }) => (
          <div key={keys.join(' ')} className={styles.shortcut}>
            <dt>
              <kbd>{keyWords(keys)}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
