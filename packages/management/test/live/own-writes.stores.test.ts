import { describe, expect, it, onTestFinished } from 'vitest'
import { runs, storeNames } from '../../../../scripts/test-selection.ts'
import { call, evaluate, evaluateOverOfrep, poll } from '../../../server/test/call.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { SYSTEM } from '../../src/index.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import { STORES_OF } from '../world/managed-stores.ts'

/** The number of changes, each of which is read over one transport. */
const CHANGES = runs(1000, 100)
const CONTEXT = { kind: 'user', key: 'user-1' }

type Read = (flags: ManagedServer, sdkKey: string, environmentId: string) => Promise<unknown>

/** Opens a socket, and returns the value in its first message. */
const firstValue: Read = async (flags, sdkKey) => {
  const socket = new TestSocket()
  const connection = flags.acceptSocket(socket)
  connection.receive(JSON.stringify({ type: 'init', sdkKey, context: CONTEXT }))
  await expect.poll(() => socket.messages.length, { interval: 1 }).toBeGreaterThan(0)
  flags.releaseSocket(connection)
  return JSON.stringify(socket.messages[0])
}

const READS: readonly (readonly [string, Read])[] = [
  ['REST', async (flags, key) => (await evaluate(flags, key, CONTEXT)).body],
  [
    'poll',
    async (flags, key) => (await poll(flags, key, { context: CONTEXT, since: 'none' })).body,
  ],
  ['socket', firstValue],
  ['OFREP', (flags, key) => evaluateOverOfrep(flags, key, CONTEXT)],
  [
    'the flag set',
    async (flags, key) => (await call(flags, '/evaluator/flag-set', { method: 'GET', key })).body,
  ],
  [
    'in process',
    (flags, _, environmentId) => flags.value({ environmentId }, 'counter', CONTEXT, ''),
  ],
]

describe.each(storeNames())('own writes in %s', (name) => {
  it('The first read after a change, over any transport, returns the value of the change', {
    timeout: 120_000,
  }, async () => {
    const servers = (await STORES_OF[name]()).map((options) => createManagedServer(options))
    onTestFinished(async () => {
      await Promise.all(servers.map((each) => each.close()))
    })
    for (const each of servers) await each.start()
    const [flags] = servers
    if (flags === undefined) throw new Error('There is no server.')
    const management = flags.as(SYSTEM)
    const { id: orgId } = await management.createOrganization({ body: { name: 'Acme' } })
    const project = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
    const [projectId, environmentId = ''] = [project.id, project.environments[0]?.id]
    const { key } = await management.createSdkKey({
      params: { projectId, environmentId },
      body: { name: 'reader', kind: 'server', rateLimit: 1_000_000 },
    })
    // Both load the environment before it has flags.
    for (const each of servers) {
      await expect.poll(async () => (await evaluate(each, key, CONTEXT)).status).toBe(200)
    }
    const flag = await management.createFlag({
      params: { projectId },
      body: {
        ...{ key: 'counter', type: 'string' },
        variations: [
          { key: 'first', value: 'n 0' },
          { key: 'second', value: 'n 0' },
        ],
      },
    })
    const params = { projectId, flagId: flag.id, variationId: flag.variations[0]?.id ?? '' }
    const old: string[] = []
    for (let n = 0; n < CHANGES; n += 1) {
      const [transport, read] = READS[n % READS.length] ?? ['', async () => undefined]
      await management.updateVariation({ params, body: { value: `n ${n}.` } })
      const text = JSON.stringify(await read(flags, key, environmentId))
      if (!text.includes(`n ${n}.`)) old.push(`${transport}: ${text}`)
    }
    expect(old).toEqual([])
  })
})
