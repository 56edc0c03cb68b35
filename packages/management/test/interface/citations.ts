/** A requirement that a text names in brackets, as `[EVAL-3]`. */
export interface Citation {
  readonly id: string
  /** Whether it stands in the title of a test that runs. */
  readonly counts: boolean
}

const CITATION = /\[([A-Z]+-\d+)\]/g
/** What keeps a test from running, or from having to succeed. */
const NOT_RUN = /\.(?:skip|skipIf|runIf|todo|only|fails)\b|\bx(?:it|describe|test)\b/
const TEST = /(?:^|[^\w.])(?:it|test)$/

/**
 * The requirements that the text of a test file names. None counts in a file where something is
 * skipped, for it might be what is cited; and none that stands elsewhere than in a title.
 */
export function citationsIn(text: string): readonly Citation[] {
  const isWhole = !NOT_RUN.test(text)
  return [...text.matchAll(CITATION)].map((match) => {
    return { id: match[1] ?? '', counts: isWhole && isInTitle(text, match.index) }
  })
}

/** Whether a place lies in the text that is the first argument of `it` or `it.each(…)`. */
function isInTitle(text: string, place: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', place) + 1, place)
  const quote = line.search(/['"`]/)
  if (quote === -1) return false
  const before = text.slice(0, place - line.length + quote).trimEnd()
  return before.endsWith('(') && TEST.test(calleeOf(before.slice(0, -1).trimEnd()))
}

/** `it` of `it.each([…])`, whose end is the end of the text; the text itself if it is no call. */
function calleeOf(text: string): string {
  if (!text.endsWith(')')) return text
  let depth = 0
  for (let place = text.length - 1; place >= 0; place -= 1) {
    if (text[place] === ')') depth += 1
    if (text[place] === '(') depth -= 1
    if (depth === 0) return text.slice(0, place).replace(/\.(?:each|for)$/, '')
  }
  return text
}
