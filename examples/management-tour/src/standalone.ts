import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SERVER = join(import.meta.dirname, '../../standalone/dist/main.js')

/** A running standalone server. */
export interface Standalone {
  readonly url: string
  /** Stops the server and removes its data. Throws if the exit code is not 0. */
  stop(): Promise<void>
}

/** Runs the built self-hosted server on a free port, with a new data directory. */
export async function startStandalone(
  settings: Readonly<Record<string, string>>,
): Promise<Standalone> {
  const folder = mkdtempSync(join(tmpdir(), 'ff-tour-'))
  const child = spawn(process.execPath, [SERVER], {
    env: { ...process.env, PORT: '0', FF_DATA_DIR: join(folder, 'data'), ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  // Stops the server even if the tour fails.
  process.once('exit', () => child.kill())
  let output = ''
  let url: string | undefined
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  while (url === undefined) {
    const [code] = await Promise.race([once(child.stdout, 'data'), ended])
    if (typeof code === 'number') throw new Error(`the server exited with code ${code}`)
    url = /running at (\S+)\s/.exec(output)?.[1]
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      const [code] = await ended
      rmSync(folder, { recursive: true, force: true })
      if (code !== 0) throw new Error(`the server exited with code ${code}`)
    },
  }
}
