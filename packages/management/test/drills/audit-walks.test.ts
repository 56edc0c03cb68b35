import { Agent, get, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../server/test/drills/scale.ts'
import { evaluateRequest, RawConnection } from '../../../server/test/node/raw-connection.ts'
import { appendAudit, type NewAuditEntry } from '../../src/changes/audit-chain.ts'
import type { Json } from '../world/world.ts'
import { createDataFile, type DataFile, withStorage } from './data-file.ts'
import { pause, type ServerProcess, startServer } from './server-process.ts'

const ENTRIES = sized({ full: 100_000, small: 1500 })
const QUIET_MS = sized({ full: 10_000, small: 500 })
const WALKING_MS = sized({ full: 20_000, small: 2000 })
const CALLERS = 10
const BATCH = 500
const NEW_LINE = '\n'.charCodeAt(0)

/** Returns the audit entry of a change of a flag, with about 1 kB of fields. */
function entryOf({ tenant }: DataFile, n: number): NewAuditEntry {
  const actor = { id: tenant.orgId, email: '', name: 'Drill', role: 'editor' }
  const fields = (name: string) => {
    return { id: tenant.orgId, key: `flag-${n}`, name, description: 'x'.repeat(300), tags: [] }
  }
  return {
    eventType: 'flag.updated',
    payload: { before: fields('Before'), after: fields('After') } as Json,
    createdAt: '2030-01-01T00:00:00.000Z',
    streamId: `flag:${tenant.orgId}`,
    comment: null,
    orgId: tenant.orgId,
    projectId: tenant.project.id,
    actorId: actor.id,
    actor,
  }
}

/** Fills the audit log of the organization. Returns its number of entries. */
async function fillLog(file: DataFile): Promise<number> {
  const { orgId } = file.tenant
  return withStorage(file.path, async (storage) => {
    for (let from = 0; from < ENTRIES; from += BATCH) {
      await storage.transaction(orgId, async (session) => {
        for (let n = 0; n < BATCH; n += 1) await appendAudit(session, entryOf(file, from + n))
      })
    }
    return (await storage.list('auditEvent', { where: { orgId }, limit: 1 })).total
  })
}

/** Returns the 95th percentile of another organization's evaluation times, in milliseconds. */
async function neighbourP95({ url }: ServerProcess, key: string, forMs: number): Promise<number> {
  const request = evaluateRequest(key, JSON.stringify({ context: { kind: 'user', key: 'user-1' } }))
  const connection = await RawConnection.open(Number(new URL(url).port))
  const times: number[] = []
  for (const endsAt = performance.now() + forMs; performance.now() < endsAt; await pause(10)) {
    const startedAt = performance.now()
    await connection.send(request)
    expect((await connection.answer())?.status).toBe(200)
    times.push(performance.now() - startedAt)
  }
  connection.close()
  return quantile(times, 0.95)
}

/** Verifies and exports the log with the role `viewer`, over keep-alive connections. */
class Viewer {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #entries: number
  readonly #agent = new Agent({ keepAlive: true })
  /** The number of verifications with the right result. */
  verified = 0
  exported = 0
  refused = 0

  constructor(url: string, token: string, entries: number) {
    this.#url = url
    this.#headers = { authorization: `Bearer ${token}` }
    this.#entries = entries
    onTestFinished(() => this.#agent.destroy())
  }

  async verify(): Promise<number> {
    const response = await this.#get('/audit/verify')
    const { data } = (await json(response)) as Json
    if (response.statusCode === 200) {
      expect(data).toEqual({ valid: true, entries: this.#entries, first_broken: null })
      this.verified += 1
    }
    return this.#recordStatus(response)
  }

  async export(): Promise<number> {
    const response = await this.#get('/audit/export')
    let lines = 0
    for await (const piece of response as AsyncIterable<Buffer>) {
      for (let at = piece.indexOf(NEW_LINE); at !== -1; at = piece.indexOf(NEW_LINE, at + 1)) {
        lines += 1
      }
    }
    if (response.statusCode === 200) {
      expect(lines).toBe(this.#entries)
      this.exported += 1
    }
    return this.#recordStatus(response)
  }

  /**
   * Repeats a verification or an export and ignores `Retry-After`: for `forMs` milliseconds, and
   * until all callers together have had enough responses.
   */
  async repeat(walk: () => Promise<number>, forMs: number): Promise<void> {
    const hasEnough = () => this.verified + this.exported > 2 && this.refused > CALLERS
    for (const endsAt = performance.now() + forMs; performance.now() < endsAt || !hasEnough(); ) {
      if ((await walk()) === 429) await pause(50)
    }
  }

  #recordStatus({ statusCode = 0, headers }: IncomingMessage): number {
    expect([200, 429]).toContain(statusCode)
    if (statusCode === 429) {
      this.refused += 1
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    }
    return statusCode
  }

  #get(path: string): Promise<IncomingMessage> {
    const options = { headers: this.#headers, agent: this.#agent }
    return new Promise((resolve, reject) => {
      get(`${this.#url}${path}`, options, resolve).on('error', reject)
    })
  }
}

describe('concurrent verifications and exports of a long audit log', { timeout: 300_000 }, () => {
  it('Audit verifications and exports of one organization run one at a time, and other organizations stay fast', async () => {
    const file = await createDataFile()
    const startedAt = performance.now()
    const entries = await fillLog(file)
    const filledMs = performance.now() - startedAt
    const server = await startServer(file.path)
    const viewer = new Viewer(server.url, file.tenant.tokens.viewer, entries)
    // Lets the engine compile the code before it is measured.
    expect([await viewer.verify(), await viewer.export()]).toEqual([200, 200])
    const quiet = await neighbourP95(server, file.bystanderKey, QUIET_MS)
    const walks = Array.from({ length: CALLERS }, (_, n) =>
      viewer.repeat(() => (n % 2 === 0 ? viewer.verify() : viewer.export()), WALKING_MS),
    )
    const [walking] = await Promise.all([
      neighbourP95(server, file.bystanderKey, WALKING_MS),
      ...walks,
    ])
    report(
      `audit walks: a log of ${entries} entries (filled in ${(filledMs / 1000).toFixed(0)} s), ` +
        `${viewer.verified} verifications, ${viewer.exported} exports, ${viewer.refused} refused; ` +
        `another organization's p95 ${quiet.toFixed(1)} → ${walking.toFixed(1)} ms`,
    )
    expect(viewer.verified + viewer.exported).toBeGreaterThan(2)
    expect(viewer.refused).toBeGreaterThan(CALLERS)
    if (IS_FULL) expect(walking - quiet).toBeLessThanOrEqual(20)
    const volley = await Promise.all(
      Array.from({ length: CALLERS }, (_, n) => (n % 2 === 0 ? viewer.verify() : viewer.export())),
    )
    expect(volley.filter((status) => status === 200).length).toBe(1)
    expect(await viewer.verify()).toBe(200)
  })
})
