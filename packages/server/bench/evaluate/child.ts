import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Handlers of requests by name. Their results must be JSON. */
export type Answers = Readonly<Record<string, (question: never) => unknown>>

interface Message {
  readonly name: string
  readonly content: unknown
}

/**
 * A child process of this benchmark. It runs the same file with a role as its argument, on one
 * core.
 */
export class Child {
  readonly #process: ChildProcess

  private constructor(process: ChildProcess) {
    this.#process = process
  }

  static async start(role: string, core: number): Promise<Child> {
    const node = [process.execPath, ...process.execArgv, ...profiling(role), process.argv[1] ?? '']
    const command = ['--cpu-list', String(core), ...node, role]
    const child = spawn('taskset', command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    await once(child, 'message')
    return new Child(child)
  }

  /** Sends a request to the process and resolves with its response. */
  ask<T>(name: string, content: unknown = null): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error('A process of the benchmark has ended'))
      this.#process.once('exit', fail)
      this.#process.once('message', ({ answer }: { readonly answer: T }) => {
        this.#process.off('exit', fail)
        resolve(answer)
      })
      this.#process.send({ name, content })
    })
  }

  /** Disconnects the process so that it exits normally and writes its profile. */
  async end(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.disconnect()
    await ended
  }
}

/** Responds to the requests of `Child.ask` until the parent process disconnects. */
export function serveAnswers(answers: Answers): void {
  process.on('message', async ({ name, content }: Message) => {
    process.send?.({ answer: await answers[name]?.(content as never) })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ answer: 'ready' })
}

/**
 * Returns the Node options for a CPU profile. `FF_PROFILE=service` writes a profile of the process
 * with that role to the working directory.
 */
function profiling(role: string): readonly string[] {
  return process.env['FF_PROFILE'] === role
    ? ['--cpu-prof', `--cpu-prof-name=${role}.cpuprofile`]
    : []
}
