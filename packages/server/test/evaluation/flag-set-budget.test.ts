import type { FlagDefinition } from '@ff/core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { EnvironmentScope } from '../../src/access/scope.ts'
import { FlagSetCache } from '../../src/evaluation/flag-set-cache.ts'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { Broadcaster } from '../../src/live/broadcaster.ts'
import { SessionRegistry } from '../../src/live/session-registry.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { SavedState } from '../../src/snapshots/saved-state.ts'
import { call, evaluate, metric, poll } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { untilPending } from '../live-clients.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

const user = { kind: 'user', key: 'user-1' }
const MEGABYTE = 1024 * 1024
/** The length of a value with which two environments fit in 1 MiB, and three do not. */
const HALF = 190_000

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let warnings: unknown[]

beforeEach(() => {
  clock = new FakeClock()
  memory = allInMemory()
  warnings = []
})

/** Returns a flag that serves `value`. Its other variation is a text of this length. */
function largeFlag(value: string, length: number): FlagDefinition {
  const flag = textFlag('banner', value)
  const other = { id: 'banner-other', key: 'other', value: 'x'.repeat(length) }
  return { ...flag, variations: [...flag.variations.slice(0, 1), other] }
}

/** Creates an organization for each list, with an environment for each length in it. */
async function fill(...organizations: readonly (readonly number[])[]) {
  const all: SeededEnvironment[][] = []
  for (const lengths of organizations) {
    const environments: SeededEnvironment[] = []
    while (environments.length < lengths.length) {
      const { live, staging } = await seed(memory.storage)
      environments.push(live, staging)
    }
    environments.length = lengths.length
    for (const [index, { environmentId }] of environments.entries()) {
      const flag = largeFlag(`value-${index}`, lengths[index] ?? 0)
      await publish(memory, environmentId, flagChange(flag))
    }
    all.push(environments)
  }
  return all
}

async function open(maxFlagSetBytes = MEGABYTE): Promise<FlagServer> {
  const warn = (_message: string, fields?: unknown) => void warnings.push(fields)
  const logger = { ...silentLogger, warn }
  const options = { ...memory, clock, maxFlagSetBytes, metricsArePublic: true, logger }
  const flags = createFlagServer(options)
  await flags.start()
  return flags
}

async function valueIn(flags: FlagServer, { sdkKey }: SeededEnvironment): Promise<unknown> {
  const { status, body } = await evaluate(flags, sdkKey, user)
  expect(status).toBe(200)
  return (body as { banner: string }).banner
}

