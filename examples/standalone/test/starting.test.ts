import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { environmentOf, PARAMETERS, RunningStandalone } from './running-standalone.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ff-starting-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const dataDir = () => join(folder, 'data')

/** Waits until a server creates its data folder, which is one of the first steps of its start. */
async function untilStarting(): Promise<void> {
  while (!existsSync(dataDir())) await pause(1)
}

describe('A signal during the start', () => {
  it.each([
    ['SIGTERM', '1'],
    ['SIGINT', '2'],
  ] as const)(
    '%s ends a server of %s process(es) with code 0, and the next start works',
    async (signal, workers) => {
      const env = { FF_WORKERS: workers, FF_LOG_LEVEL: 'silent' }
      const first = new RunningStandalone(env, dataDir())
      await untilStarting()
      first.stop(signal)
      expect(await first.ended, first.log).toBe(0)
      expect(first.log).toBe('')
      const second = new RunningStandalone(env, dataDir())
      await second.listening()
      second.stop(signal)
      expect(await second.ended, second.log).toBe(0)
    },
  )

  it.runIf(hasNamespaces())(
    'As the first process of a container, the server ends too',
    async () => {
      const server = spawn(
        'unshare',
        ['--pid', '--fork', '--kill-child', process.execPath, ...PARAMETERS],
        {
          env: environmentOf({ FF_DATA_DIR: dataDir() }),
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      )
      const log = text(server.stderr)
      // The id outside of the namespace.
      const child = () =>
        Number(spawnSync('pgrep', ['-P', String(server.pid)], { encoding: 'utf8' }).stdout)
      await expect.poll(child).toBeGreaterThan(0)
      await untilStarting()
      process.kill(child(), 'SIGTERM')
      const [code] = await once(server, 'exit')
      expect(code, await log).toBe(0)
    },
  )
})

function hasNamespaces(): boolean {
  return spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0
}

it('Workers of the cluster of another program exit with one line that says how to start', () => {
  const primary = join(folder, 'primary.mjs')
  writeFileSync(
    primary,
    `import cluster from 'node:cluster'
     cluster.setupPrimary({ exec: ${JSON.stringify(PARAMETERS.at(-1))}, execArgv: ${JSON.stringify(PARAMETERS.slice(0, -1))} })
     const codes = []
     for (let n = 0; n < 2; n += 1) cluster.fork().on('exit', (code) => codes.push(code))
     process.on('exit', () => console.log(codes.join()))`,
  )
  const env = environmentOf({ FF_DATA_DIR: dataDir() })
  const { stdout, stderr } = spawnSync(process.execPath, [primary], { env, encoding: 'utf8' })
  expect(stdout).toBe('1,1\n')
  const lines = new Set(stderr.trim().split('\n'))
  expect([...lines]).toEqual([
    'ff cannot run: Another program, such as PM2 in cluster mode, has started it as a worker of its cluster. Start it as one process (pm2 start dist/main.js --exec-mode fork --instances 1), and set FF_WORKERS for more processes.',
  ])
})
