import { expect, it } from 'vitest'
import { IS_FULL, report, sized } from '../../../../server/test/drills/scale.ts'
import { readFromPostgres } from '../../../../storage/test/postgres-schema.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import type { Tenant } from '../../world/world.ts'
import { CountingWriter, readKept } from '../counting-writer.ts'
import { addTenants, ask, withStorage } from '../data-file.ts'
import { spreadOf, timed } from '../durations.ts'
import { pause, type ServerProcess, startServer } from '../server-process.ts'

const ROUNDS = sized({ full: 20, small: 1 })
const IDLE_MS = 2000
/** The name of the database sessions of the server that is suspended. */
const NAME = 'suspended'

it('A server that is suspended or killed in the middle of a transaction does not block other servers', {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const { url } = await newPostgresSchema()
  const { tenant } = await addTenants(url)
  const named = new URL(url)
  named.searchParams.set('application_name', NAME)
  const other = await startServer(url)
  const [whileSuspended, afterKill]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    const writer = new CountingWriter({ tenant })
    const limits = { isSilent: true, postgres: { idleTimeoutMs: IDLE_MS } }
    const server = await startServer(named.href, limits)
    const interrupted = writer.write(server.url)
    await suspendInTransaction(server, url)
    whileSuspended.push(await writeThrough(other, tenant))
    server.process.kill('SIGCONT')
    expect(await interrupted, 'the status of the interrupted write').toBe(503)

    const lost = writer.write(server.url)
    await suspendInTransaction(server, url)
    server.process.kill('SIGKILL')
    afterKill.push(await writeThrough(other, tenant))
    expect(await lost).toBeUndefined()
    writer.assertKept(await withStorage(url, (storage) => readKept(storage, tenant)))
  }
  report(
    `${ROUNDS} servers suspended in a transaction: other writes acknowledged after ` +
      `${spreadOf(whileSuspended)}; killed in a transaction: after ${spreadOf(afterKill)}`,
  )
  if (!IS_FULL) return
  expect(Math.max(...whileSuspended)).toBeLessThan(IDLE_MS + 1000)
  expect(Math.max(...afterKill)).toBeLessThan(1000)
})

/** Suspends a server while it has an open transaction with a lock. */
async function suspendInTransaction({ process }: ServerProcess, url: string): Promise<void> {
  const holders = `
    select pid from pg_stat_activity join pg_locks using (pid)
    where application_name = '${NAME}' and state = 'idle in transaction'
      and locktype = 'advisory' and granted`
  for (;;) {
    await pause(5 + Math.random() * 20)
    process.kill('SIGSTOP')
    // PostgreSQL completes the statements that it has received.
    await pause(20)
    if ((await readFromPostgres(holders, url)).length > 0) return
    process.kill('SIGCONT')
  }
}

/** Changes the organization through another server. Returns the milliseconds until the response. */
async function writeThrough({ url }: ServerProcess, { project, tokens }: Tenant): Promise<number> {
  const { result, ms } = await timed(() =>
    ask(`${url}/projects/${project.id}`, {
      method: 'PUT',
      token: tokens.owner,
      body: { description: crypto.randomUUID() },
    }),
  )
  expect(result?.status, 'the status of a write through another server').toBe(200)
  return ms
}