describe('The budget for flag sets', () => {
  it('Flag sets that were unused for the longest time are dropped, and loaded again when they are used', async () => {
    const [environments = []] = await fill([HALF, HALF, HALF, HALF, HALF])
    const flags = await open()
    for (let round = 0; round < 3; round += 1) {
      for (const [index, environment] of environments.entries()) {
        expect(await valueIn(flags, environment)).toBe(`value-${index}`)
        expect(await metric(flags, 'ff_flag_set_bytes')).toBeLessThanOrEqual(MEGABYTE)
      }
    }
    expect(await metric(flags, 'ff_flag_sets')).toBe(2)
    expect(await metric(flags, 'ff_flag_set_loads_total')).toBe(15)
    expect(await metric(flags, 'ff_flag_sets_dropped_total')).toBe(13)
    const [, , , before, last] = environments
    for (const each of [before, last]) await valueIn(flags, each as SeededEnvironment)
    expect(await metric(flags, 'ff_flag_set_loads_total')).toBe(15)
    expect((await call(flags, '/ready', { method: 'GET' })).status).toBe(200)
    expect(warnings).toEqual([])
    await flags.close()
  })

  it('A change while a flag set is not loaded is served when it is loaded again, and its counts are kept', async () => {
    const [[first, ...others] = []] = await fill([HALF, HALF, HALF])
    const flags = await open()
    const one = first as SeededEnvironment
    expect(await valueIn(flags, one)).toBe('value-0')
    for (const other of others) await valueIn(flags, other)
    await publish(memory, one.environmentId, flagChange(largeFlag('changed', HALF)))
    expect(await valueIn(flags, one)).toBe('changed')
    for (const other of others) await valueIn(flags, other)
    await clock.advance(60_000)
    const ever = { flagId: 'flag-banner', from: '2000', to: '3000' }
    for (const { environmentId } of [one, ...others]) {
      const totals = await memory.storage.loadEvaluationCounts({ ...ever, environmentId })
      expect(totals.reduce((sum, { count }) => sum + count, 0)).toBe(2)
    }
    await flags.close()
  })

  it('An environment that is larger than the budget is served, and alone, with one warning', async () => {
    const [[small, large] = []] = await fill([10, 600_000])
    const flags = await open()
    for (let round = 0; round < 3; round += 1) {
      expect(await valueIn(flags, small as SeededEnvironment)).toBe('value-0')
      expect(await valueIn(flags, large as SeededEnvironment)).toBe('value-1')
      expect(await metric(flags, 'ff_flag_sets')).toBe(1)
    }
    const { environmentId } = large as SeededEnvironment
    const fields = { environmentId, bytes: expect.any(Number), maxFlagSetBytes: MEGABYTE }
    expect(warnings).toEqual([fields])
    await flags.close()
  })

  it('A flag set that grows in a change displaces others, and one with live clients is dropped last', async () => {
    const [[watched, polled, third] = []] = await fill([HALF, 100, HALF])
    const flags = await open()
    const socket = await watch(flags, watched as SeededEnvironment)
    const { sdkKey } = polled as SeededEnvironment
    const polling = poll(flags, sdkKey, { context: user })
    await untilPending(flags, 1)
    await valueIn(flags, third as SeededEnvironment)
    expect(await metric(flags, 'ff_flag_sets')).toBe(3)
    const { environmentId } = third as SeededEnvironment
    await publish(memory, environmentId, flagChange(largeFlag('grown', 2 * HALF)))
    await until(() => socket.closedWith !== undefined)
    expect(socket.closedWith).toBe(1013)
    expect(await valueIn(flags, third as SeededEnvironment)).toBe('grown')
    await publish(memory, environmentId, flagChange(largeFlag('huge', 5 * HALF)))
    const { status, headers } = await polling
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await metric(flags, 'ff_flag_sets')).toBe(1)
    await flags.close()
  })

  it('Flag sets without live clients are dropped before one with a socket, which receives every change', async () => {
    const [[watched, ...others] = []] = await fill([HALF, HALF, HALF, HALF])
    const one = watched as SeededEnvironment
    const flags = await open()
    const socket = await watch(flags, one)
    for (let round = 0; round < 3; round += 1) {
      for (const other of others) await valueIn(flags, other)
      await publish(memory, one.environmentId, flagChange(largeFlag(`round-${round}`, HALF)))
      await until(() => socket.messages.length > 0)
      expect(socket.take()).toMatchObject([{ type: 'flags', flags: { banner: `round-${round}` } }])
    }
    expect(socket.closedWith).toBeUndefined()
    await flags.close()
  })

  it('An organization with more than half of the budget makes room for another one', async () => {
    const [many = [], [single] = []] = await fill([HALF, HALF, HALF], [100])
    const other = single as SeededEnvironment
    const flags = await open()
    await valueIn(flags, other)
    for (const environment of many.slice(0, 2)) await valueIn(flags, environment)
    expect(await metric(flags, 'ff_flag_sets')).toBe(3)
    // The growth of the other organization displaces the largest holder, not the oldest.
    const { environmentId } = other
    await publish(memory, environmentId, flagChange(largeFlag('grown', HALF / 3)))
    await expect.poll(() => metric(flags, 'ff_flag_sets'), { interval: 5 }).toBe(2)
    const loads = await metric(flags, 'ff_flag_set_loads_total')
    expect(await valueIn(flags, other)).toBe('grown')
    expect(await valueIn(flags, many[1] as SeededEnvironment)).toBe('value-1')
    expect(await metric(flags, 'ff_flag_set_loads_total')).toBe(loads)
    await flags.close()
  })

  it('The flag set of a client that connected while it was dropped is loaded within five seconds', async () => {
    const [[watched] = []] = await fill([HALF])
    const { environmentId } = watched as SeededEnvironment
    const sessions = new SessionRegistry()
    const options = { ...memory, clock, logger: silentLogger, sessions, maxFlagSetBytes: MEGABYTE }
    const cache = new FlagSetCache({ ...options, saved: new SavedState(options) })
    const keys = { listen: () => undefined, refreshIfChanged: async () => undefined } as never
    const observer = {
      begun: () => undefined,
      sent: () => undefined,
      ended: () => undefined,
    } as never
    const broadcaster = new Broadcaster({ ...options, cache, keys, observer })
    await broadcaster.start()
    const scope = { environmentId, kind: 'client', organizationId: 'one' } as EnvironmentScope
    const sent: number[] = []
    sessions.add({
      ...{ scope, transport: 'ws', version: 0, hasConfirmed: false },
      group: sessions.groupOf(scope, '{}'),
      hasVersion: (version) => sent.includes(version),
      sendChanges: ({ flagSet }) => void sent.push(flagSet.version),
      end: () => undefined,
    })
    await clock.advance(4000)
    expect(sent).toEqual([])
    await clock.advance(1000)
    expect(sent).toEqual([1])
    broadcaster.stop()
  })

  it.each([0, -1, 1.5, MEGABYTE - 1, Number.NaN, '64'])(
    'createFlagServer refuses the budget %s',
    (maxFlagSetBytes) => {
      const create = () => createFlagServer({ maxFlagSetBytes: maxFlagSetBytes as number })
      expect(create).toThrow('`maxFlagSetBytes` must be an integer of at least 1048576')
    },
  )
})

/** Opens a socket and resolves when its client has the values. */
async function watch(flags: FlagServer, { sdkKey }: SeededEnvironment): Promise<TestSocket> {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket)
  connection.receive(JSON.stringify({ type: 'init', sdkKey, context: user }))
  await until(() => socket.messages.length > 0)
  await settle()
  socket.take()
  return socket
}
