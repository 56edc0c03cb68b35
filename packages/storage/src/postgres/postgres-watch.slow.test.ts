import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openFreezingProxy } from '../../test/postgres-proxy.ts'
import { newPostgresSchema, openPostgres, startListening } from '../../test/postgres-store.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { PostgresDriver } from './postgres-driver.ts'
import { postgresSettings } from './postgres-settings.ts'

const SLOW = { timeout: 30_000 }

/** Creates a migrated store whose database can stop responding. */
async function openFreezing() {
  const { url } = await newPostgresSchema()
  const proxy = await openFreezingProxy(url)
  const { storage } = openPostgres({ url: proxy.url, listenUrl: false })
  await storage.migrate()
  return { storage, ...proxy }
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

/** Returns the code of the error of a call, and the milliseconds until it failed. */
async function failureOf(call: Promise<unknown>) {
  const begunAt = performance.now()
  const code = await call.then(
    () => 'none',
    (error: { code?: string }) => error.code,
  )
  return { code, ms: performance.now() - begunAt }
}

const write = (storage: Storage, id: string) => storage.insert('project', project(id))

describe('a PostgreSQL server that stops responding', SLOW, () => {
  it('Pending calls fail within two seconds, later calls at once, and calls succeed again when it responds', async () => {
    const { storage, freeze, thaw } = await openFreezing()
    await write(storage, newId())
    freeze()
    const pending = [storage.list('project', {}), write(storage, newId()), write(storage, newId())]
    for (const { code, ms } of await Promise.all(pending.map(failureOf))) {
      expect(code).toBe('UNAVAILABLE')
      expect(ms).toBeLessThan(2000)
    }
    const later = await failureOf(storage.list('project', {}))
    expect(later.code).toBe('UNAVAILABLE')
    expect(later.ms).toBeLessThan(100)
    await expect(storage.find('project', newId())).rejects.toThrow(
      /^`url`: PostgreSQL at .* does not respond\.$/,
    )
    thaw()
    await expect
      .poll(() => failureOf(storage.list('project', {})), SLOW)
      .toMatchObject({ code: 'none' })
    await write(storage, newId())
  })

  it('A write that has failed takes no effect later, also if it waited for a connection or a lock', async () => {
    const { storage, freeze, thaw } = await openFreezing()
    freeze()
    const ids = Array.from({ length: 30 }, newId)
    const failures = await Promise.all(ids.map((id) => failureOf(write(storage, id))))
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['UNAVAILABLE']))
    thaw()
    await expect
      .poll(() => failureOf(storage.list('project', {})), SLOW)
      .toMatchObject({ code: 'none' })
    await delay(500)
    expect((await storage.list('project', {})).data).toEqual([])
  })

  it('A store whose server has never responded can be closed as soon as its calls have failed', async () => {
    const port = await startListening(createServer(() => undefined))
    const { storage } = openPostgres({ url: `postgres://127.0.0.1:${port}/ff`, listenUrl: false })
    expect((await failureOf(storage.migrate())).code).toBe('UNAVAILABLE')
    expect((await failureOf(storage.close())).ms).toBeLessThan(2000)
  })

  it('A slow statement does not fail', async () => {
    const { url } = await newPostgresSchema()
    const driver = new PostgresDriver(postgresSettings({ url }))
    const rows = await driver.runAlone({ sql: 'select pg_sleep(2.5), 1 as one', parameters: [] })
    expect(rows).toMatchObject([{ one: 1 }])
    await driver.close()
  })
})
