import { PrefixTree, prefixFree } from './prefix-tree.ts'
import { SubstringAutomaton } from './substring-automaton.ts'

/** Returns `true` if one of the listed texts is found in a text. */
export type TextSearch = (text: string) => boolean

/** The number of texts up to which comparing them one by one is faster than a prefix tree. */
const FEW = 4
/** The length up to which `FEW` texts are searched one by one, in UTF-16 units. */
const SHORT = 16

/** Creates a search for any text of the list at the start of a text. */
export function searchStart(list: readonly string[]): TextSearch {
  if (list.length <= FEW) return (text) => list.some((each) => text.startsWith(each))
  const tree = new PrefixTree(prefixFree(list))
  return (text) => tree.isIn(text, 'start')
}

/** Creates a search for any text of the list at the end of a text. */
export function searchEnd(list: readonly string[]): TextSearch {
  if (list.length <= FEW) return (text) => list.some((each) => text.endsWith(each))
  const tree = new PrefixTree(prefixFree(list.map(reversed)))
  return (text) => tree.isIn(text, 'end')
}

/** Creates a search for any text of the list at any position in a text. */
export function searchAnywhere(list: readonly string[]): TextSearch {
  if (list.length <= FEW && list.every(({ length }) => length <= SHORT)) {
    return (text) => list.some((each) => text.includes(each))
  }
  const automaton = new SubstringAutomaton(new PrefixTree(prefixFree(list)))
  return (text) => automaton.isIn(text)
}

/**
 * Returns the text with its UTF-16 units in reverse order. Split surrogate pairs do no harm,
 * because the searched text is also read in reverse order.
 */
export function reversed(text: string): string {
  let result = ''
  for (let at = text.length - 1; at >= 0; at -= 1) result += text.charAt(at)
  return result
}
