import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../packages/storage/src/index.ts'
import { root } from './source-files.ts'

interface Case {
  readonly packageName: string
  readonly entry: string
  /**
   * An expression in which `entry` is the loaded entry and `storage` an empty store in memory. Its
   * value may be a promise.
   */
  readonly program: string
  readonly value: unknown
}

const DEFINITION = {
  version: 1,
  segments: [],
  flags: [
    {
      id: 'flag-1',
      key: 'new-checkout',
      type: 'boolean',
      isActive: true,
      variations: [
        { id: 'on', key: 'on', value: 'true' },
        { id: 'off', key: 'off', value: 'false' },
      ],
      defaultVariationId: 'off',
      offVariationId: null,
      targets: [{ variationId: 'on', kind: 'user', keys: ['user-1'] }],
      prerequisites: [],
      rules: [],
      rollouts: [],
    },
  ],
}

/** One row for each entry that must load without a Node built-in. */
const CASES: readonly Case[] = [
  {
    packageName: 'core',
    entry: '.',
    program: `entry.evaluateValue(
      entry.compileFlagSet(${JSON.stringify(DEFINITION)}),
      'new-checkout',
      entry.parseContext({ kind: 'user', key: 'user-1' }),
      0,
    )`,
    value: true,
  },
  {
    packageName: 'core',
    entry: './flag-types',
    program: `entry.defineFlags({ theme: entry.oneOf('light', 'dark') }).allFrom({ theme: 'dark' }).theme`,
    value: 'dark',
  },
  {
    packageName: 'core',
    entry: './flag-set-root',
    program: 'entry.flagSetRoot({ version: 0, flags: [], segments: [] }).root',
    value: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  },
  {
    packageName: 'protocol',
    entry: './sdk',
    program: `entry.asServerMessage({ type: 'pong' })`,
    value: { type: 'pong' },
  },
  {
    packageName: 'protocol',
    entry: './management',
    program: 'entry.endpoints.getVersion.method',
    value: 'GET',
  },
  {
    packageName: 'client',
    entry: '.',
    program: `(() => {
      const flags = { types: { theme: { fallback: 'light', isValue: () => true } } }
      const options = { url: 'http://flags.test', sdkKey: 'ff_1', flags }
      const client = entry.createFlagClient({ ...options, cache: entry.localStorageCache() })
      const value = client.value('theme')
      client.close()
      return [value, client.status.connection]
    })()`,
    value: ['light', 'closed'],
  },
  {
    packageName: 'client',
    entry: './local',
    program: `(async () => {
      const flags = { types: {} }
      const options = { url: 'http://flags.test', sdkKey: 'ff_1', flags }
      const definition = ${JSON.stringify(DEFINITION)}
      const local = entry.createLocalClient({ ...options, sources: [() => definition] })
      await local.ready()
      const value = local.value('new-checkout', { kind: 'user', key: 'user-1' })
      await local.close()
      return [value, local.status.version]
    })()`,
    value: [true, 1],
  },
  {
    packageName: 'client',
    entry: './testing',
    program: `entry.createTestClient({ types: {} }, { theme: 'dark' }).value('theme')`,
    value: 'dark',
  },
  {
    packageName: 'openfeature',
    entry: './web',
    program: `(() => {
      const detail = () => ({ value: 'dark', source: 'server', version: 1 })
      const provider = entry.createFlagProvider({ detail, status: { isOfContext: true } })
      return provider.resolveStringEvaluation('theme', 'light').value
    })()`,
    value: 'dark',
  },
  {
    packageName: 'storage',
    entry: '.',
    program: `(async () => {
      const { storage } = entry.memory()
      await storage.migrate()
      return (await storage.loadChanges('no-environment', 0)).version
    })()`,
    value: 0,
  },
  {
    packageName: 'server',
    entry: '.',
    program: `(async () => {
      const at = '2030-01-01T00:00:00.000Z'
      const frame = { createdAt: at, updatedAt: at, deletedAt: null, revision: 1 }
      const record = { ...frame, id: 'live', projectId: 'shop', key: 'live', name: 'Live' }
      const flags = entry.createFlagServer({ storage })
      await flags.start()
      await storage.insert('environment', { ...record, isDefault: true, contextPrivacy: 'none' })
      const change = { kind: 'flag', id: 'flag-1', definition: ${JSON.stringify(DEFINITION.flags[0])} }
      await storage.publish('live', [change], { publishedAt: at, eventId: null })
      const values = await flags.allOrThrow({ environmentId: 'live' }, { kind: 'user', key: 'user-1' })
      const answer = await flags.fetch(new Request('http://flags.test/nowhere'))
      await flags.close()
      return [values['new-checkout'], answer.status]
    })()`,
    value: [true, 404],
  },
  {
    packageName: 'management',
    entry: '.',
    program: `entry.createManagement({
      users: false,
      webhookSender: { refusalOf: () => undefined, send: () => Promise.reject() },
    }).connect.name`,
    value: 'connect',
  },
]

/** The globals of a web-standard runtime that are not part of the language. */
const { atob, btoa, console, crypto, performance, structuredClone } = globalThis
const { AbortController, Headers, Request, Response, TextDecoder, TextEncoder } = globalThis
const { clearTimeout, queueMicrotask, setTimeout, URL, URLSearchParams } = globalThis
const WEB_GLOBALS = {
  ...{ atob, btoa, console, crypto, performance, structuredClone },
  ...{ AbortController, Headers, Request, Response, TextDecoder, TextEncoder },
  ...{ clearTimeout, queueMicrotask, setTimeout, URL, URLSearchParams },
}

const figures: string[] = []

afterAll(() => {
  process.stdout.write(`${figures.join('\n')}\n`)
})

/** Returns a module and its imports as one bundle. Rejects if it imports a Node built-in. */
async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    minify: true,
    platform: 'neutral',
    conditions: ['@ff/source'],
    mainFields: ['module', 'main'],
    format: 'iife',
    globalName: 'entry',
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

function sourceOf({ packageName, entry }: Case): string {
  const folder = join(root, 'packages', packageName)
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, exports[entry]['@ff/source'])
}

/** Runs the code with web-standard globals only, and returns the JSON value of an expression. */
async function valueIn(code: string, program: string): Promise<unknown> {
  const context = createContext({ ...WEB_GLOBALS, storage: memory().storage })
  runInContext(code, context)
  return JSON.parse(JSON.stringify(await runInContext(program, context)))
}

describe('an entry without Node built-ins', () => {
  it.each(CASES)(
    'The entry $entry of $packageName loads and works in a bare context.',
    async (each) => {
      const code = await bundled(`export * from ${JSON.stringify(sourceOf(each))}`)
      figures.push(`${each.packageName} ${each.entry}: ${code.length} bytes as one bundle`)
      expect(await valueIn(code, each.program)).toEqual(each.value)
    },
  )

  it('A bundle with a Node built-in is refused.', async () => {
    const code = "import { createHash } from 'node:crypto'; export const a = createHash('md5')"
    await expect(bundled(code)).rejects.toThrow('Could not resolve "node:crypto"')
  })

  it.each(['process', 'Buffer', 'setImmediate'])(
    'A bundle does not find the Node global %s.',
    async (name) => {
      const code = await bundled(`export const found = typeof ${name}`)
      expect(await valueIn(code, 'entry.found')).toBe('undefined')
    },
  )
})
