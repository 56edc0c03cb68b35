import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IS_FULL, report } from '../../../packages/server/test/drills/scale.ts'
import { freePort } from '../../../packages/storage/test/free-port.ts'
import { PostgresProcess } from '../../../packages/storage/test/postgres-process.ts'
import { startListening } from '../../../packages/storage/test/postgres-store.ts'
import { RunningStandalone } from './running-standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const FLAG = '/projects/shop/envs/live/flags/checkout-enabled'

const folder = mkdtempSync(join(tmpdir(), 'ff-standalone-snapshots-'))
const snapshotDir = join(folder, 'snapshots')
const running = new Set<RunningStandalone>()
let database: PostgresProcess

function start(env: Record<string, string> = {}): RunningStandalone {
  const standalone = new RunningStandalone(
    {
      DATABASE_URL: database.url,
      FF_SECRET_KEY: 'ab'.repeat(32),
      FF_ADMIN_TOKEN: ADMIN_TOKEN,
      FF_SNAPSHOT_DIR: snapshotDir,
      ...env,
    },
    join(folder, 'never-created'),
  )
  running.add(standalone)
  return standalone
}

async function stop(standalone: RunningStandalone): Promise<void> {
  standalone.stop('SIGTERM')
  expect(await standalone.ended).toBe(0)
  running.delete(standalone)
}

beforeAll(async () => {
  database = await PostgresProcess.start({ isDurable: true })
})

afterAll(async () => {
  for (const standalone of running) await standalone.kill()
  await database.remove()
  rmSync(folder, { recursive: true, force: true })
})

const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }

async function setActive(url: string, isActive: boolean): Promise<number> {
  const body = JSON.stringify({ is_active: isActive })
  return (await fetch(url + FLAG, { method: 'PUT', headers, body })).status
}

interface State {
  readonly status: string
  readonly since?: string
}

async function stateOf(url: string): Promise<State> {
  const { data } = (await (await fetch(`${url}/ready`)).json()) as { data: State }
  return data
}

/** Returns `true` if a snapshot has the newest version of the environment of the flag. */
async function isNewestSaved(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/projects/shop/envs/live/versions?limit=1`, { headers })
  const { data } = (await answer.json()) as { data: { data: { version: number }[] } }
  const newest = `"version":${data.data[0]?.version},`
  const files = readdirSync(snapshotDir).filter((name) => /^flag-set-.*\.snapshot$/.test(name))
  return files.some((name) => readFileSync(join(snapshotDir, name), 'utf8').includes(newest))
}

const statusOf = async (url: string) => (await stateOf(url)).status

describe('a server with FF_SNAPSHOT_DIR whose database is unavailable at the start', () => {
  let sdkKey = ''

  async function isCheckoutEnabled(url: string): Promise<unknown> {
    const body = JSON.stringify({ context: { kind: 'user', key: 'u1' } })
    const request = { method: 'POST', headers: { ...headers, 'x-api-key': sdkKey }, body }
    const answer = await fetch(`${url}/evaluator/evaluate`, request)
    if (answer.status !== 200) return answer.status
    return ((await answer.json()) as Record<string, unknown>)['checkout-enabled']
  }

  /** Starts a server that serves saved flags, and reports the time to the first value. */
  async function startStale(what: string, env: Record<string, string>, limitMs: number) {
    const begunAt = performance.now()
    const server = start(env)
    const url = await server.listening()
    expect(await isCheckoutEnabled(url)).toBe(false)
    const servingAfter = Math.round(performance.now() - begunAt)
    report(`${what}, ${env['FF_WORKERS']} process(es) serve ${servingAfter} ms after the start`)
    if (IS_FULL) expect(servingAfter).toBeLessThan(limitMs)
    const { status, since = '' } = await stateOf(url)
    expect(status).toBe('stale')
    expect(Date.parse(since)).toBeLessThan(Date.now() - servingAfter)
    return { server, url }
  }

  it('It serves the last flags with one or several processes, refuses changes, and recovers by itself', async () => {
    const first = start()
    const firstUrl = await first.listening()
    sdkKey = /\bff_[0-9a-f]{64}\b/.exec(first.output)?.[0] ?? ''
    expect(await setActive(firstUrl, false)).toBe(200)
    await expect.poll(() => isCheckoutEnabled(firstUrl)).toBe(false)
    await stop(first)
    for (const workers of [1, 2]) {
      await database.kill()
      const env = { FF_WORKERS: String(workers) }
      const { server, url } = await startStale(
        'Without PostgreSQL',
        env,
        workers === 1 ? 1000 : 5000,
      )
      const writtenAt = performance.now()
      expect(await setActive(url, true)).toBe(503)
      if (IS_FULL) expect(performance.now() - writtenAt).toBeLessThan(2000)
      await database.restart()
      await expect.poll(() => statusOf(url)).toBe('ready')
      await expect.poll(() => setActive(url, true)).toBe(200)
      await expect.poll(() => isCheckoutEnabled(url)).toBe(true)
      if (workers === 1) expect(await setActive(url, false)).toBe(200)
      // Another worker can take longer to reach the database again.
      else await expect.poll(() => setActive(url, false)).toBe(200)
      await expect.poll(() => isCheckoutEnabled(url)).toBe(false)
      await expect.poll(() => isNewestSaved(url)).toBe(true)
      await server.kill()
      running.delete(server)
    }
  })

  it.each([
    ['refuse connections', freePort],
    ['do not respond', () => startListening(createServer((socket) => socket.resume()))],
  ])(
    'It serves the last flags with one or several processes if PostgreSQL and Redis %s',
    async (what, openPort) => {
      const port = await openPort()
      for (const workers of [1, 2]) {
        const env = {
          DATABASE_URL: `postgres://ff:password@127.0.0.1:${port}/ff`,
          REDIS_URL: `redis://:password@127.0.0.1:${port}`,
          FF_WORKERS: String(workers),
        }
        const { server, url } = await startStale(
          `If both stores ${what}`,
          env,
          workers === 1 ? 3000 : 6000,
        )
        expect(await setActive(url, true)).toBe(503)
        await stop(server)
      }
    },
  )

  it('It serves the last flags if the database does not respond', async () => {
    await database.suspend()
    const server = start()
    const url = await server.listening()
    expect(await isCheckoutEnabled(url)).toBe(false)
    expect(await setActive(url, true)).toBe(503)
    await database.resume()
    await expect.poll(() => statusOf(url)).toBe('ready')
    await server.kill()
  })
})

describe('a folder for snapshots that cannot be used', () => {
  it('It ends the start with one sentence that names FF_SNAPSHOT_DIR', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const server = start({ FF_SNAPSHOT_DIR: file })
    expect(await server.ended).toBe(1)
    expect(server.log).toBe(`ff cannot run: FF_SNAPSHOT_DIR: The folder ${file} is a file.\n`)
  })
})
