import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { LogFields, Logger } from '../../src/runtime/logger.ts'
import { evaluate } from '../call.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, settle } from '../fake-clock.ts'
import { flagChange, OCCASION, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'

class Journal implements Logger {
  readonly lines: string[] = []
  debug = () => undefined
  info = (message: string) => void this.lines.push(`info: ${message}`)
  warn = (message: string) => void this.lines.push(`warn: ${message}`)
  error = (message: string, _fields?: LogFields) => void this.lines.push(`error: ${message}`)
}

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let store: ReturnType<typeof breakable>
let journal: Journal
let flags: FlagServer
let live: SeededEnvironment
let staging: SeededEnvironment

beforeEach(async () => {
  clock = new FakeClock()
  journal = new Journal()
  memory = allInMemory()
  store = breakable(memory.storage)
  ;({ live, staging } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  flags = createFlagServer({
    ...memory,
    ...{ storage: store.storage, clock, logger: journal, metricsArePublic: true },
  })
  return () => flags.close()
})

/** Creates a flag with another flag as its prerequisite. */
const dependent = (key: string, other: string) => ({
  ...textFlag(key, 'poison'),
  prerequisites: [{ flagId: `flag-${other}`, variationIds: [`${other}-poison`] }],
})

const banner = async () => (await evaluate(flags, live.sdkKey, {})).body

describe('A server with an unavailable store', () => {
  it('Evaluation continues with the last valid flags, and uses the newest ones when the store is available again', async () => {
    expect(await banner()).toEqual({ banner: 'hello' })
    store.break()
    const version = await memory.storage.publish(
      live.environmentId,
      [flagChange(textFlag('banner', 'changed'))],
      OCCASION,
    )
    await memory.changeFeed.publish({ type: 'flagSet', environmentId: live.environmentId, version })
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1000)
      const { status, body } = await evaluate(flags, live.sdkKey, {})
      expect([status, body]).toEqual([200, { banner: 'hello' }])
    }
    store.repair()
    await clock.advance(5000)
    expect(await banner()).toEqual({ banner: 'changed' })
  })

  it('An unavailable store is logged once, and its recovery is logged once', async () => {
    await banner()
    store.break()
    await clock.advance(60_000)
    store.repair()
    await clock.advance(5000)
    expect(journal.lines.sort()).toEqual([
      'error: A flag set could not be updated; the last valid version is kept',
      'error: Some usage could not be written and stays pending',
      'error: The SDK keys cannot be read',
      'info: A flag set is up to date again',
      'info: The SDK keys can be read again',
      'info: Usage can be written again',
    ])
  })

  it('A request for an environment that was never read receives 500 until the store is available', async () => {
    await flags.start()
    await banner()
    store.break()
    const answer = await evaluate(flags, staging.sdkKey, {})
    expect([answer.status, answer.body]).toEqual([
      500,
      { error: 'The flags cannot be read at the moment.', statusCode: 500 },
    ])
    store.repair()
    expect((await evaluate(flags, staging.sdkKey, {})).status).toBe(200)
  })

  it('The start of a server can be repeated after a failure', async () => {
    store.break()
    await expect(flags.start()).rejects.toThrow()
    expect((await evaluate(flags, live.sdkKey, {})).status).toBe(500)
    store.repair()
    expect(await banner()).toEqual({ banner: 'hello' })
  })
})

