/** The spelling of words that differ from their form in operation names and paths. */
const SPELLED: Readonly<Record<string, string>> = {
  sdk: 'SDK',
  oidc: 'OIDC',
  url: 'URL',
  envs: 'environments',
  stripe: 'Stripe',
}

/** Tags of paths that take precedence over the default tag of a path. The first match applies. */
const GROUPS: readonly (readonly [beginning: RegExp, tag: string])[] = [
  [/^\/auth\//, 'Log-in'],
  [/^\/audit\//, 'Audit'],
  [/^\/billing\//, 'Billing'],
  [/^\/contexts\//, 'Observed contexts'],
  [/\/organizations\/\{\w+\}\/(plan|usage)$/, 'Plans'],
  [/\/segments\//, 'Segments'],
  [/\/flag-summaries$/, 'Flags'],
  [/\/versions\//, 'Versions'],
]

/** Returns the summary of an operation: `rotateSdkKey` becomes `Rotate SDK key`. */
export function titleOf(operation: string): string {
  const words = operation.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return sentence(words.replace(/ log in$/, ' log-in').split(' '))
}

/** Returns the tag of a path, by default its last collection, such as `Targeting rules`. */
export function tagOf(path: string): string {
  const group = GROUPS.find(([beginning]) => beginning.test(path))
  if (group !== undefined) return group[1]
  const segments = path.split('/').slice(1)
  const isCollection = (segment: string, index: number) =>
    !segment.startsWith('{') && (segments[index + 1]?.startsWith('{') || segment.endsWith('s'))
  const collection = segments.filter(isCollection).at(-1) ?? segments[0] ?? ''
  return sentence(collection.split('-'))
}

function sentence(words: readonly string[]): string {
  const text = words.map((word) => SPELLED[word] ?? word).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
