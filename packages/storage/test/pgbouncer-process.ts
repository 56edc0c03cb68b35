import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** PgBouncer refuses to run as `root`. */
const UNPRIVILEGED = process.getuid?.() === 0 ? ['-u', 'nobody'] : []

/**
 * A PgBouncer that assigns a connection of a PostgreSQL server to each transaction. The connections
 * are assigned in turn, so that consecutive transactions of one client are in different database
 * sessions.
 */
export class PgBouncerProcess {
  /** The URL. Any other database of the server can be its path. */
  readonly url: string
  readonly #program: ChildProcess

  private constructor(program: ChildProcess, port: number) {
    this.#program = program
    this.url = `postgres://any@127.0.0.1:${port}/postgres`
  }

  /** Starts it before a server. Rejects with `ENOENT` if the program is not installed. */
  static async start(serverUrl: string): Promise<PgBouncerProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'ff-pgbouncer-'))
    const [port, path] = [await freePort(), join(folder, 'pgbouncer.ini')]
    await writeFile(path, configuration(new URL(serverUrl), port))
    const program = spawn('pgbouncer', [...UNPRIVILEGED, path], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const kill = () => program.kill('SIGKILL')
    process.once('exit', kill)
    program.once('exit', () => process.off('exit', kill))
    try {
      await isUp(program)
    } finally {
      await rm(folder, { recursive: true })
    }
    return new PgBouncerProcess(program, port)
  }

  /** Stops it, and closes all connections. */
  async stop(): Promise<void> {
    const ended = once(this.#program, 'exit')
    this.#program.kill('SIGKILL')
    await ended
  }
}

function configuration({ hostname, port, username, password }: URL, listenPort: number): string {
  const secret = decodeURIComponent(password).replaceAll("'", "''")
  return `
[databases]
* = host=${hostname} port=${port || 5432} user=${decodeURIComponent(username)} password='${secret}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_round_robin = 1
`
}

/** Resolves when the program accepts connections. */
async function isUp(program: ChildProcess): Promise<void> {
  let log = ''
  await new Promise<void>((resolve, reject) => {
    program.once('error', reject)
    program.once('exit', () => reject(new Error(`pgbouncer has ended: ${log}`)))
    program.stderr?.on('data', (text) => {
      log += text
      if (log.includes('process up')) resolve()
    })
  })
}
