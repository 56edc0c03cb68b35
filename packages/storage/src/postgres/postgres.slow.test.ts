import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { isFlagError } from '@ff/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresUrl, runOnPostgres } from '../../test/postgres-schema.ts'
import {
  newPostgresSchema,
  openMigratedPostgres,
  openPostgres,
  startListening,
} from '../../test/postgres-store.ts'
import { DEADLOCK, watchPostgres } from '../../test/postgres-traffic.ts'
import { runProgram } from '../../test/run-program.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { sample } from '../contract/samples/samples.ts'
import { type PostgresOptions, postgres } from './postgres.ts'

const PASSWORD = 'a secret password'

/** Returns the code and the message of the error, and asserts that no text contains the password. */
async function failureOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => new Error('The call has succeeded.'),
    (thrown: unknown) => thrown,
  )
  if (!isFlagError(error)) throw error
  for (let part: unknown = error; part instanceof Error; part = part.cause) {
    expect(`${part.message} ${JSON.stringify(part)}`).not.toContain(PASSWORD)
    expect(`${part.message} ${JSON.stringify(part)}`).not.toContain(encodeURIComponent(PASSWORD))
  }
  return `${error.code}: ${error.message}`
}

/** Returns the URL of the test server with some parts replaced. */
function urlWith(parts: Partial<Pick<URL, 'host' | 'pathname' | 'username' | 'password'>>): string {
  return Object.assign(new URL(postgresUrl()), { password: PASSWORD, ...parts }).href
}

const { host, password: rightPassword } = new URL(postgresUrl())
const password = decodeURIComponent(rightPassword)

describe('the options of postgres', () => {
  it('An option of postgres that is invalid is refused with its name and without the password', async () => {
    const invalid: readonly (readonly [object, string])[] = [
      [{ url: `mysql://ff:${PASSWORD}@localhost/flags` }, 'url'],
      [{ url: `postgres://ff:${PASSWORD}@localhost:port/flags` }, 'url'],
      [{ url: `postgres://ff:12/${PASSWORD}@localhost/flags` }, 'url'],
      [{ url: postgresUrl(), listenUrl: PASSWORD }, 'listenUrl'],
      [{ url: postgresUrl(), writeConnections: 0 }, 'writeConnections'],
      [{ url: postgresUrl(), lockTimeoutMs: 1.5 }, 'lockTimeoutMs'],
    ]
    for (const [options, name] of invalid) {
      const creation = async () => postgres(options as PostgresOptions)
      expect(await failureOf(creation())).toContain(`INVALID_REQUEST: \`${name}\` must be `)
    }
  })

  it('PostgreSQL has no change feed if `listenUrl` is false', () => {
    const url = postgresUrl()
    expect(Object.keys(openPostgres({ url, listenUrl: false })).sort()).toEqual([
      'instanceReports',
      'rateLimiter',
      'storage',
      'storeTime',
    ])
    expect(Object.keys(openPostgres({ url }))).toContain('changeFeed')
  })
})

describe('a PostgreSQL server that cannot be used', () => {
  it('A server that is not listening makes calls fail with UNAVAILABLE and its address', async () => {
    const { storage, changeFeed } = openPostgres({ url: urlWith({ host: '127.0.0.1:1' }) })
    const message = 'PostgreSQL at 127.0.0.1:1/postgres cannot be reached (ECONNREFUSED).'
    expect(await failureOf(storage.migrate())).toBe(`UNAVAILABLE: \`url\`: ${message}`)
    const subscription = failureOf(Promise.resolve(changeFeed?.subscribe(() => undefined)))
    expect(await subscription).toBe(`UNAVAILABLE: \`listenUrl\`: ${message}`)
  })

  it('A server that does not respond makes calls fail with UNAVAILABLE after the time limit', async () => {
    const silent = createServer(() => undefined)
    const port = await startListening(silent)
    const url = urlWith({ host: `127.0.0.1:${port}` })
    const { storage } = openPostgres({ url, connectTimeoutMs: 100 })
    expect(await failureOf(storage.migrate())).toContain(`at 127.0.0.1:${port}/postgres cannot be`)
  })

  it('A wrong password and an unknown database are named as such', async () => {
    const refused = openPostgres({ url: urlWith({}) }).storage
    expect(await failureOf(refused.migrate())).toContain('refuses the user or the password')
    const unknown = openPostgres({ url: urlWith({ password, pathname: '/absent' }) }).storage
    expect(await failureOf(unknown.migrate())).toBe(
      `UNAVAILABLE: \`url\`: The database of ${host}/absent does not exist.`,
    )
  })

  it('A server without a free connection is named with the options that limit connections', async () => {
    const name = `ff_test_${newId().replaceAll('-', '')}`
    await runOnPostgres(`create role ${name} login connection limit 0 password '${PASSWORD}'`)
    onTestFinished(() => runOnPostgres(`drop role ${name}`))
    const { storage } = openPostgres({ url: urlWith({ username: name }) })
    expect(await failureOf(storage.migrate())).toContain('decrease `readConnections` and')
  })

  it('A database with an encoding other than UTF8 is refused', async () => {
    const name = `ff_test_${newId().replaceAll('-', '')}`
    await runOnPostgres(
      `create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`,
    )
    onTestFinished(() => runOnPostgres(`drop database ${name}`))
    const { storage } = openPostgres({ url: urlWith({ password, pathname: `/${name}` }) })
    expect(await failureOf(storage.migrate())).toContain('must have the encoding UTF8')
  })

  it('A database that a later release has migrated is refused', async () => {
    const { url } = await openMigratedPostgres()
    await runOnPostgres(`insert into ff_migration values ('9999-later')`, url)
    const message = await failureOf(openPostgres({ url }).storage.migrate())
    expect(message).toContain('UNAVAILABLE: The store was migrated by a later release')
  })

  it('A transaction that finds no free connection fails with the name of the option', async () => {
    const { storage } = await openMigratedPostgres({ writeConnections: 1, connectTimeoutMs: 1000 })
    await storage.transaction('one', async (tx) => {
      await tx.find('flag', newId())
      const second = storage.transaction('two', (other) => other.find('flag', newId()))
      expect(await failureOf(second)).toBe(
        'UNAVAILABLE: `writeConnections`: none of the 1 connections is free.',
      )
    })
  })
})

