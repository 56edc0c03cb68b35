import { Search } from 'lucide-react'
import { Button } from '../components/button.tsx'
import { keyWords } from '../keyboard/key-words.ts'
import { messages } from '../messages/messages.ts'
import styles from './command-bar-button.module.css'
import { COMMAND_BAR_KEYS } from './command-bar-host.tsx'

/** The button that opens the command bar, with its shortcut. */
export function CommandBarButton({ onPress }: { readonly onPress: () => void }) {
  return (
    <span className={styles.place}>
      <Button aria-haspopup="dialog" onPress={onPress}>
        <Search size={16} aria-hidden="true" />
        {messages.commandBar.button}
        <kbd className={styles.keys}>{keyWords(COMMAND_BAR_KEYS)}</kbd>
      </Button>
    </span>
  )
}
