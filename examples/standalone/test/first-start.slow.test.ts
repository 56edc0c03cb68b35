import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { sized } from '../../../packages/server/test/drills/scale.ts'
import { findDamage } from '../src/verify.ts'
import { RunningStandalone } from './running-standalone.ts'

const KILLS = sized({ full: 10, small: 4 })
/** The flags of the demo shop. */
const FLAGS = 16

/** The credentials that a first start prints. */
interface Credentials {
  readonly token: string
  readonly keys: readonly string[]
  /** The one-time link of the first owner. */
  readonly link: string
}

function newDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ff-first-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

function run(dataDir: string, env: Readonly<Record<string, string>> = {}): RunningStandalone {
  const standalone = new RunningStandalone(env, dataDir)
  onTestFinished(async () => standalone.kill())
  return standalone
}

/** Returns the credentials in the output of a start, or `undefined` if it has none. */
function credentialsIn(output: string): Credentials | undefined {
  const token = /\bffat_[0-9a-f]{64}\b/.exec(output)?.[0]
  const keys = [...output.matchAll(/^ +(?:live|staging) +(ff_[0-9a-f]{64})$/gm)]
  const link = /^ +(ffl_[0-9a-f]{64})$/m.exec(output)?.[1]
  if (token === undefined || link === undefined || keys.length !== 2) return undefined
  return { token, keys: keys.map(([, key = '']) => key), link }
}

const manage = (url: string, token: string, body?: object) =>
  fetch(`${url}/organizations`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

const setPassword = (url: string, token: string) =>
  fetch(`${url}/auth/password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, new_password: 'a password for the owner' }),
  })

/**
 * Returns the names of all organizations. Expects that the token and the keys are accepted, and the
 * one-time link once.
 */
async function useCredentials(url: string, credentials: Credentials): Promise<string[]> {
  const { token, keys, link } = credentials
  for (const key of keys) {
    const answer = await fetch(`${url}/evaluator/evaluate`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ context: { kind: 'user', key: 'user-1', plan: 'pro' } }),
    })
    expect(answer.status).toBe(200)
    const values = (await answer.json()) as Readonly<Record<string, unknown>>
    expect(values['support-channel']).toBe('chat')
    expect(Object.keys(values)).toHaveLength(FLAGS)
  }
  expect((await setPassword(url, link)).status).toBe(200)
  expect((await setPassword(url, link)).status).toBe(401)
  const answer = await manage(url, token)
  expect(answer.status).toBe(200)
  const { data } = (await answer.json()) as { data: { data: { name: string }[] } }
  return data.data.map(({ name }) => name)
}

/** Starts a server on a free port that refuses the port to others. Returns the port. */
async function occupiedPort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return String((server.address() as AddressInfo).port)
}

it.each(['1', '2'])(
  'A first start with a busy port, in %s process(es), creates nothing, and the next one prints working credentials',
  async (workers) => {
    const dataDir = newDataDir()
    const port = await occupiedPort()
    const refused = run(dataDir, { PORT: port, FF_WORKERS: workers })
    expect(await refused.ended).toBe(1)
    expect(refused.log).toBe(`ff cannot run: Port ${port} is in use; set PORT.\n`)
    expect(refused.output).toBe('')
    expect(existsSync(dataDir)).toBe(false)

    const standalone = run(dataDir, { FF_WORKERS: workers })
    const url = await standalone.listening()
    const credentials = credentialsIn(standalone.output)
    if (credentials === undefined) throw new Error(`No credentials: ${standalone.output}`)
    expect(await useCredentials(url, credentials)).toEqual(['Demo Shop'])
  },
)

/** Returns the time in milliseconds from the creation of the data folder to the end of the start. */
async function durationOfFirstStart(): Promise<number> {
  const dataDir = newDataDir()
  const standalone = run(dataDir)
  const beginning = await creationOf(dataDir)
  await standalone.listening()
  const duration = performance.now() - beginning
  await standalone.kill()
  return duration
}

async function creationOf(path: string): Promise<number> {
  while (!existsSync(path)) await pause(1)
  return performance.now()
}

/** Returns a generator of numbers from 0 to 1 that depends only on the seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

it('A first start that is killed at random moments is repeated, until its credentials are printed and work', {
  timeout: 480_000,
}, async () => {
  const seed = Number(process.env['FF_SEED'] ?? Math.trunc(Math.random() * 2 ** 32))
  const random = randomNumbers(seed)
  const duration = await durationOfFirstStart()
  console.log(`FF_SEED=${seed}; a first start takes ${Math.round(duration)} ms`)
  for (let kill = 0; kill < KILLS; kill += 1) {
    // One moment in each tenth, so that all steps are interrupted.
    const moment = ((kill + random()) / KILLS) * duration
    const dataDir = newDataDir()
    const killed = run(dataDir, { FF_WORKERS: String(1 + (kill % 2)) })
    await creationOf(dataDir)
    await pause(moment)
    await killed.kill()

    const standalone = run(dataDir)
    const url = await standalone.listening()
    const credentials = credentialsIn(standalone.output) ?? credentialsIn(killed.output)
    if (credentials === undefined) throw new Error(`No credentials after ${moment} ms`)
    expect(await useCredentials(url, credentials)).toEqual(['Demo Shop'])
    await standalone.kill()
    expect(await findDamage({ dataDir })).toEqual([])
  }
})

it('A store that was used is kept by all later starts, killed or not', async () => {
  const dataDir = newDataDir()
  const first = run(dataDir)
  const url = await first.listening()
  const credentials = credentialsIn(first.output)
  if (credentials === undefined) throw new Error(`No credentials: ${first.output}`)
  expect((await manage(url, credentials.token, { name: 'Mine' })).status).toBe(201)
  await first.kill()
  for (const moment of [0, 30, 100, 300]) {
    const next = run(dataDir)
    await pause(moment)
    await next.kill()
  }
  const last = run(dataDir)
  const names = await useCredentials(await last.listening(), credentials)
  expect(names.sort()).toEqual(['Demo Shop', 'Mine'])
  expect(last.output).not.toMatch(/ff_|ffat_|ffl_/)
  expect(last.output).toContain('is lost, set FF_ADMIN_TOKEN to a new one and restart.')
  await last.kill()

  const token = 'a-new-token-of-the-administrator'
  const recovered = run(dataDir, { FF_ADMIN_TOKEN: token })
  expect((await manage(await recovered.listening(), token)).status).toBe(200)
  expect(recovered.output).not.toContain(token)
})
