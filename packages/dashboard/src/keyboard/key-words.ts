import { messages } from '../messages/messages.ts'
import type { Shortcut } from './keyboard.ts'

/** Returns the names of the keys of a shortcut, as they are on the keyboard of this device. */
export function keyWords(keys: Shortcut['keys']): string {
  return keys
    .map((key) => key.replace(/^mod\+(.*)$/, (_, letter) => withModifier(letter)))
    .join(' ')
}

function withModifier(letter: string): string {
  const { control, command } = messages.shell
  return `${isMac() ? command : control} ${letter.toUpperCase()}`
}

function isMac(): boolean {
  return /^(Mac|iPhone|iPad)/.test(navigator.platform)
}
