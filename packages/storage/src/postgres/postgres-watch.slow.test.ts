import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openFreezingProxy } from '../../test/postgres-proxy.ts'
import { readFromPostgres } from '../../test/postgres-schema.ts'
import { newPostgresSchema, openPostgres, startListening } from '../../test/postgres-store.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { PostgresDriver } from './postgres-driver.ts'
import { postgresSettings } from './postgres-settings.ts'

/** The time from the last response of a server until pending calls fail. */
const FAILURE_MS = 1300

/** Reads the other database sessions of the same store. */
const OTHER_SESSIONS = `select pid from pg_stat_activity
  where application_name = current_setting('application_name') and pid <> pg_backend_pid()`

/** Replaces the clock of the store. The test advances it. */
function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Creates a migrated store whose clock is replaced and whose database can stop responding. */
async function openFreezing() {
  useFakeClock()
  const { url } = await newPostgresSchema()
  const proxy = await openFreezingProxy(url)
  const { storage } = openPostgres({ url: proxy.url, listenUrl: false })
  await storage.migrate()
  return { storage, ...proxy, databaseUrl: url }
}

type Storage = Awaited<ReturnType<typeof openFreezing>>['storage']

const project = (id: string) => ({
  id,
  orgId: newId(),
  key: `key-${id}`,
  name: 'Shop',
  description: '',
  newFlagsClientVisible: true,
  createdAt: '2030-01-01T00:00:00.000Z',
  updatedAt: '2030-01-01T00:00:00.000Z',
  deletedAt: null,
  revision: 1,
})

/** Returns the code of the error of a call; `none` if it succeeds. */
function failureOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(
    () => 'none',
    (error: { code?: string }) => error.code,
  )
}

/** Waits until calls succeed again. */
async function recovery(storage: Storage): Promise<void> {
  const next = async () => {
    await vi.advanceTimersByTimeAsync(100)
    return failureOf(storage.list('project', {}))
  }
  await expect.poll(next).toBe('none')
}

const write = (storage: Storage, id: string) => storage.insert('project', project(id))

describe('a PostgreSQL server that stops responding', () => {
  it('Pending calls fail within two seconds, later calls at once, and calls succeed again when it responds', async () => {
    const { storage, freeze, thaw } = await openFreezing()
    await write(storage, newId())
    freeze()
    const pending = [storage.list('project', {}), write(storage, newId()), write(storage, newId())]
    const failures = Promise.all(pending.map(failureOf))
    await vi.advanceTimersByTimeAsync(FAILURE_MS)
    // The clock has stopped, so these calls wait for no timer.
    expect(await failures).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE'])
    expect(await failureOf(storage.list('project', {}))).toBe('UNAVAILABLE')
    await expect(storage.find('project', newId())).rejects.toThrow(
      /^`url`: PostgreSQL at .* does not respond\.$/,
    )
    thaw()
    await recovery(storage)
    await write(storage, newId())
  })

  it('A write that has failed takes no effect later, also if it waited for a connection or a lock', async () => {
    const { storage, freeze, thaw, databaseUrl } = await openFreezing()
    freeze()
    const ids = Array.from({ length: 30 }, newId)
    const failures = Promise.all(ids.map((id) => failureOf(write(storage, id))))
    await vi.advanceTimersByTimeAsync(FAILURE_MS)
    expect(new Set(await failures)).toEqual(new Set(['UNAVAILABLE']))
    thaw()
    await recovery(storage)
    await storage.close()
    // PostgreSQL has executed all statements that it has received when their sessions have ended.
    await expect.poll(() => readFromPostgres(OTHER_SESSIONS, databaseUrl)).toEqual([])
    const other = openPostgres({ url: databaseUrl, listenUrl: false }).storage
    await other.migrate()
    expect((await other.list('project', {})).data).toEqual([])
  })

  it('A store whose server has never responded can be closed as soon as its calls have failed', async () => {
    useFakeClock()
    const port = await startListening(createServer(() => undefined))
    const { storage } = openPostgres({ url: `postgres://127.0.0.1:${port}/ff`, listenUrl: false })
    const failure = failureOf(storage.migrate())
    await vi.advanceTimersByTimeAsync(FAILURE_MS)
    expect(await failure).toBe('UNAVAILABLE')
    // The clock has stopped, so this call waits for no timer.
    await storage.close()
  })

  it('A slow statement does not fail', async () => {
    const { url } = await newPostgresSchema()
    const driver = new PostgresDriver(postgresSettings({ url }))
    const rows = await driver.runAlone({ sql: 'select pg_sleep(2.5), 1 as one', parameters: [] })
    expect(rows).toMatchObject([{ one: 1 }])
    await driver.close()
  })
})
