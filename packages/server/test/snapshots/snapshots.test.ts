import { existsSync, statSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { snapshotFolder } from '@ff/storage/snapshots'
import { beforeEach, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { FlagServerOptions } from '../../src/options.ts'
import type { Logger } from '../../src/runtime/logger.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { call, evaluate, metric } from '../call.ts'
import { type AllCapabilities, allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, until } from '../fake-clock.ts'
import {
  addEnvironment,
  addSdkKey,
  flagChange,
  publish,
  type SeededEnvironment,
  seed,
  textFlag,
} from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

const user = { kind: 'user', key: 'u1' }
const shop = { project: 'shop', environment: 'live' }

let folder: string
let memory: AllCapabilities
let live: SeededEnvironment
let lines: string[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ff-snapshots-'))
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  lines = []
  await set('hello')
  return () => rm(folder, { recursive: true, force: true })
})

const set = (value: string, at = memory) =>
  publish(at, live.environmentId, flagChange(textFlag('banner', value)))

const logger: Logger = {
  ...silentLogger,
  info: (message) => void lines.push(`info: ${message}`),
  error: (message) => void lines.push(`error: ${message}`),
}

/** Creates a server that saves its state in the folder. */
function server(capabilities: FlagServerOptions, clock = new FakeClock(Date.now())) {
  const snapshots = snapshotFolder({ path: folder })
  return createFlagServer({ ...capabilities, snapshots, clock, logger })
}

type Use = (flags: FlagServer, clock: FakeClock) => Promise<unknown>

/** Starts a server, which serves the live environment and saves its state. */
async function saveState(use: Use = async () => undefined) {
  const clock = new FakeClock(Date.now())
  // The next server has the same store, so this server must not close it.
  const storage = { ...memory.storage, close: async () => undefined }
  const flags = server({ ...memory, storage }, clock)
  await evaluate(flags, live.sdkKey, user)
  await flags.value(shop, 'banner', user, '')
  await use(flags, clock)
  await flags.close()
}

/** Creates a server whose store is unavailable. */
function withoutStore() {
  const store = breakable(memory.storage)
  store.break()
  const clock = new FakeClock(Date.now())
  return { store, clock, flags: server({ ...memory, storage: store.storage }, clock) }
}

const bannerOf = async (flags: FlagServer, key = live.sdkKey) => {
  const { status, body } = await evaluate(flags, key, user)
  return status === 200 ? body : status
}

const readyOf = async (flags: FlagServer) => {
  const { status, body } = await call(flags, '/ready', { method: 'GET' })
  return { status, ...(body as { data: object | null }).data }
}

it('A server whose store is unavailable serves the saved flags to saved keys, over HTTP, sockets and in process [A4]', async () => {
  await saveState()
  const { flags } = withoutStore()
  await flags.start()
  expect(await bannerOf(flags)).toEqual({ banner: 'hello' })
  expect(await flags.value(shop, 'banner', user, 'fallback')).toBe('hello')
  expect(await flags.value(live, 'banner', user, 'fallback')).toBe('hello')
  const socket = new TestSocket()
  const init = { type: 'init', sdkKey: live.sdkKey, context: user }
  flags.acceptSocket(socket).receive(JSON.stringify(init))
  await until(() => socket.messages.length > 0)
  expect(socket.take()).toMatchObject([{ type: 'flags', flags: { banner: 'hello' } }])
  await flags.close()
})

it('The server is stale since the last contact with the store until it is available, and then delivers the changes', async () => {
  await saveState()
  const { flags, store, clock } = withoutStore()
  const socket = new TestSocket()
  expect(await bannerOf(flags)).toEqual({ banner: 'hello' })
  flags
    .acceptSocket(socket)
    .receive(JSON.stringify({ type: 'init', sdkKey: live.sdkKey, context: user }))
  await until(() => socket.messages.length > 0)
  const { status, ...state } = await readyOf(flags)
  expect({ status, ...state }).toMatchObject({ status: 'stale' })
  const since = Date.parse((state as { since?: string }).since ?? '')
  expect(Math.abs(since - Date.now())).toBeLessThan(60_000)
  const added = await addSdkKey(memory.storage, live)
  expect(await bannerOf(flags, added.sdkKey)).toBe(500)
  await set('changed')
  store.repair()
  await clock.advance(1000)
  await until(() => socket.messages.length > 1)
  expect(socket.take().at(-1)).toMatchObject({ flags: { banner: 'changed' } })
  expect(await readyOf(flags)).toEqual({ status: 'ready' })
  expect(await bannerOf(flags, added.sdkKey)).toEqual({ banner: 'changed' })
  expect(lines.at(-1)).toBe('info: A flag set is up to date again')
  await flags.close()
})

it('A server whose store does not respond serves the saved flags after a quarter of a second', async () => {
  await saveState()
  const clock = new FakeClock(Date.now())
  const silent = { ...memory.storage, migrate: () => new Promise<void>(() => undefined) }
  const flags = server({ ...memory, storage: { ...silent, close: async () => undefined } }, clock)
  let isStarted = false
  const starting = flags.start().then(() => {
    isStarted = true
  })
  await until(() => clock.timers > 0)
  await clock.advance(249)
  expect(isStarted).toBe(false)
  await clock.advance(1)
  await starting
  expect(await bannerOf(flags)).toEqual({ banner: 'hello' })
  await flags.close()
})

it('A server whose store is unavailable at the start does not wait for the rate limiter, and uses it once it responds', async () => {
  await saveState()
  const store = breakable(memory.storage)
  store.break()
  const clock = new FakeClock(Date.now())
  const answers: ((granted: number) => void)[] = []
  const lease = () => new Promise<number>((resolve) => answers.push(resolve))
  const flags = server({ ...memory, storage: store.storage, rateLimiter: { lease } }, clock)
  await flags.start()
  for (let n = 0; n < 100; n += 1) expect(await bannerOf(flags)).toEqual({ banner: 'hello' })
  expect(answers).toHaveLength(1)
  answers[0]?.(1)
  await until(() => lines.includes('info: The rate limiter responds again'))
  await flags.close()
})

it('A revoked key is removed from the saved keys', async () => {
  const { sdkKey, id } = await addSdkKey(memory.storage, live)
  await saveState(async (flags, clock) => {
    expect(await bannerOf(flags, sdkKey)).toEqual({ banner: 'hello' })
    await clock.advance(1000)
    await until(() => existsSync(join(folder, 'sdk-keys.snapshot')))
    await memory.storage.update('sdkKey', id, { revokedAt: new Date().toISOString() })
    await memory.changeFeed.publish({ type: 'sdkKeys' })
    expect(await bannerOf(flags, sdkKey)).toBe(401)
  })
  const { flags } = withoutStore()
  expect(await bannerOf(flags, sdkKey)).toBe(500)
  expect(await bannerOf(flags)).toEqual({ banner: 'hello' })
  await flags.close()
})

it('The saved state contains no SDK key, only hashes', async () => {
  await saveState()
  for (const file of await readdir(folder)) {
    expect(await readFile(join(folder, file), 'utf8')).not.toContain(live.sdkKey)
  }
})

it('An environment whose first use follows the failure of the store has the saved flags', async () => {
  await saveState()
  const store = breakable(memory.storage)
  const flags = server({ ...memory, storage: store.storage })
  await flags.start()
  store.break()
  expect(await bannerOf(flags)).toEqual({ banner: 'hello' })
  expect(lines).toContain('error: The store is unavailable; a saved flag set is used')
  await flags.close()
})

it('A store that was restored from a backup replaces newer saved flags', async () => {
  const backup = memory
  await set('newer')
  await saveState()
  memory = allInMemory()
  for (const kind of ['organization', 'project', 'environment', 'sdkKey'] as const) {
    await memory.storage.migrate()
    const { data } = await backup.storage.list(kind, {})
    for (const record of data) await memory.storage.insert(kind, record as never)
  }
  await set('older')
  const { flags, store, clock } = withoutStore()
  expect(await bannerOf(flags)).toEqual({ banner: 'newer' })
  store.repair()
  await clock.advance(1000)
  await until(() => lines.includes('info: A flag set is up to date again'))
  expect(await bannerOf(flags)).toEqual({ banner: 'older' })
  await flags.close()
})

it('Saved flags and keys are confirmed while the store has nothing newer', async () => {
  await saveState(async (_flags, clock) => {
    await clock.advance(1000)
    const names = [`flag-set-${live.environmentId}`, 'sdk-keys']
    const files = names.map((name) => join(folder, `${name}.snapshot`))
    await until(() => files.every(existsSync))
    for (const file of files) await utimes(file, 0, 0)
    await clock.advance(70_000)
    const age = (file: string) => Math.abs(statSync(file).mtimeMs - clock.now())
    await until(() => files.every((file) => age(file) < 70_000))
  })
})

it('A start removes snapshots that were not confirmed for a week, once the store is available', async () => {
  await saveState()
  const unused = join(folder, 'flag-set-unused.snapshot')
  const week = 7 * 24 * 3600
  await writeFile(unused, '')
  await utimes(unused, 0, Date.now() / 1000 - week - 60)
  const { flags, store, clock } = withoutStore()
  await flags.start()
  expect(existsSync(unused)).toBe(true)
  store.repair()
  await clock.advance(1000)
  await until(() => !existsSync(unused))
  expect(await bannerOf(flags)).toEqual({ banner: 'hello' })
  await flags.close()
})

it('A damaged snapshot is ignored with an error, and the server needs the store [A5]', async () => {
  await saveState()
  const damage = async (part: string) => {
    const name = (await readdir(folder)).find((each) => each.startsWith(part)) ?? ''
    await writeFile(join(folder, name), 'ff-snapshot 1\n{"fl')
  }
  await damage('flag-set')
  const first = withoutStore()
  expect(await bannerOf(first.flags)).toBe(500)
  expect(lines).toContain('error: A snapshot is ignored')
  first.store.repair()
  await first.clock.advance(1000)
  expect(await bannerOf(first.flags)).toEqual({ banner: 'hello' })
  await damage('sdk-keys')
  const second = withoutStore()
  await expect(second.flags.start()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  second.store.repair()
  expect(await bannerOf(second.flags)).toEqual({ banner: 'hello' })
  await second.flags.close()
})

it('Without a saved state, the start needs the store, and the probe fails until then', async () => {
  const { flags, store } = withoutStore()
  await expect(flags.start()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect((await call(flags, '/ready', { method: 'GET' })).status).toBe(503)
  store.repair()
  expect(await readyOf(flags)).toEqual({ status: 'ready' })
  await flags.close()
})

it('A folder that cannot be used refuses the start with the name of the option', async () => {
  await writeFile(join(folder, 'file'), '')
  const snapshots = snapshotFolder({ path: join(folder, 'file') })
  const flags = createFlagServer({ ...memory, snapshots, logger })
  await expect(flags.start()).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: `\`path\`: The folder ${join(folder, 'file')} is a file.`,
  })
  await flags.close()
})

it('A folder that fails later is logged once, and evaluation continues', async () => {
  const flags = server(memory)
  await flags.start()
  await rm(folder, { recursive: true })
  expect(await bannerOf(flags)).toEqual({ banner: 'hello' })
  await flags.close()
  expect(lines.filter((line) => line === 'error: Snapshots cannot be saved')).toHaveLength(1)
})

it('A start loads the environments that were in use before it, as far as the memory suffices', async () => {
  const second = await addLarge('second')
  const third = await addLarge('third')
  const unused = await addLarge('unused')
  await saveState(async (flags, clock) => {
    await untilUsedIsSaved(clock, async () => {
      for (const { sdkKey } of [second, third]) await evaluate(flags, sdkKey, user)
    })
  })
  const flags = server({ ...memory, maxFlagSetBytes: 1024 * 1024, metricsArePublic: true })
  await flags.start()
  await expect.poll(() => metric(flags, 'ff_flag_sets'), { interval: 5 }).toBe(2)
  for (const { sdkKey } of [third, second]) await evaluate(flags, sdkKey, user)
  expect(await metric(flags, 'ff_flag_set_loads_total')).toBe(2)
  await evaluate(flags, unused.sdkKey, user)
  expect(await metric(flags, 'ff_flag_set_loads_total')).toBe(3)
  await flags.close()
})

it('After a start, the environment that was used last before it is dropped last', async () => {
  const older = await addLarge('older')
  const newer = await addLarge('newer')
  const other = await addLarge('other')
  await saveState(async (flags, clock) => {
    await untilUsedIsSaved(clock, async () => {
      for (const { sdkKey } of [older, newer]) await evaluate(flags, sdkKey, user)
    })
  })
  const flags = server({ ...memory, maxFlagSetBytes: 1024 * 1024, metricsArePublic: true })
  await flags.start()
  await expect.poll(() => metric(flags, 'ff_flag_sets'), { interval: 5 }).toBe(2)
  for (const { sdkKey } of [other, newer]) await evaluate(flags, sdkKey, user)
  expect(await metric(flags, 'ff_flag_set_loads_total')).toBe(3)
  await flags.close()
})

it('A server that is closed before it has loaded the environments in use keeps them for the next start', async () => {
  await saveState((flags, clock) => {
    return untilUsedIsSaved(clock, () => evaluate(flags, live.sdkKey, user))
  })
  const storage = { ...memory.storage, close: async () => undefined }
  const closed = server({ ...memory, storage })
  await closed.start()
  await closed.close()
  const flags = server({ ...memory, metricsArePublic: true })
  await flags.start()
  await expect.poll(() => metric(flags, 'ff_flag_sets'), { interval: 5 }).toBe(1)
  await flags.close()
})

it('The environments in use are saved every minute, so that they are known after a kill, too', async () => {
  const clock = new FakeClock(Date.now())
  const killed = server(memory, clock)
  await killed.start()
  await untilUsedIsSaved(clock, () => evaluate(killed, live.sdkKey, user))
  await killed.close()
})

/** Lets minutes pass until the environments in use are saved. Each minute begins with `use`. */
async function untilUsedIsSaved(clock: FakeClock, use: () => Promise<unknown>): Promise<void> {
  const isSaved = async () => {
    await use()
    await clock.advance(60_000)
    await clock.advance(1000)
    return (await readdir(folder)).some((name) => name.startsWith('used'))
  }
  await expect.poll(isSaved, { interval: 5 }).toBe(true)
}

/** Adds an environment of which two fit in one MiB. */
async function addLarge(key: string): Promise<SeededEnvironment> {
  const added = await addEnvironment(memory.storage, live.projectId, key)
  const value = 'x'.repeat(190_000)
  await publish(memory, added.environmentId, flagChange(textFlag('banner', value)))
  return added
}
