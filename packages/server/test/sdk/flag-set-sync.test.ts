import { gunzipSync } from 'node:zlib'
import type { FlagSetDefinition } from '@ff/core'
import { mergeChanges } from '@ff/core/changes'
import { flagSetRoot } from '@ff/core/flag-set-root'
import { type FlagSetDiff, isFlagSetDiff, type WholeFlagSet } from '@ff/protocol/sdk'
import type { DefinitionChange } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { type Called, call } from '../call.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { addSdkKey, flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let store: ReturnType<typeof breakable>
let flags: FlagServer
let live: SeededEnvironment
let key: string
let keyId: string

const segment = { id: 's1', key: 'beta', rules: [], logicalOp: 'AND', force: false } as const

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  store = breakable(memory.storage)
  ;({ live } = await seed(memory.storage))
  ;({ sdkKey: key, id: keyId } = await addSdkKey(memory.storage, live, { kind: 'server' }))
  await change(...'abcdef'.split('').map((name) => flagChange(textFlag(name, name))))
  flags = createFlagServer({ ...memory, storage: store.storage, clock })
  await flags.start()
  return () => flags.close()
})

const change = (...changes: DefinitionChange[]) => publish(memory, live.environmentId, ...changes)
const set = (name: string, value: string) => change(flagChange(textFlag(name, value)))
const addKeys = (included: readonly string[], removed: readonly string[] = []) =>
  change({ kind: 'segmentKeys', segmentId: 's1', list: 'included', added: included, removed })

const get = (query = '', headers: Readonly<Record<string, string>> = {}) =>
  call(flags, `/evaluator/flag-set${query}`, { method: 'GET', key, headers })

const stored = async () =>
  (await memory.storage.loadFlagSet(live.environmentId)) as FlagSetDefinition

const asDiff = ({ body }: Called) => {
  if (!isFlagSetDiff(body as FlagSetDiff)) throw new Error('The reply is a whole flag set')
  return body as FlagSetDiff
}

/** Applies a diff and checks that the root of the result equals the root in the diff. */
function applied(definition: FlagSetDefinition, diff: FlagSetDiff): FlagSetDefinition {
  const merged = mergeChanges(definition, { version: diff.to, ...diff })
  expect(flagSetRoot(merged).root).toBe(diff.root)
  return merged
}

/** Sends a poll. `answer` is set when it has received its reply. */
async function openPoll(body: unknown, signal?: AbortSignal) {
  await get()
  const request = { key, body, ...(signal && { signal }) }
  const done = call(flags, '/evaluator/flag-set/poll', request)
  const pending: { answer?: Called; readonly done: Promise<Called> } = { done }
  void done.then(
    (answer) => {
      pending.answer = answer
    },
    () => undefined,
  )
  await settle()
  return pending
}

