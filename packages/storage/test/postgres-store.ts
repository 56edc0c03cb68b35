import { randomUUID } from 'node:crypto'
import type { Server } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import {
  type PostgresCapabilities,
  type PostgresOptions,
  postgres,
} from '../src/postgres/postgres.ts'
import { createPostgresSchema, type PostgresSchema, runOnPostgres } from './postgres-schema.ts'

/** Creates a store, which is closed after the test. */
export function openPostgres(options: PostgresOptions): PostgresCapabilities {
  const capabilities = postgres(options)
  onTestFinished(() => capabilities.storage.close())
  return capabilities
}

/** Creates a schema without tables, which is dropped after the test. */
export async function newPostgresSchema(): Promise<PostgresSchema> {
  const schema = await createPostgresSchema()
  onTestFinished(schema.drop)
  return schema
}

/** Creates a migrated store in a new schema. */
export async function openMigratedPostgres(options: Partial<PostgresOptions> = {}) {
  const schema = await newPostgresSchema()
  const capabilities = openPostgres({ url: schema.url, listenUrl: false, ...options })
  await capabilities.storage.migrate()
  return { ...capabilities, ...schema }
}

/** Starts a server on a free port, closes it after the test, and returns the port. */
export async function startListening(server: Server): Promise<number> {
  onTestFinished(() => {
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/**
 * Creates a role with a limit of connections, and returns the URL of a schema with it. Both are
 * dropped after the test.
 */
export async function urlWithLimit(limit: number): Promise<string> {
  const { url } = await newPostgresSchema()
  const username = `few_${randomUUID().replaceAll('-', '')}`
  await runOnPostgres(`create role ${username} login superuser password 'few' connection limit -1`)
  await runOnPostgres(`alter role ${username} nosuperuser connection limit ${limit}`)
  await runOnPostgres(`grant pg_read_all_data, pg_write_all_data to ${username}`)
  const grant = `execute format('grant all on schema %I to ${username}', current_schema())`
  await runOnPostgres(`do 'begin ${grant.replaceAll("'", "''")}; end'`, url)
  onTestFinished(async () => {
    await expect
      .poll(() =>
        runOnPostgres(`drop owned by ${username}; drop role ${username}`).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
  })
  return Object.assign(new URL(url), { username, password: 'few' }).href
}
