import { contextTextOf, textHash } from '@ff/protocol/snapshot'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { EnvironmentRef } from '../../src/index.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, settle } from '../fake-clock.ts'
import {
  addEnvironment,
  flagChange,
  publish,
  type SeededEnvironment,
  seed,
  textFlag,
} from '../seed.ts'

const SHOP = { project: 'shop', environment: 'live' } as const
const USER = { kind: 'user', key: 'user-1', plan: 'pro' }

const createParts = () => {
  const { storage, ...others } = allInMemory()
  const store = breakable(storage)
  const lines: string[] = []
  const note = (message: string, fields = {}) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note }
  return { ...others, storage: store.storage, store, lines, logger, clock: new FakeClock() }
}

let parts: ReturnType<typeof createParts>
let flags: FlagServer
let orgId: string
let live: SeededEnvironment

beforeEach(async () => {
  parts = createParts()
  const seeded = await seed(parts.storage)
  ;({ orgId, live } = seeded)
  const conditions = [{ attribute: 'plan', operator: 'eq', value: 'pro' }]
  await publish(
    parts,
    live.environmentId,
    flagChange(textFlag('banner', 'hello', [{ conditions }])),
  )
  flags = createFlagServer(parts)
  return () => flags.close()
})

describe('flags.value', () => {
  it.each<[string, () => EnvironmentRef]>([
    ['its id', () => ({ environmentId: live.environmentId })],
    ['the keys of project and environment', () => SHOP],
    ['these keys and the organization', () => ({ ...SHOP, orgId })],
  ])('An environment can be named by %s', async (_name, refOf) => {
    expect(await flags.value(refOf(), 'banner', USER, 'fallback')).toBe('other')
    expect(await flags.value(refOf(), 'banner', {}, 'fallback')).toBe('hello')
    expect(parts.lines).toEqual([])
  })

  it('A reference by keys is read from the store only once while it is fresh', async () => {
    await flags.value(SHOP, 'banner', USER, '')
    parts.store.calls.length = 0
    for (let n = 0; n < 10; n += 1) await flags.value(SHOP, 'banner', USER, '')
    expect(parts.store.calls).toEqual([])
  })

  it('An environment that is created again with the same key is used after a while', async () => {
    await flags.value(SHOP, 'banner', USER, '')
    const deletedAt = '2030-01-01T00:00:00.000Z'
    await parts.storage.update('environment', live.environmentId, { deletedAt })
    const again = await addEnvironment(parts.storage, live.projectId, 'live')
    await publish(parts, again.environmentId, flagChange(textFlag('banner', 'again')))
    await parts.clock.advance(10_001)
    await flags.value(SHOP, 'banner', {}, '')
    await settle()
    expect(await flags.value(SHOP, 'banner', {}, '')).toBe('again')
  })
})

describe('flags.detail', () => {
  it('The detail of an evaluation has the reason and no error', async () => {
    expect(await flags.detail(SHOP, 'banner', USER, '')).toMatchObject({
      value: 'other',
      reason: 'TARGETING_MATCH',
      ruleId: 'rule-banner-0',
    })
  })

  it.each<[string, EnvironmentRef, string, unknown, string, RegExp]>([
    [
      'project',
      { ...SHOP, project: 'shoop' },
      'banner',
      USER,
      'ENVIRONMENT_NOT_FOUND',
      /no project.*"shoop"/,
    ],
    [
      'environment',
      { ...SHOP, environment: 'prod' },
      'banner',
      USER,
      'ENVIRONMENT_NOT_FOUND',
      /"prod".*live, staging/,
    ],
    [
      'environment id',
      { environmentId: 'none' },
      'banner',
      USER,
      'ENVIRONMENT_NOT_FOUND',
      /no such environment/,
    ],
    ['flag', SHOP, 'bananer', USER, 'FLAG_NOT_FOUND', /no flag with the key "bananer"/],
  ])(
    'An unknown %s results in the fallback',
    async (_what, ref, key, context, errorCode, message) => {
      const detail = await flags.detail(ref, key, context as never, 'fallback')
      expect(detail).toMatchObject({ value: 'fallback', reason: 'ERROR', errorCode })
      expect(detail.errorMessage).toMatch(message)
      expect(parts.lines).toHaveLength(1)
      expect(parts.lines[0]).toContain(errorCode)
    },
  )

  it.each([[undefined], [null], ['text'], [{}], [{ project: 'shop' }], [{ environmentId: 7 }]])(
    'The reference %j results in the fallback',
    async (ref) => {
      const detail = await flags.detail(ref as never, 'banner', USER, 'fallback')
      expect(detail).toMatchObject({ value: 'fallback', reason: 'ERROR', errorCode: 'GENERAL' })
      expect(detail.errorMessage).toMatch(/^An environment is/)
    },
  )

  it.each([[undefined], [null], ['text'], [{ kind: '' }]])(
    'The context %j results in the fallback',
    async (context) => {
      const detail = await flags.detail(SHOP, 'banner', context as never, 'fallback')
      expect(detail).toMatchObject({ value: 'fallback', errorCode: 'INVALID_CONTEXT' })
    },
  )

  it('A broken flag serves its default variation with the reason ERROR', async () => {
    const broken = flagChange(textFlag('broken', 'hello', [{ segmentId: 'nowhere' }]))
    await publish(parts, live.environmentId, broken)
    expect(await flags.detail(SHOP, 'broken', USER, 'fallback')).toMatchObject({
      value: 'hello',
      reason: 'ERROR',
      errorCode: 'MALFORMED_FLAG',
    })
  })

  it('A value of another type than the fallback results in the fallback', async () => {
    for (const fallback of [false, 7, ['hello'], { hello: 1 }]) {
      const detail = await flags.detail(SHOP, 'banner', USER, fallback)
      expect(detail).toMatchObject({ value: fallback, errorCode: 'TYPE_MISMATCH' })
      expect(detail.variationId).toBeNull()
    }
    expect(await flags.value(SHOP, 'banner', USER, null)).toBe('other')
  })

  it('A store that fails before the flags are loaded results in the fallback, afterwards not', async () => {
    parts.store.break()
    const failed = await flags.detail(SHOP, 'banner', USER, 'fallback')
    expect(failed).toMatchObject({ value: 'fallback', errorCode: 'PROVIDER_NOT_READY' })
    parts.store.repair()
    expect(await flags.value(SHOP, 'banner', USER, 'fallback')).toBe('other')
    parts.store.break()
    await parts.clock.advance(60_000)
    expect(await flags.value(SHOP, 'banner', USER, 'fallback')).toBe('other')
  })

  it('A store that does not respond results in the fallback after five seconds', async () => {
    const never = new Proxy(parts.storage, {
      get: (target, name) =>
        name === 'list' ? () => new Promise(() => undefined) : Reflect.get(target, name),
    })
    const hanging = createFlagServer({ ...parts, storage: never })
    const detail = hanging.detail(SHOP, 'banner', USER, 'fallback')
    await settle()
    await parts.clock.advance(5000)
    expect(await detail).toMatchObject({ value: 'fallback', errorCode: 'PROVIDER_NOT_READY' })
  })

  it('A closed server results in the fallback', async () => {
    await flags.value(SHOP, 'banner', USER, 'fallback')
    await flags.close()
    expect(await flags.detail(SHOP, 'banner', USER, 'fallback')).toMatchObject({
      value: 'fallback',
      errorCode: 'PROVIDER_NOT_READY',
      errorMessage: 'The server is closed.',
    })
    expect(await flags.all(SHOP, USER)).toEqual({})
  })

  it('Repeated fallbacks write one line per minute, and unknown projects cost one query per second', async () => {
    const unknown = { ...SHOP, project: 'none' }
    await flags.value(unknown, 'banner', USER, '')
    parts.store.calls.length = 0
    for (let n = 0; n < 20; n += 1) await flags.value(unknown, 'banner', USER, '')
    expect([parts.lines.length, parts.store.calls]).toEqual([1, []])
    await parts.clock.advance(60_000)
    await flags.value(unknown, 'banner', USER, '')
    expect(parts.lines).toHaveLength(2)
  })
})