describe('GET /evaluator/flag-set?since=', () => {
  it('The reply contains only the changes, which lead to the flag set of the store', async () => {
    const before = await stored()
    await set('b', 'changed')
    await change({ kind: 'flag', id: 'flag-c', definition: null })
    await change({
      kind: 'segment',
      id: 's1',
      definition: { ...segment, keyAttribute: 'user.key' },
    })
    await addKeys(['u1', 'u2'])
    const answer = await get('?since=1')
    const diff = asDiff(answer)
    expect([diff.from, diff.to, answer.headers.get('x-ff-version')]).toEqual([1, 5, '5'])
    expect(diff.flags.map(({ id, definition }) => [id, definition === null])).toEqual([
      ['flag-b', false],
      ['flag-c', true],
    ])
    expect(diff.segments[0]?.included).toEqual({ added: ['u1', 'u2'], removed: [] })
    expect(applied(before, diff)).toEqual(await stored())
  })

  it('The root of a diff is the root of the whole flag set, also after many versions', async () => {
    await change({
      kind: 'segment',
      id: 's1',
      definition: { ...segment, keyAttribute: 'user.key' },
    })
    let known = await stored()
    for (let round = 0; round < 20; round += 1) {
      await set('abc'[round % 3] ?? 'a', `value ${round}`)
      await addKeys([`u${round}`], [`u${round - 3}`])
      await settle()
      known = applied(known, asDiff(await get(`?since=${known.version}`)))
      const whole = (await get()).body as WholeFlagSet
      const { root, ...definition } = whole
      expect(known).toEqual(definition)
      expect(flagSetRoot(known).root).toBe(root)
    }
  })

  it('One key more in a list of 20,000 keys is sent as one key', async () => {
    await change({
      kind: 'segment',
      id: 's1',
      definition: { ...segment, keyAttribute: 'user.key' },
    })
    await addKeys(Array.from({ length: 20_000 }, (_, index) => `user-${index}`))
    await get()
    await addKeys(['one-more'])
    await settle()
    const { body } = await get('?since=3')
    expect(JSON.stringify(body).length).toBeLessThan(600)
    expect(asDiff(await get('?since=3')).segments[0]?.included.added).toEqual(['one-more'])
  })

  it('The reply to a client with the newest version is a diff without changes', async () => {
    const { root } = (await get()).body as WholeFlagSet
    const expected = { from: 1, to: 1, flags: [], segments: [], root }
    expect((await get('?since=1')).body).toEqual(expected)
  })

  it('The reply is the whole flag set if the changes are larger', async () => {
    await change(
      ...'abcde'.split('').map((name) => {
        return { kind: 'flag', id: `flag-${name}`, definition: null } as const
      }),
    )
    await change(...'f'.split('').map((name) => flagChange(textFlag(name, 'x'))))
    expect((await get('?since=0')).body).toMatchObject({ version: 3, flags: [{ key: 'f' }] })
    expect((await get('?since=1')).body).toMatchObject({ version: 3 })
  })

  it('The reply is the whole flag set if more than 1,000 versions lie between', async () => {
    for (let version = 2; version <= 1002; version += 1) await set('a', `value ${version}`)
    expect((await get('?since=1')).body).toMatchObject({ version: 1002 })
    expect((await get('?since=2')).body).toMatchObject({ from: 2, to: 1002 })
  })

  it('The reply is the whole flag set, marked as restored, if the store has only older versions', async () => {
    const answer = await get('?since=99')
    expect(answer.headers.get('x-ff-restored')).toBe('true')
    expect(answer.body).toMatchObject({ version: 1, root: expect.any(String) })
    expect((await get('?since=1')).headers.get('x-ff-restored')).toBeNull()
  })

  it('A client with a newer version than this process receives the newer version', async () => {
    await get()
    await memory.storage.publish(live.environmentId, [flagChange(textFlag('a', 'new'))], {
      publishedAt: '2026-01-01T00:00:00.000Z',
      eventId: null,
    })
    const answer = await get('?since=2')
    expect(answer.headers.get('x-ff-restored')).toBeNull()
    expect(answer.body).toMatchObject({ from: 2, to: 2 })
  })

  it.each(['', '-1', '1.5', 'all', '1e3', '9'.repeat(20)])(
    'A request with since=%s is refused with a message that names the parameter',
    async (since) => {
      const { status, body } = await get(`?since=${since}`)
      expect([status, (body as { error: string }).error]).toEqual([
        400,
        expect.stringContaining('`since`'),
      ])
    },
  )

  it('Many clients with the same version cause one read of the store', async () => {
    await get()
    await change(...'abc'.split('').map((name) => flagChange(textFlag(name, 'x'))))
    await settle()
    await set('d', 'x')
    await settle()
    store.calls.length = 0
    const answers = await Promise.all(Array.from({ length: 50 }, () => get('?since=1')))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(store.calls.filter((name) => name === 'loadChanges')).toHaveLength(1)
  })

  it('The reply to a client with the previous version needs no read of the store', async () => {
    await get()
    await set('d', 'x')
    await settle()
    store.calls.length = 0
    expect(asDiff(await get('?since=1')).flags).toHaveLength(1)
    expect(store.calls).toEqual([])
  })

  it('A long reply is compressed once for all clients that accept gzip', async () => {
    const raw = () =>
      flags.fetch(
        new Request('http://flags.test/evaluator/flag-set', {
          headers: { 'x-api-key': key, 'accept-encoding': 'gzip, br;q=0' },
        }),
      )
    const [first, second] = [await raw(), await raw()]
    expect([first.headers.get('content-encoding'), first.headers.get('vary')]).toEqual([
      'gzip',
      'Accept-Encoding',
    ])
    const bytes = new Uint8Array(await first.arrayBuffer())
    expect(JSON.parse(gunzipSync(bytes).toString())).toEqual((await get()).body)
    expect(new Uint8Array(await second.arrayBuffer())).toEqual(bytes)
    expect((await get()).headers.get('content-encoding')).toBeNull()
  })
})

