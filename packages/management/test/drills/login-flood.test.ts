import { readFile, stat } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { ask, createDataFile, type DataFile, evaluate } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const FLOOD = sized({ full: 100_000, small: 1000 })
/**
 * The number of concurrent attackers. Half of them act as one client, the other half use a new
 * address and a new account each time.
 */
const ATTACKERS = 32
const TIMEOUT_MS = sized({ full: 900_000, small: 60_000 })
const MIB = 1024 * 1024

/** The results of the regular requests during the flood. */
interface Life {
  readonly changes: readonly string[]
  readonly evaluationsMs: readonly number[]
  readonly mostMemory: number
}

describe('a flood of refused log-ins', () => {
  it('A flood of refused log-ins loses no change and fills neither memory nor disk', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const file = await createDataFile()
    const server = await startServer(file.path)
    const quiet = await timesOf(100, () => evaluate(server.url, file.sdkKey))
    const before = { memory: await memoryOf(server), disk: await diskOf(file) }

    const flooding = { isOver: false }
    const living = live(server, file, flooding)
    const startedAt = performance.now()
    const statuses = await flood(server.url)
    flooding.isOver = true
    const seconds = (performance.now() - startedAt) / 1000
    const { changes, evaluationsMs, mostMemory } = await living

    expect([...statuses.keys()].toSorted()).toEqual([401, 429])
    expect(changes.length).toBeGreaterThan(3)
    const grownMemory = mostMemory - before.memory
    const grownDisk = (await diskOf(file)) - before.disk
    const [p95, quietP95] = [quantile(evaluationsMs, 0.95), quantile(quiet, 0.95)]
    report(
      `${FLOOD} log-ins refused in ${seconds.toFixed(0)} s (${statuses.get(401)} tried, ` +
        `${statuses.get(429)} not); ${changes.length} changes acknowledged meanwhile, ` +
        `${evaluationsMs.length} evaluations, p95 ${p95.toFixed(1)} ms (quiet ${quietP95.toFixed(1)} ms); ` +
        `memory +${(grownMemory / MIB).toFixed(0)} MiB at most, disk +${(grownDisk / MIB).toFixed(1)} MiB`,
    )
    // A hash takes 128 MiB, and hashes are computed one at a time.
    expect(grownMemory).toBeLessThan(350 * MIB)
    expect(grownDisk).toBeLessThan(16 * MIB)
    if (IS_FULL) expect(p95).toBeLessThan(200)

    await expectChangesKept(server, file, changes)
    server.process.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    await expectAllCounted(file, statuses.get(429) ?? 0)
  })
})

async function flood(url: string): Promise<ReadonlyMap<number, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: ATTACKERS })
  const statuses = new Map<number, number>()
  let sent = 0
  const attack = async (isOneClient: boolean) => {
    while (sent < FLOOD) {
      sent += 1
      const address = isOneClient ? '198.51.100.1' : `10.${bytes(sent).join('.')}`
      const email = isOneClient ? 'admin@acme.test' : `user${sent}@acme.test`
      const status = await tryToLogIn(agent, url, { email, address })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: ATTACKERS }, (_, n) => attack(n % 2 === 0)))
  agent.destroy()
  return statuses
}

function tryToLogIn(
  agent: Agent,
  url: string,
  { email, address }: { readonly email: string; readonly address: string },
): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
  return new Promise((resolve, reject) => {
    const sending = request(`${url}/auth/login`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sending.on('error', reject)
    sending.end(JSON.stringify({ email, password: 'a guess' }))
  })
}

/** Creates flags and evaluates, as usual, during the flood. */
async function live(
  server: ServerProcess,
  { tenant, sdkKey }: DataFile,
  flooding: { readonly isOver: boolean },
): Promise<Life> {
  const changes: string[] = []
  const evaluationsMs: number[] = []
  let mostMemory = 0
  while (!flooding.isOver || changes.length === 0) {
    const key = `during-${changes.length}`
    const created = await ask(`${server.url}/projects/${tenant.project.id}/flags`, {
      method: 'POST',
      token: tenant.tokens.editor,
      body: { key, type: 'boolean' },
    })
    expect(created?.status).toBe(201)
    changes.push(key)
    evaluationsMs.push(...(await timesOf(5, () => evaluate(server.url, sdkKey))))
    mostMemory = Math.max(mostMemory, await memoryOf(server))
    await pause(sized({ full: 500, small: 50 }))
  }
  return { changes, evaluationsMs, mostMemory }
}

async function expectChangesKept(
  { url }: ServerProcess,
  { tenant }: DataFile,
  changes: readonly string[],
): Promise<void> {
  const { orgId, tokens } = tenant
  const read = async (address: string, token: string) =>
    (await ask(`${url}${address}`, { method: 'GET', token }))?.data
  const recent = await read(
    `/audit/logs?source=redis&event_type=flag.created&org_id=${orgId}&limit=100`,
    tokens.owner,
  )
  expect(recent.meta.total).toBe(changes.length)
  for (const token of [tokens.owner, tokens.platform]) {
    const organization = token === tokens.owner ? `?org_id=${orgId}` : ''
    expect(await read(`/audit/verify${organization}`, token)).toMatchObject({ valid: true })
  }
}

/** Asserts that each refusal has an audit entry or is counted in a summary entry. */
async function expectAllCounted(file: DataFile, refused: number): Promise<void> {
  const server = await startServer(file.path)
  const of = async (type: string) =>
    (
      await ask(`${server.url}/audit/logs?event_type=${type}&limit=100`, {
        method: 'GET',
        token: file.tenant.tokens.platform,
      })
    )?.data
  const limited = await of('user.login_limited')
  const counted = limited.data.reduce(
    (sum: number, { payload }: { payload: { after: { attempts: number } } }) =>
      sum + payload.after.attempts,
    0,
  )
  const { total } = (await of('user.login_failed')).meta
  expect(counted + total).toBe(FLOOD)
  expect(counted).toBeGreaterThanOrEqual(refused)
  server.process.kill('SIGTERM')
  await server.ended
}

async function timesOf(count: number, work: () => Promise<{ status: number }>) {
  const times: number[] = []
  for (let n = 0; n < count; n += 1) {
    const start = performance.now()
    expect((await work()).status).toBe(200)
    times.push(performance.now() - start)
  }
  return times
}

/** Returns the resident memory of the process, in bytes. */
async function memoryOf({ process: { pid } }: ServerProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

async function diskOf({ path }: DataFile): Promise<number> {
  const sizes = ['', '-wal'].map((suffix) => stat(path + suffix).catch(() => ({ size: 0 })))
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0)
}

function bytes(n: number): readonly number[] {
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255]
}
