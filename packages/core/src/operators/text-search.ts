import { PrefixTree } from './prefix-tree.ts'
import { SubstringAutomaton } from './substring-automaton.ts'

/** Whether one of the listed texts stands in a text, at the place that was asked for. */
export type TextSearch = (text: string) => boolean

/** So few texts, if they are short, are compared one by one, which is faster. */
const FEW = 4
const SHORT = 16

/** Prepares the search for a text of the list at the start of a text. */
export function searchStart(list: readonly string[]): TextSearch {
  if (list.length <= FEW) return (text) => list.some((each) => text.startsWith(each))
  const tree = new PrefixTree(list)
  return (text) => tree.isIn(text, 'start')
}

/** Prepares the search for a text of the list at the end of a text. */
export function searchEnd(list: readonly string[]): TextSearch {
  if (list.length <= FEW) return (text) => list.some((each) => text.endsWith(each))
  const tree = new PrefixTree(list.map(reversed))
  return (text) => tree.isIn(text, 'end')
}

/** Prepares the search for a text of the list anywhere in a text. */
export function searchAnywhere(list: readonly string[]): TextSearch {
  if (list.length <= FEW && list.every(({ length }) => length <= SHORT)) {
    return (text) => list.some((each) => text.includes(each))
  }
  const automaton = new SubstringAutomaton(new PrefixTree(list))
  return (text) => automaton.isIn(text)
}

/** In units, which may separate surrogates; both sides of a comparison are reversed alike. */
function reversed(text: string): string {
  let result = ''
  for (let at = text.length - 1; at >= 0; at -= 1) result += text.charAt(at)
  return result
}
