import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { startForTests } from '../../../scripts/test-programs.ts'
import { PostgresProcess } from './postgres-process.ts'

/** The key of the shared server in the global object. */
const SHARED: unique symbol = Symbol.for('ff.test-postgres')

/** The server of a test run. */
interface TestServer {
  readonly url: string
  /** Stops the server, or drops the schemas of the test run if the server must keep running. */
  readonly stop: () => Promise<void>
}

/** The server that the projects of this process share, each of which loads this file. */
interface SharedServer {
  readonly schemas: string
  readonly starting: Promise<TestServer | undefined>
  projects: number
}

const shared = globalThis as { [SHARED]?: SharedServer }

/**
 * Starts a PostgreSQL server in a temporary folder for all projects of the test run, unless
 * `FF_TEST_POSTGRES_URL` has the URL of a server. Returns the function that ends its use.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared[SHARED] ??= shareServer()
  const server = shared[SHARED]
  server.projects += 1
  const running = await server.starting
  project.provide('postgresUrl', running?.url ?? '')
  project.provide('postgresSchemas', server.schemas)
  return async () => {
    server.projects -= 1
    if (server.projects > 0) return
    delete shared[SHARED]
    await running?.stop()
  }
}

function shareServer(): SharedServer {
  const schemas = `ff_test_${randomUUID().slice(0, 8)}_`
  const url = process.env['FF_TEST_POSTGRES_URL']
  const running = url === undefined ? startServer() : { url, stop: () => dropSchemas(url, schemas) }
  return { schemas, starting: Promise.resolve(running), projects: 0 }
}

async function startServer(): Promise<TestServer | undefined> {
  const start = () => PostgresProcess.start({ isDurable: false })
  const server = await startForTests({ name: 'PostgreSQL', isRequired: true, start })
  return server && { url: server.url, stop: () => server.remove() }
}

/** Drops the schemas whose names start with a text. */
async function dropSchemas(url: string, start: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const names = 'select nspname as name from pg_namespace where starts_with(nspname, $1)'
    const { rows } = await client.query<{ name: string }>(names, [start])
    // One transaction for all could exceed the maximum number of locks.
    for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
  } finally {
    await client.end()
  }
}
