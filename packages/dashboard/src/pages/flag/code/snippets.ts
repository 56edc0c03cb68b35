import type { Environment, FlagView } from '@ff/protocol/management'

/** A piece of code that uses a flag. */
export interface Snippet {
  readonly id: 'client' | 'inProcess' | 'curl'
  readonly code: string
}

// The rule for imports between packages also reads the texts of these snippets.
const PACKAGES = {
  client: '@ff/client',
  types: '@ff/core/flag-types',
  server: '@ff/server',
  sqlite: '@ff/storage/sqlite',
} as const

/** Where a flag is read. */
export interface SnippetPlace {
  readonly projectKey: string
  readonly environment: Environment
  /** The address of the server. */
  readonly url: string
}

/** Returns code that reads a flag in an environment, with the keys of both. */
export function snippetsOf(
  flag: FlagView,
  { projectKey, environment, url }: SnippetPlace,
): readonly Snippet[] {
  const parts = { key: literal(flag.key), ...typeOf(flag) }
  const place = `{ project: ${literal(projectKey)}, environment: ${literal(environment.key)} }`
  return [
    { id: 'client', code: clientCode(parts, { url, sdkKey: 'ff_…' }) },
    { id: 'inProcess', code: inProcessCode(parts, place) },
    { id: 'curl', code: curlCode(url) },
  ]
}

/** What a client needs to reach a server. */
export interface Connection {
  /** The address of the server. */
  readonly url: string
  readonly sdkKey: string
}

/** The command that installs what `connectionCode` imports. */
export const INSTALL_COMMAND = 'npm install @ff/client @ff/core'

/** Returns code for Node that connects to a server with an SDK key, and reads an example flag. */
export function connectionCode(connection: Connection): string {
  const example = { key: literal('new-checkout'), name: 'bool', call: 'bool(false)' }
  return clientCode(example, connection)
}

interface Parts {
  readonly key: string
  /** The function of `@ff/core/flag-types` that declares the type. */
  readonly name: string
  readonly call: string
  /** The value of the default variation as a literal. */
  readonly fallback: string
}

type ClientParts = Omit<Parts, 'fallback'>

function clientCode({ key, name, call }: ClientParts, { url, sdkKey }: Connection): string {
  return `import { createFlagClient } from '${PACKAGES.client}'
import { defineFlags, ${name} } from '${PACKAGES.types}'

const flags = defineFlags({ ${key}: ${call} })
const client = createFlagClient({
  url: ${literal(url)},
  sdkKey: ${literal(sdkKey)},
  flags,
  context: { kind: 'user', key: 'user-1' },
})

await client.ready({ timeoutMs: 100 })
const value = client.value(${key})`
}

function inProcessCode({ key, fallback }: Parts, place: string): string {
  return `import { createFlagServer } from '${PACKAGES.server}'
import { sqlite } from '${PACKAGES.sqlite}'

const flags = createFlagServer(sqlite({ path: 'flags.db' }))
const context = { kind: 'user', key: 'user-1' }
const value = await flags.value(${place}, ${key}, context, ${fallback})`
}

function curlCode(url: string): string {
  return `curl -s ${url}/evaluator/evaluate -H "x-api-key: $FF_SDK_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"context":{"kind":"user","key":"user-1"}}'`
}

/** Returns a text as a literal of TypeScript. */
function literal(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped}'`
}

/** Returns the declaration of the type of a flag, with its default variation as the fallback. */
function typeOf({ type, variations }: FlagView): Omit<Parts, 'key'> {
  const value = (variations.find(({ isDefault }) => isDefault) ?? variations[0])?.value ?? ''
  switch (type) {
    case 'boolean':
      return { name: 'bool', call: `bool(${value === 'true'})`, fallback: `${value === 'true'}` }
    case 'number':
      return { name: 'number', call: `number(${value})`, fallback: value }
    case 'json':
      return { name: 'json', call: 'json()', fallback: 'null' }
    case 'string':
      return { name: 'text', call: `text(${literal(value)})`, fallback: literal(value) }
  }
}
