import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { freePort } from './free-port.ts'

const SETTINGS = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()]

/** A Redis server without persistence. */
export class RedisProcess {
  readonly port: number
  /** The URL of its database 0. */
  readonly url: string
  readonly #settings: readonly string[]
  #server: ChildProcess | undefined

  private constructor(port: number, settings: readonly string[]) {
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.#settings = settings
  }

  /** Starts a server on a free port. Rejects with `ENOENT` if the program is not installed. */
  static async start(settings: readonly string[] = []): Promise<RedisProcess> {
    const server = new RedisProcess(await freePort(), settings)
    await server.restart()
    return server
  }

  /** Starts the server after `stop`, without data. Resolves when it accepts connections. */
  async restart(): Promise<void> {
    const options = ['--port', String(this.port), ...SETTINGS, ...this.#settings]
    const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] })
    const kill = () => server.kill('SIGKILL')
    process.once('exit', kill)
    server.once('exit', () => process.off('exit', kill))
    let log = ''
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.once('exit', () => reject(new Error(`redis-server has ended: ${log}`)))
      server.stdout.on('data', (text) => {
        log += text
        if (log.includes('Ready to accept connections')) resolve()
      })
    })
    this.#server = server
  }

  /** Suspends the server: connections remain open, but receive no response. */
  suspend(): void {
    this.#server?.kill('SIGSTOP')
  }

  /** Resumes the server after `suspend`. */
  resume(): void {
    this.#server?.kill('SIGCONT')
  }

  /** Kills the server, which may be suspended. Has no effect if it does not run. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
}
