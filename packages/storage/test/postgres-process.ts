import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { freePort } from './free-port.ts'
import { type Account, createPostgresFolder, type PostgresFolder } from './postgres-programs.ts'

const USER = 'ff'
const PASSWORD = 'test password'
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']

/** Settings for data that may be lost: no test needs it after a crash of the server. */
const NOT_DURABLE = ['fsync=off', 'full_page_writes=off']

/** The variables of the programs, which write English messages whatever the locale is. */
const ENVIRONMENT = { ...process.env, LC_ALL: 'C' }

/** What the server writes when it accepts connections. */
const READY = /database system is ready to accept (?:read-only )?connections/

/** A PostgreSQL server in a temporary folder. */
export class PostgresProcess {
  /** The URL of its database, with a superuser. */
  readonly url: string
  readonly #folder: PostgresFolder
  readonly #options: readonly string[]
  #server: ChildProcess | undefined
  #isSuspended = false

  private constructor(folder: PostgresFolder, port: number, isDurable: boolean) {
    const settings = isDurable ? SETTINGS : [...SETTINGS, ...NOT_DURABLE]
    this.#folder = folder
    this.#options = ['-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    this.url = `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`
  }

  /**
   * Starts a server on a free port. If it is durable, committed data survives `kill`. Rejects with the
   * output of PostgreSQL if it cannot start.
   */
  static async start({ isDurable }: { readonly isDurable: boolean }): Promise<PostgresProcess> {
    const folder = await createPostgresFolder(PASSWORD)
    try {
      await createCluster(folder)
      const server = new PostgresProcess(folder, await freePort(), isDurable)
      await server.restart()
      return server
    } catch (error) {
      await rm(folder.path, { recursive: true, force: true })
      throw error
    }
  }

  /**
   * Starts a standby, which has all changes that this server acknowledges from then on. The standby
   * accepts no changes itself.
   */
  async startStandby(): Promise<PostgresProcess> {
    const folder = await createPostgresFolder(PASSWORD)
    const { data, account } = folder
    const options = { ...account, cwd: folder.path }
    const client = new Client({ connectionString: this.url })
    await client.connect()
    try {
      await client.query(`select pg_backup_start('standby', true)`)
      await promisify(execFile)('cp', ['-R', '-p', this.#folder.data, data], options)
      await promisify(execFile)('rm', [join(data, 'postmaster.pid')], options)
      const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
      await writeAs(account, join(data, 'backup_label'), rows[0].labelfile)
      const standby = new PostgresProcess(folder, await freePort(), false)
      await standby.restartAsStandby(this)
      await client.query(`alter system set synchronous_standby_names = '*'`)
      await client.query('select pg_reload_conf()')
      const isAttached = `select from pg_stat_replication where sync_state = 'sync'`
      while ((await client.query(isAttached)).rowCount === 0) await delay(5)
      return standby
    } finally {
      await client.end()
    }
  }

  /** Starts the server after `kill` as a standby of another server. */
  async restartAsStandby({ url }: PostgresProcess): Promise<void> {
    const { data, account } = this.#folder
    const { port } = new URL(url)
    const source = `host=127.0.0.1 port=${port} user=${USER} password=''${PASSWORD}''`
    await writeAs(account, join(data, 'standby.signal'), '')
    await writeAs(account, join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
    await this.restart()
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    const client = new Client({ connectionString: this.url })
    await client.connect()
    await client.query('select pg_promote()')
    await client.end()
  }

  /** Kills all processes of the server at one moment. Resolves when they have ended. */
  async kill(): Promise<void> {
    await this.suspend()
    const ended = this.#ended()
    const all = await this.#signal('SIGKILL')
    await ended
    this.#isSuspended = false
    // A process that has not ended yet uses the shared memory, which prevents a start.
    while ((await runningProcesses()).some(({ pid }) => all.includes(pid))) await delay(1)
  }

  /** Starts the server again after `kill`. Resolves when it accepts connections. */
  async restart(): Promise<void> {
    const { postgres, data, account } = this.#folder
    this.#server = spawn(postgres, ['-D', data, ...this.#options], {
      ...account,
      cwd: data,
      env: ENVIRONMENT,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await accepting(this.#server)
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
    const ended = this.#ended()
    this.#server?.kill('SIGINT')
    await ended
    await rm(this.#folder.path, { recursive: true, force: true })
  }

  /** Resolves when the postmaster has ended. */
  async #ended(): Promise<void> {
    const server = this.#server
    if (server?.exitCode === null && server.signalCode === null) await once(server, 'exit')
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
    return Number.parseInt(await readFile(join(this.#folder.data, 'postmaster.pid'), 'utf8'), 10)
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

/** Writes a file that belongs to the account of a server. */
async function writeAs({ uid, gid }: Account, path: string, text: string): Promise<void> {
  await writeFile(path, text)
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
}

/** Creates the files of an empty database. */
async function createCluster(folder: PostgresFolder): Promise<void> {
  const { path, data, password, initdb, account } = folder
  const user = [`--username=${USER}`, `--pwfile=${password}`, '--auth=password']
  const options = [`--pgdata=${data}`, ...user, '--encoding=UTF8', '--locale=C', '--no-sync']
  await promisify(execFile)(initdb, options, { ...account, cwd: path, env: ENVIRONMENT })
}

/** Resolves when a starting server accepts connections. Rejects with its output if it ends. */
async function accepting(server: ChildProcess): Promise<void> {
  const kill = () => server.kill('SIGINT')
  process.once('exit', kill)
  server.once('exit', () => process.off('exit', kill))
  let log = ''
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`postgres has ended: ${log}`)))
    // The output must be read as long as the server runs, or its writes would block.
    server.stderr?.on('data', (text) => {
      if (READY.test(log)) return
      log += text
      if (READY.test(log)) resolve()
    })
  })
}
