import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { IS_FULL } from '../../../server/test/drills/scale.ts'

const TOKEN = 'development-token'
const LOADER = new URL('../../../storage/test/typescript-loader.js', import.meta.url).href
const PACKAGES = IS_FULL ? [] : ['--conditions=@ff/source', `--import=${LOADER}`]
const PROGRAM = fileURLToPath(new URL('serving.js', import.meta.url))

interface ServedFileOptions {
  /** The key of a project that is created with the flag `counter`. */
  readonly project?: string
  /** The maximum size of the old generation of the heap. */
  readonly heapMiB?: number
  /** The maximum memory for flag sets. */
  readonly flagSetBytes?: number
}

/** A data file, and the server of it, which runs in a process and can be killed. */
export class ServedFile {
  readonly path: string
  readonly url: string
  readonly #options: ServedFileOptions
  #server: ChildProcess | undefined

  private constructor(path: string, port: number, options: ServedFileOptions) {
    this.path = path
    this.url = `http://127.0.0.1:${port}`
    this.#options = options
  }

  /** Creates the place of a data file, which is deleted after the test. */
  static async create(options: ServedFileOptions = {}): Promise<ServedFile> {
    const folder = await mkdtemp(join(tmpdir(), 'ff-served-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    return new ServedFile(join(folder, 'flags.db'), await freePort(), options)
  }

  /** Starts the server, and resolves when it is listening. */
  async start(): Promise<void> {
    const { heapMiB, project = '', flagSetBytes = '' } = this.#options
    const heap = heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`]
    const parameters = [this.path, new URL(this.url).port, TOKEN, project, String(flagSetBytes)]
    const child = spawn(process.execPath, [...heap, ...PACKAGES, PROGRAM, ...parameters], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#server = child
    onTestFinished(() => {
      child.kill('SIGKILL')
    })
    const ended = once(child, 'exit').then(() => {
      throw new Error('The server has ended before it was listening')
    })
    await Promise.race([once(child.stdout, 'data'), ended])
    ended.catch(() => undefined)
  }

  /** `false` if the server has ended by itself. */
  get isRunning(): boolean {
    return this.#server?.exitCode === null && this.#server.signalCode === null
  }

  /** Kills the server and starts it again. */
  async restart(): Promise<void> {
    if (this.#server === undefined) throw new Error('The server was not started.')
    this.#server.kill('SIGKILL')
    await once(this.#server, 'exit')
    await this.start()
  }

  /** Sends a management request, and returns the data of the response. */
  async manage<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(this.url + path, init)
    const { data, message } = (await response.json()) as { data: T; message: string }
    if (!response.ok) throw new Error(message)
    return data
  }

  /** Returns the value of one of the server's metrics without labels. */
  async metric(name: string): Promise<number> {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const text = await (await fetch(`${this.url}/metrics`, { headers })).text()
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}
