/** Words that are written in another way than they are spelled in names. */
const SPELLED: Readonly<Record<string, string>> = {
  sdk: 'SDK',
  oidc: 'OIDC',
  url: 'URL',
  envs: 'environments',
}

/** Which group the operations of a path belong to, where its last collection does not say it well. */
const GROUPS: readonly (readonly [beginning: RegExp, tag: string])[] = [
  [/^\/auth\//, 'People'],
  [/^\/audit\//, 'Audit'],
  [/^\/billing\//, 'Billing'],
  [/^\/contexts\//, 'Observed contexts'],
  [/\/organizations\/\{\w+\}\/(plan|usage)$/, 'Plans'],
  [/\/segments\//, 'Segments'],
  [/\/versions\//, 'Versions'],
]

/** `rotateSdkKey` → `Rotate SDK key`. */
export function titleOf(operation: string): string {
  return sentence(operation.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' '))
}

/** The group of a path: what it is a collection of, such as `Targeting rules`. */
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
