import { describe, expect, it } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../../server/test/drills/scale.ts'
import { evaluateRequest, RawConnection } from '../../../../server/test/node/raw-connection.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { watchPostgres } from '../../../../storage/test/postgres-traffic.ts'
import { addTenants, createDataFile } from '../data-file.ts'
import { type ServerProcess, startServer } from '../server-process.ts'
import { createShop, startInstance } from './instances.ts'

const ROUNDS = sized({ full: 9, small: 1 })
const PHASE_MS = sized({ full: 4000, small: 300 })
const EVALUATIONS = sized({ full: 20_000, small: 2000 })
const CONNECTIONS = 16
const REQUEST_BODY = JSON.stringify({ context: { kind: 'user', key: 'user-1' } })

/** A server and an SDK key. */
interface Measured {
  readonly server: Pick<ServerProcess, 'url'>
  readonly sdkKey: string
}

/** Evaluates over several connections without pause, until `isOver`. */
async function evaluateUntil(
  isOver: (count: number) => boolean,
  { server, sdkKey }: Measured,
): Promise<number> {
  const request = evaluateRequest(sdkKey, REQUEST_BODY)
  let count = 0
  const evaluate = async () => {
    const connection = await RawConnection.open(Number(new URL(server.url).port))
    for (; !isOver(count); count += 1) {
      await connection.send(request)
      expect((await connection.answer())?.status).toBe(200)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, evaluate))
  return count
}

async function requestsPerSecond(measured: Measured): Promise<number> {
  const startedAt = performance.now()
  const isOver = () => performance.now() >= startedAt + PHASE_MS
  const count = await evaluateUntil(isOver, measured)
  return (count * 1000) / (performance.now() - startedAt)
}

describe('evaluations over PostgreSQL', { timeout: 300_000 }, () => {
  it('Evaluations over PostgreSQL are as fast as over SQLite', async () => {
    const { url } = await newPostgresSchema()
    const file = await createDataFile()
    const overSqlite = { server: await startServer(file.path), sdkKey: file.sdkKey }
    const { sdkKey } = await addTenants(url)
    const overPostgres = { server: await startServer(url), sdkKey }
    const ratios: number[] = []
    for (const measured of [overSqlite, overPostgres]) await requestsPerSecond(measured)
    for (let round = 0; round < ROUNDS; round += 1) {
      const sqlite = await requestsPerSecond(overSqlite)
      ratios.push((await requestsPerSecond(overPostgres)) / sqlite)
    }
    ratios.sort((a, b) => a - b)
    const [least = 0, most = 0] = [ratios[0], ratios.at(-1)]
    report(
      'Evaluations a second over PostgreSQL compared with SQLite: ' +
        `${quantile(ratios, 0.5).toFixed(2)} × (${least.toFixed(2)}–${most.toFixed(2)})`,
    )
    if (IS_FULL) expect(quantile(ratios, 0.5)).toBeGreaterThanOrEqual(0.95)
  })

  it('An evaluation sends no statement', async () => {
    const { url } = await newPostgresSchema()
    const server = await startInstance({ url })
    const { sdkKey } = await createShop(server.management)
    const isOver = (count: number) => count >= EVALUATIONS
    await evaluateUntil(isOver, { server, sdkKey })
    const { statements, reset } = watchPostgres()
    reset()
    const evaluations = await evaluateUntil(isOver, { server, sdkKey })
    // Background work writes usage and reads versions, however many evaluations there are.
    report(`${evaluations} evaluations: ${statements.length} statements`)
    const reads = statements.filter((text) => /from "?ff_(publication|sdk_key)\b/.test(text))
    expect(reads).toEqual([])
    expect(statements.length).toBeLessThan(evaluations / 10)
  })
})