describe('An invalid flag set in the store', () => {
  const poison = (...definitions: readonly unknown[]) =>
    memory.storage
      .publish(
        live.environmentId,
        definitions.map((definition) => flagChange(definition as never)),
        OCCASION,
      )
      .then(async (version) => {
        const { environmentId } = live
        await memory.changeFeed.publish({ type: 'flagSet', environmentId, version })
        await settle()
      })

  it.each([
    ['a flag with null fields', { ...textFlag('banner', 'poison'), rules: null }],
    ['a variation of the wrong shape', { ...textFlag('banner', 'poison'), variations: [null] }],
    ['a flag that is not an object', Object.assign(Object.create(null), { id: 'flag-x' })],
    ['a second flag with the key of another', { ...textFlag('banner', 'poison'), id: 'flag-2' }],
    ['a dangling segment', textFlag('banner', 'poison', [{ segmentId: 'nowhere' }])],
    [
      'an unknown operator',
      textFlag('banner', 'poison', [
        { conditions: [{ attribute: 'a', operator: 'resembles', value: 'b' }] },
      ]),
    ],
    ['a flag that is its own prerequisite', dependent('banner', 'banner')],
    ['a flag with a prerequisite that does not exist', dependent('banner', 'nowhere')],
    [
      'a default that does not exist',
      { ...textFlag('banner', 'poison'), defaultVariationId: 'no' },
    ],
  ])(
    'A flag set with %s is refused, and the last valid flags are kept',
    async (_name, definition) => {
      await banner()
      await poison(definition)
      expect(await banner()).toEqual({ banner: 'hello' })
      expect(journal.lines).toEqual([
        'error: A flag set could not be updated; the last valid version is kept',
      ])
      expect((await evaluate(flags, staging.sdkKey, {})).status).toBe(200)
      await clock.advance(60_000)
      expect(journal.lines).toHaveLength(1)
    },
  )

  it('A flag set with segments that refer to each other is refused', async () => {
    await banner()
    const segments = ['a', 'b'].map((id, index) => {
      const rules = [{ attribute: '', operator: 'in_segment', value: index === 0 ? 'b' : 'a' }]
      const rest = { logicalOp: 'AND', force: false, keyAttribute: 'user.key' } as const
      return { kind: 'segment', id, definition: { id, key: id, rules, ...rest } } as const
    })
    await publish(memory, live.environmentId, ...segments)
    await settle()
    expect(await banner()).toEqual({ banner: 'hello' })
    expect(journal.lines).toHaveLength(1)
  })

  it('A large invalid flag set affects only its own environment', async () => {
    await flags.allOrThrow(staging, {})
    await banner()
    const many = Array.from({ length: 2000 }, (_, index) => textFlag(`flag-${index}`, 'value'))
    await poison(...many, { ...textFlag('last', 'value'), rules: null })
    expect(await banner()).toEqual({ banner: 'hello' })
    await publish(memory, staging.environmentId, flagChange(textFlag('title', 'shop')))
    await settle()
    expect(await flags.allOrThrow(staging, {})).toEqual({ title: 'shop' })
    await poison({ ...textFlag('last', 'value') })
    // A large version is checked and compiled in time slices.
    while (Object.keys((await banner()) as object).length === 1) await settle()
    expect(Object.keys((await banner()) as object)).toHaveLength(2002)
  })

  it('An invalid flag set is reported by a metric until a valid version is loaded', async () => {
    const stale = async () => {
      const text = await (await flags.fetch(new Request('http://a/metrics'))).text()
      return /^ff_flag_sets_stale (\d+)$/m.exec(text)?.[1]
    }
    await banner()
    expect(await stale()).toBe('0')
    await poison({ ...textFlag('banner', 'poison'), rules: null })
    expect(await stale()).toBe('1')
    await poison(textFlag('banner', 'cured'))
    expect(await stale()).toBe('0')
  })

  it('An invalid flag set is replaced by the next valid version', async () => {
    await banner()
    await poison({ ...textFlag('banner', 'poison'), rules: null })
    await poison(textFlag('banner', 'cured'))
    expect(await banner()).toEqual({ banner: 'cured' })
  })

  it('A flag set with faults is served if there was no valid flag before', async () => {
    await flags.allOrThrow(staging, {})
    const faulty = textFlag('banner', 'hello', [{ segmentId: 'nowhere' }])
    await publish(
      memory,
      staging.environmentId,
      flagChange(faulty),
      flagChange(textFlag('title', 'shop')),
    )
    await settle()
    expect(await flags.allOrThrow(staging, {})).toEqual({ banner: 'hello', title: 'shop' })
    expect(journal.lines).toEqual(['error: A flag set has faults'])
  })

  it('A fault in a stored flag set does not prevent other changes from being served', async () => {
    const conditions = [{ attribute: 'ip', operator: 'not_in_cidr', value: '["10.0.0.0/33"]' }]
    const faulty = textFlag('banner', 'hello', [{ conditions }])
    await publish(memory, staging.environmentId, flagChange(faulty))
    const context = { kind: 'user', ip: '192.0.2.1' }
    expect(await flags.allOrThrow(staging, context)).toEqual({ banner: 'hello' })
    const changed = textFlag('banner', 'changed', [{ conditions }])
    await publish(memory, staging.environmentId, flagChange(textFlag('title', 'shop')))
    await settle()
    expect(await flags.allOrThrow(staging, context)).toEqual({ banner: 'hello', title: 'shop' })
    await publish(memory, staging.environmentId, flagChange(changed))
    await settle()
    expect(await flags.allOrThrow(staging, context)).toEqual({ banner: 'changed', title: 'shop' })
    expect(journal.lines).toEqual(['error: A flag set has faults'])
  })

  it('The fault of an invalid flag set is not sent to a client if there is no older version', async () => {
    await poison({ ...textFlag('banner', 'poison'), rules: null })
    const { status, body } = await evaluate(flags, live.sdkKey, {})
    expect([status, body]).toEqual([
      500,
      { error: 'The flags cannot be read at the moment.', statusCode: 500 },
    ])
  })
})

describe('A server whose flags do not change', () => {
  it('Checks all environments and SDK keys with one query, and loads only what has changed', async () => {
    for (const { sdkKey } of [live, staging]) await evaluate(flags, sdkKey, {})
    await clock.advance(10_000)
    store.calls.length = 0
    await clock.advance(5000)
    expect(store.calls).toEqual(['findVersions'])
    await memory.storage.publish(
      staging.environmentId,
      [flagChange(textFlag('banner', 'changed'))],
      OCCASION,
    )
    store.calls.length = 0
    await clock.advance(5000)
    expect(store.calls.filter((name) => name === 'loadChanges')).toHaveLength(1)
    expect(store.calls).not.toContain('list sdkKey')
    expect((await evaluate(flags, staging.sdkKey, {})).body).toEqual({ banner: 'changed' })
  })
})
