import { createPostgresSchema, reservePostgresSchema } from '../../test/postgres-schema.ts'
import {
  changeFeedContract,
  instanceReportsContract,
  rateLimiterContract,
  severalWritersContract,
  storageContract,
} from '../contract/contract.ts'
import { postgres } from './postgres.ts'

storageContract('PostgreSQL', async () => {
  const { url, create, drop } = reservePostgresSchema()
  await create()
  const { storage } = postgres({ url, listenUrl: false })
  const close = async () => {
    await storage.close()
    await drop()
  }
  return { storage, close }
})

severalWritersContract('PostgreSQL, two instances', async () => {
  const { url, drop } = await createPostgresSchema()
  const storages = [postgres({ url }).storage, postgres({ url }).storage] as const
  const close = async () => {
    for (const storage of storages) await storage.close()
    await drop()
  }
  return { storages, close }
})

changeFeedContract('PostgreSQL', async () => {
  const { url, drop } = await createPostgresSchema()
  const { storage, changeFeed } = postgres({ url })
  if (changeFeed === undefined) throw new Error('The adapter has no change feed.')
  const close = async () => {
    await storage.close()
    await drop()
  }
  return { changeFeed, close }
})

rateLimiterContract('PostgreSQL', async () => {
  const { url, create, drop } = reservePostgresSchema()
  await create()
  const { storage, rateLimiter } = postgres({ url, listenUrl: false })
  await storage.migrate()
  const close = async () => {
    await storage.close()
    await drop()
  }
  return { rateLimiter, close }
})

instanceReportsContract('PostgreSQL', async () => {
  const { url, create, drop } = reservePostgresSchema()
  await create()
  const { storage, instanceReports } = postgres({ url, listenUrl: false })
  await storage.migrate()
  const close = async () => {
    await storage.close()
    await drop()
  }
  return { instanceReports, close }
})