describe('the change feed of PostgreSQL', () => {
  it('A process without other work does not end before the store is closed', async () => {
    const program = runProgram('subscriber.ts', postgresUrl())
    expect(await program.ended).toBe(0)
    expect(program.lines).toEqual(['closed'])
  })

  it('The change feed of PostgreSQL sends `resync` after it has connected again', async () => {
    const { url, disconnect } = await newPostgresSchema()
    const { changeFeed } = openPostgres({ url })
    const received: unknown[] = []
    await changeFeed?.subscribe((change) => received.push(change))
    await disconnect()
    await expect.poll(() => received).toEqual([{ type: 'resync' }])
    await changeFeed?.publish({ type: 'sdkKeys' })
    await runOnPostgres(`notify ff_change, 'from another program'`)
    const later = [{ type: 'sdkKeys' }, { type: 'resync' }]
    await expect.poll(() => received.slice(1)).toEqual(later)
  })

  it('Changes of one moment arrive in another instance, and one that is too large as `resync`', async () => {
    const { url } = await newPostgresSchema()
    const [first, second] = [openPostgres({ url }), openPostgres({ url })]
    const received: unknown[] = []
    await second.changeFeed?.subscribe((change) => received.push(change))
    const changes = Array.from({ length: 300 }, (_, version) => {
      return { type: 'flagSet', environmentId: newId(), version } as const
    })
    const large = { type: 'project', projectId: 'x'.repeat(9000) } as const
    await Promise.all([...changes, large].map((change) => first.changeFeed?.publish(change)))
    const expected = [...changes, { type: 'resync' }]
    await expect.poll(() => received).toEqual(expected)
  })
})

describe('usage of several instances in PostgreSQL', () => {
  it('Calls that add the same counts and API calls in opposite order cause no deadlock', async () => {
    const { storage } = await openMigratedPostgres()
    const traffic = watchPostgres()
    const ids = Array.from({ length: 300 }, (_, at) => `id ${at}`)
    const outcome = { variationId: null, reason: 'DEFAULT', source: 'rest' } as const
    const minute = '2026-04-01T00:00:00.000Z'
    const counts = ids.map((id) => {
      const own = { environmentId: 'live', flagId: id, instanceId: id, minute }
      return { ...own, ...outcome, count: 1, micros: 3 }
    })
    const calls = ids.map((id) => ({ organizationId: id, instanceId: id, calls: 1 }))
    await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        const isReversed = at % 2 === 0
        await storage.addEvaluationCounts(isReversed ? counts.toReversed() : counts)
        await storage.addApiCalls(isReversed ? calls.toReversed() : calls)
      }),
    )
    expect(traffic.errors).not.toContain(DEADLOCK)
    expect(await storage.loadApiCalls()).toEqual(new Map(ids.map((id) => [id, 12])))
  })

  it('Marking flags as evaluated skips a flag that an open transaction has changed', async () => {
    const { storage } = await openMigratedPostgres({ lockTimeoutMs: 500 })
    const [changed, other] = [sample('flag'), sample('flag')]
    for (const flag of [changed, other]) await storage.insert('flag', flag)
    await storage.transaction('lock', async (tx) => {
      await tx.update('flag', changed.id, { name: 'changed' })
      const at = '2030-01-01T00:00:00.000Z'
      expect(await storage.markEvaluated([changed.id, other.id], at)).toEqual([changed.id])
      expect((await storage.find('flag', other.id))?.lastEvaluatedAt).toBe(at)
    })
  })

  it('Counts of one instance do not wait for an open transaction that adds counts of another one', async () => {
    const { storage } = await openMigratedPostgres({ lockTimeoutMs: 5000 })
    const organizationId = randomUUID()
    const of = (instanceId: string) => [{ organizationId, instanceId, calls: 1 }]
    // Other tests use the same database, whose advisory locks have no schema.
    await storage.transaction(randomUUID(), async (tx) => {
      await tx.addApiCalls(of('first'))
      await storage.addApiCalls(of('second'))
    })
    expect(await storage.takeApiCalls(organizationId)).toBe(2)
  })
})