describe('POST /evaluator/flag-set/poll', () => {
  it('A poll is pending until the flag set changes, and then receives the changes', async () => {
    const before = await stored()
    const pending = await openPoll({ since: 1 })
    await clock.advance(30_000)
    expect(pending.answer).toBeUndefined()
    await set('a', 'changed')
    await settle()
    expect(pending.answer?.status).toBe(200)
    expect(applied(before, asDiff(await pending.done))).toEqual(await stored())
  })

  it('A poll without since, with an older or with an unknown version receives an immediate reply', async () => {
    await set('a', 'changed')
    expect((await (await openPoll({})).done).body).toMatchObject({ version: 2 })
    expect((await (await openPoll({ since: null })).done).body).toMatchObject({ version: 2 })
    expect((await (await openPoll({ since: 1 })).done).body).toMatchObject({ from: 1, to: 2 })
    const { headers, body } = await (await openPoll({ since: 77 })).done
    expect([headers.get('x-ff-restored'), body]).toEqual([
      'true',
      expect.objectContaining({ version: 2 }),
    ])
  })

  it('A poll ends after 60 to 61 seconds with a diff without changes', async () => {
    const pending = await openPoll({ since: 1 })
    await clock.advance(59_999)
    expect(pending.answer).toBeUndefined()
    await clock.advance(1002)
    expect((await pending.done).body).toMatchObject({ from: 1, to: 1, flags: [] })
  })

  it('A poll receives a reply when the server closes, and 401 when its key is revoked', async () => {
    const pending = await openPoll({ since: 1 })
    await memory.storage.update('sdkKey', keyId, { revokedAt: '2030-01-01T00:00:00.000Z' }, 1)
    await memory.changeFeed.publish({ type: 'sdkKeys' } as never)
    await until(() => pending.answer !== undefined)
    expect((await pending.done).status).toBe(401)
    ;({ sdkKey: key } = await addSdkKey(memory.storage, live, { kind: 'server' }))
    await clock.advance(5000)
    const last = await openPoll({ since: 1 })
    await flags.close()
    expect((await last.done).body).toMatchObject({ from: 1, to: 1 })
  })

  it('A client that disconnects leaves no session behind', async () => {
    const abort = new AbortController()
    await openPoll({ since: 1 }, abort.signal)
    const timers = clock.timers
    abort.abort()
    await settle()
    expect(clock.timers).toBe(timers - 1)
  })

  it.each([{ since: '1' }, { since: -1 }, { since: 1.5 }, [], null, 'text'])(
    'A poll with the body %j is refused',
    async (body) => {
      const { done } = await openPoll(JSON.stringify(body))
      expect(await done).toMatchObject({ status: 400, body: { error: expect.any(String) } })
    },
  )

  it('A poll with a client key is refused, and no reply has CORS headers', async () => {
    const refused = await call(flags, '/evaluator/flag-set/poll', { key: live.sdkKey, body: {} })
    expect(refused.status).toBe(403)
    for (const { headers } of [refused, await (await openPoll({})).done]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  it('A poll receives 500 if the store cannot be read', async () => {
    store.break()
    expect(await (await openPoll({ since: 3 })).done).toMatchObject({ status: 500 })
  })
})
