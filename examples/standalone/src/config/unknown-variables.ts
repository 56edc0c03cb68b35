import { VARIABLES } from './variables.ts'

/** The part of a name that may differ from the suggested name. */
const MAX_DIFFERENCE = 0.4

/**
 * Returns a warning for each variable `FF_…` that the server does not read, with the nearest name
 * of a variable that it reads.
 */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const known = new Set<string>(VARIABLES)
  const unknown = Object.keys(env).filter((name) => name.startsWith('FF_') && !known.has(name))
  return unknown.sort().map((name) => {
    const nearest = nearestTo(name)
    const advice = nearest === undefined ? 'The server ignores it.' : `Did you mean ${nearest}?`
    return `${name} is not a known variable. ${advice}`
  })
}

function nearestTo(name: string): string | undefined {
  const own = withoutPrefix(name)
  let limit = own.length * MAX_DIFFERENCE
  let nearest: string | undefined
  for (const variable of VARIABLES) {
    const other = withoutPrefix(variable)
    // The distance is at least the difference of the lengths. The check keeps long names cheap.
    if (Math.abs(own.length - other.length) > limit) continue
    const distance = editDistance(own, other)
    if (distance > limit) continue
    limit = distance
    nearest = variable
  }
  return nearest
}

/** Removes the prefix, because `PORT` and `HOST` have none. */
function withoutPrefix(name: string): string {
  return name.replace(/^FF_/, '')
}

/** Returns the least number of characters to insert, delete or replace to turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1]
    for (let n = 1; n <= b.length; n += 1) {
      const replaced = (row[n - 1] ?? 0) + (letter === b[n - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[n] ?? 0) + 1, (next[n - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
