import { type Fold, parseTexts, scalarTexts } from './comparison.ts'
import { readList, structureIn } from './equality-comparison.ts'
import { asWritten, inLowerCase } from './text-comparison.ts'

/** A search for listed texts, which has the same result as the test of a condition. */
export interface ListSearch {
  readonly kind: SearchKind
  /** The normalized texts. */
  readonly texts: readonly string[]
  /** The result of the test if none of the texts is found. Otherwise the result is the opposite. */
  readonly isTrueForOthers: boolean
}

/** The common properties of searches that one pass over a value can do together. */
export interface SearchKind {
  readonly name: string
  /** The place of listed texts in a text, or `element` for the elements of an array. */
  readonly place: 'start' | 'end' | 'anywhere' | 'element'
  /** Normalizes the text that is searched. */
  readonly fold: Fold
}

const ELEMENTS: SearchKind = { name: 'element', place: 'element', fold: asWritten }

/** The kinds of the operators that search text. */
const KINDS: ReadonlyMap<string, SearchKind> = new Map([
  ...kindsOf('contains', 'anywhere'),
  ...kindsOf('starts_with', 'start'),
  ...kindsOf('ends_with', 'end'),
])

function kindsOf(operator: string, place: SearchKind['place']): readonly [string, SearchKind][] {
  const written = { name: place, place, fold: asWritten }
  const folded = { name: `${place}, in lower case`, place, fold: inLowerCase }
  return [operator, `not_${operator}`].flatMap((name): [string, SearchKind][] => [
    [name, written],
    [`${name}_ci`, folded],
  ])
}

/** Returns the search of a valid condition. `undefined` if no search represents the condition. */
export function listSearchOf(operator: string, value: string): ListSearch | undefined {
  const kind = KINDS.get(operator)
  if (kind !== undefined) {
    const texts = (parseTexts(value) ?? []).map(kind.fold)
    // Every text contains the empty text.
    return texts.includes('') ? undefined : { kind, texts, isTrueForOthers: false }
  }
  if (operator !== 'array_contains_all' && operator !== 'array_contains_none') return undefined
  const literals = readList(value) ?? []
  // Arrays and objects are not texts.
  if (literals.some((literal) => structureIn(literal) !== undefined)) return undefined
  const texts = scalarTexts(literals)
  const isTrueForOthers = operator === 'array_contains_none'
  // An array must contain all elements of a list, but a search finds any of them.
  return isTrueForOthers || texts.length === 1
    ? { kind: ELEMENTS, texts, isTrueForOthers }
    : undefined
}
