import { expect, it } from 'vitest'
import { connectionsOf, openStore, placeOf } from './store.ts'

it('Each process has connections for reading and writing, and one that listens', () => {
  for (const [connections, processes, read, write] of [
    [40, 1, 10, 10],
    [40, 2, 10, 9],
    [40, 8, 2, 2],
    [40, 13, 1, 1],
    [3, 1, 1, 1],
    [4, 1, 2, 1],
  ] as const) {
    expect(connectionsOf({ connections }, processes)).toEqual({
      readConnections: read,
      writeConnections: write,
    })
    expect((read + write + 1) * processes).toBeLessThanOrEqual(connections)
  }
})

it('The place of a database has no user and no password', () => {
  const database = { url: 'postgres://ff:secret@db.internal/flags', connections: 40 }
  expect(placeOf({ dataDir: '/data', database })).toBe('PostgreSQL at db.internal:5432/flags')
  expect(placeOf({ dataDir: '/data' })).toBe('/data')
})

it('A server listens for changes in the database unless DATABASE_LISTEN_URL or Redis excludes it', async () => {
  const url = 'postgres://ff@pooler/flags'
  const hasFeed = async (listenUrl?: string | false, redisUrl?: string) => {
    const database = { url, connections: 40, ...(listenUrl !== undefined && { listenUrl }) }
    const store = openStore({ dataDir: '/data', database, redisUrl })
    await store.storage.close()
    return store.changeFeed !== undefined
  }
  expect(await hasFeed()).toBe(true)
  expect(await hasFeed('postgres://ff@localhost/flags')).toBe(true)
  expect(await hasFeed(false)).toBe(false)
  expect(await hasFeed('postgres://ff@localhost/flags', 'redis://localhost')).toBe(false)
  await expect(hasFeed('localhost')).rejects.toThrow('`listenUrl` must be a URL')
})
