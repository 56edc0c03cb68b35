/**
 * A version by semver 2.0. The numbers are kept as text, because they may be longer than any
 * number type can hold; having no leading zeros, they are equal when their texts are.
 */
export interface Semver {
  readonly major: string
  readonly minor: string
  readonly patch: string
  /** Dot-separated identifiers; empty: a release. */
  readonly prerelease: string
}

const NUMBER = '(?:0|[1-9]\\d*)'
const IDENTIFIER = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)'
const SEMVER = new RegExp(
  `^[vV]?(${NUMBER})(?:\\.(${NUMBER}))?(?:\\.(${NUMBER}))?` +
    `(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
)

/**
 * `1.2.3-beta.1+build`, also with a leading `v`, also with one or two numbers (the others are 0).
 * Undefined: not a version, such as one with leading zeros or with four numbers.
 */
export function parseSemver(text: string): Semver | undefined {
  const match = SEMVER.exec(text)
  if (match === null) return undefined
  const [, major = '0', minor = '0', patch = '0', prerelease = ''] = match
  return { major, minor, patch, prerelease }
}

/** Precedence by semver 2.0: negative when `a` comes before `b`, 0 when they are equal. */
export function compareSemver(a: Semver, b: Semver): number {
  return (
    compareNumbers(a.major, b.major) ||
    compareNumbers(a.minor, b.minor) ||
    compareNumbers(a.patch, b.patch) ||
    comparePrereleases(a.prerelease, b.prerelease)
  )
}

/** The same text for two versions exactly when their precedence is equal. */
export function semverKey({ major, minor, patch, prerelease }: Semver): string {
  return `${major}.${minor}.${patch}-${prerelease}`
}

function comparePrereleases(a: string, b: string): number {
  if (a === b) return 0
  if (a === '') return 1
  if (b === '') return -1
  const left = a.split('.')
  const right = b.split('.')
  for (const [index, identifier] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = compareIdentifiers(identifier, other)
    if (order !== 0) return order
  }
  return left.length - right.length
}

function compareIdentifiers(a: string, b: string): number {
  const isNumberA = isNumber(a)
  if (isNumberA !== isNumber(b)) return isNumberA ? -1 : 1
  return isNumberA ? compareNumbers(a, b) : compareTexts(a, b)
}

function isNumber(identifier: string): boolean {
  return /^\d+$/.test(identifier)
}

/** Decimal texts without leading zeros: the longer one is the greater one. */
function compareNumbers(a: string, b: string): number {
  return a.length - b.length || compareTexts(a, b)
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
