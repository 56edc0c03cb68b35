/** A reference to a requirement in brackets, such as `[EVAL-3]`. */
export interface Citation {
  readonly id: string
  /** `true` if the citation is in the title of a test that runs. */
  readonly counts: boolean
}

const CITATION = /\[([A-Z]+-\d+)\]/g
/** Matches calls that prevent a test from running or from failing. */
const NOT_RUN = /\.(?:skip|skipIf|runIf|todo|only|fails)\b|\bx(?:it|describe|test)\b/
const TEST = /(?:^|[^\w.])(?:it|test)$/

/**
 * Returns the citations in the text of a test file. A citation counts only in the title of a test.
 * If any test of the file is skipped, no citation counts, because the skipped test could be the
 * cited one.
 */
export function citationsIn(text: string): readonly Citation[] {
  const isWhole = !NOT_RUN.test(text)
  return [...text.matchAll(CITATION)].map((match) => {
    return { id: match[1] ?? '', counts: isWhole && isInTitle(text, match.index) }
  })
}

/** Returns `true` if a position is in the first argument of `it` or `it.each(…)`. */
function isInTitle(text: string, place: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', place) + 1, place)
  const quote = line.search(/['"`]/)
  if (quote === -1) return false
  const before = text.slice(0, place - line.length + quote).trimEnd()
  return before.endsWith('(') && TEST.test(calleeOf(before.slice(0, -1).trimEnd()))
}

/** Removes a trailing `.each(…)` or `.for(…)` call from a text, so that `it` remains. */
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