describe('flags.all and the methods that throw', () => {
  it('All values of an environment are returned, and an empty object if that fails', async () => {
    expect(await flags.all(SHOP, USER)).toEqual({ banner: 'other' })
    expect(await flags.all({ ...SHOP, environment: 'prod' }, USER)).toEqual({})
    expect(parts.lines).toHaveLength(1)
  })

  it('A snapshot has the flags that clients can see, the version and the hash of the context', async () => {
    const hidden = { ...textFlag('internal', 'secret'), clientVisible: false }
    await publish(parts, live.environmentId, flagChange(hidden))
    expect(Object.keys(await flags.all(SHOP, USER)).sort()).toEqual(['banner', 'internal'])
    expect(await flags.snapshot(SHOP, USER)).toEqual({
      flags: { banner: 'other' },
      version: 2,
      context: textHash(contextTextOf(USER) ?? ''),
    })
    const reordered = { plan: 'pro', key: 'user-1', kind: 'user' }
    expect(await flags.snapshot(SHOP, reordered)).toEqual(await flags.snapshot(SHOP, USER))
    expect((await flags.snapshot(SHOP, {})).flags).toEqual({ banner: 'hello' })
    expect(parts.lines).toEqual([])
  })

  it('A snapshot has no flags and no version if they cannot be evaluated, and a line says why', async () => {
    expect(await flags.snapshot({ ...SHOP, environment: 'prod' }, USER)).toEqual({ flags: {} })
    expect(await flags.snapshot(SHOP, { kind: '' } as never)).toEqual({ flags: {} })
    expect(parts.lines).toHaveLength(2)
    await flags.close()
    expect(await flags.snapshot(SHOP, USER)).toEqual({ flags: {} })
  })

  it('detailOrThrow and allOrThrow reject with the error', async () => {
    const wrong = { kind: '' } as never
    const unknown = { ...SHOP, environment: 'prod' }
    await expect(flags.detailOrThrow(SHOP, 'none', USER)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await expect(flags.detailOrThrow(unknown, 'banner', USER)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await expect(flags.allOrThrow(SHOP, wrong)).rejects.toMatchObject({ code: 'INVALID_CONTEXT' })
    await flags.close()
    await expect(flags.allOrThrow(SHOP, USER)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})

it('A project key of several organizations requires the organization', async () => {
  const other = '00000000-0000-4000-8000-000000000001'
  const [organization] = (await parts.storage.list('organization', {})).data
  const [project] = (await parts.storage.list('project', {})).data
  if (!organization || !project) throw new Error('nothing seeded')
  await parts.storage.insert('organization', { ...organization, id: other })
  await parts.storage.insert('project', { ...project, id: other, orgId: other })
  const detail = await flags.detail(SHOP, 'banner', USER, 'fallback')
  expect(detail).toMatchObject({ value: 'fallback', errorCode: 'GENERAL' })
  expect(detail.errorMessage).toMatch(/add `orgId`/)
  expect(await flags.value({ ...SHOP, orgId }, 'banner', USER, 'fallback')).toBe('other')
})
