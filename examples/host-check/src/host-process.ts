import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A host that runs in another process. */
export interface HostProcess {
  /** The match of the pattern in the line that the host has printed. */
  readonly ready: RegExpExecArray
  /** Returns everything that the host has printed. */
  output(): string
  /** Sends SIGTERM, and resolves with the exit code. */
  stop(): Promise<number | null>
}

/** The program of a host. */
export interface HostProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Matches the line that the program prints when it listens. */
  readonly ready: RegExp
}

/** Starts a host in another process and waits until it listens. Throws if the process ends before. */
export async function startHostProcess(program: HostProgram): Promise<HostProcess> {
  const { command, args, env, ready } = program
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text
    })
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const found = ready.exec(line)
    // Without `resume`, a full pipe would stop the host.
    child.stdout.resume()
    if (found !== null) return { ready: found, output: () => output, stop: () => stop(child) }
  }
  console.error(output)
  throw new Error(`${command} has ended before it listened.`)
}

/** Runs a program of Node in a folder, and prints its output. Throws if it fails. */
export async function runProgram(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  const settings = { cwd, env: { ...process.env, ...env }, stdio: 'inherit' } as const
  const [code] = await once(spawn(process.execPath, args, settings), 'exit')
  if (code !== 0) throw new Error(`${args.join(' ')} has ended with the code ${code}.`)
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  return code
}
