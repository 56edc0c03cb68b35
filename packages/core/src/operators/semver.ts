/**
 * A semantic version (SemVer 2.0). The numbers are text without leading zeros, because SemVer does
 * not limit their size.
 */
export interface Semver {
  readonly major: string
  readonly minor: string
  readonly patch: string
  /** The dot-separated identifiers of a pre-release. Empty for a release. */
  readonly prerelease: string
}

const NUMBER = '(?:0|[1-9]\\d*)'
const IDENTIFIER = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)'
const SEMVER = new RegExp(
  `^[vV]?(${NUMBER})(?:\\.(${NUMBER}))?(?:\\.(${NUMBER}))?` +
    `(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
)

/**
 * Parses a version such as `1.2.3-beta.1+build`. A leading `v` is allowed. The minor and patch
 * numbers are optional, and 0 by default. Returns `undefined` for any other text, including
 * versions with leading zeros or four numbers.
 */
export function parseSemver(text: string): Semver | undefined {
  const match = SEMVER.exec(text)
  if (match === null) return undefined
  const [, major = '0', minor = '0', patch = '0', prerelease = ''] = match
  return { major, minor, patch, prerelease }
}

/**
 * Compares two versions by their SemVer 2.0 precedence. Returns a negative number if `a` precedes
 * `b`, 0 if they are equal, and a positive number otherwise.
 */
export function compareSemver(a: Semver, b: Semver): number {
  return (
    compareNumbers(a.major, b.major) ||
    compareNumbers(a.minor, b.minor) ||
    compareNumbers(a.patch, b.patch) ||
    comparePrereleases(a.prerelease, b.prerelease)
  )
}

/** Returns a text that is equal for two versions if and only if their precedence is equal. */
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

/** Compares decimal texts without leading zeros. A longer text is a greater number. */
function compareNumbers(a: string, b: string): number {
  return a.length - b.length || compareTexts(a, b)
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
