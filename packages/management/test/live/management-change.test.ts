import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@ff/storage/sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { call, evaluate, poll } from '../../../server/test/call.ts'
import { FakeClock, until } from '../../../server/test/fake-clock.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'

const actor = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
const context = { kind: 'user', key: 'user-1', plan: 'free' }

let folder: string
let clock: FakeClock
let first: ManagedServer
let second: ManagedServer

/** Starts two servers on one SQLite file. Neither receives the hints of the other. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flags-'))
  clock = new FakeClock()
  const path = join(folder, 'flags.db')
  first = createManagedServer({ ...sqlite({ path }), clock })
  await first.start()
  second = createManagedServer({ ...sqlite({ path }), clock })
  await second.start()
  return async () => {
    await Promise.all([first.close(), second.close()])
    await rm(folder, { recursive: true })
  }
})

/** Creates two boolean flags, a rule that serves `true` for `plan eq pro`, SDK keys and a token. */
async function shop() {
  const management = first.as(actor)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Shop' } })
  const made = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
  const [live, staging] = made.environments
  if (live === undefined || staging === undefined)
    throw new Error('The project must have environments.')
  const projectId = made.id
  const params = { projectId }
  const flag = await management.createFlag({ params, body: { key: 'checkout', type: 'boolean' } })
  await management.createFlag({ params, body: { key: 'search', type: 'boolean' } })
  const variationId = flag.variations.find(({ value }) => value === 'true')?.id ?? ''
  const rule = await management.createTargetingRule({
    params: { projectId, environmentId: live.id, flagId: flag.id },
    body: {
      name: 'pro',
      kind: 'custom',
      conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }],
      variationId,
    },
  })
  const keyOf = async (environmentId: string) =>
    (
      await management.createSdkKey({
        params: { projectId, environmentId },
        body: { name: 'app', kind: 'client' },
      })
    ).key
  const body = { name: 'editor', role: 'editor' as const }
  const { token } = await management.createAccessToken({ params: { orgId }, body })
  const rulePath = `/projects/${projectId}/envs/${live.id}/flags/${flag.id}/targeting-rules/${rule.id}`
  return { liveKey: await keyOf(live.id), stagingKey: await keyOf(staging.id), token, rulePath }
}

async function connect(flags: ManagedServer, sdkKey: string): Promise<TestSocket> {
  const socket = new TestSocket()
  flags.acceptSocket(socket).receive(JSON.stringify({ type: 'init', sdkKey, context }))
  await until(() => socket.messages.length > 0)
  return socket
}

describe('a change through the management interface', () => {
  it('A changed rule reaches sockets and polls immediately and another server within ten seconds [EVT-1] [LIM-5]', async () => {
    const { liveKey, stagingKey, token, rulePath } = await shop()
    const [here, elsewhere] = [await connect(first, liveKey), await connect(first, stagingKey)]
    const other = await connect(second, liveKey)
    expect(here.take()).toMatchObject([{ flags: { checkout: false, search: false }, full: true }])
    const etag = (await evaluate(second, liveKey, context)).headers.get('etag')
    const pending = poll(first, liveKey, { context, since: etag })
    const changed = await call(first, rulePath, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      body: { conditions: [{ attribute: 'plan', operator: 'eq', value: 'free' }] },
    })
    expect(changed.status).toBe(200)
    const started = clock.now()
    await until(() => here.messages.length > 0)
    const answer = await pending
    // No timer has run.
    expect(clock.now()).toBe(started)
    expect(here.take()).toMatchObject([{ flags: { checkout: true }, full: false }])
    expect(answer).toMatchObject({ status: 200, body: { checkout: true, search: false } })
    expect((await evaluate(first, liveKey, context)).body).toEqual({
      checkout: true,
      search: false,
    })
    expect(elsewhere.messages).toHaveLength(1)
    expect(other.messages).toHaveLength(1)
    await clock.advance(9999)
    await until(() => other.messages.length > 1)
    expect(other.messages[1]).toMatchObject({ flags: { checkout: true }, full: false })
    expect((await evaluate(second, liveKey, context)).body).toMatchObject({ checkout: true })
    expect(elsewhere.messages).toHaveLength(1)
  })
})
