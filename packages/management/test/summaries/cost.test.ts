import { memory, type Storage, type StorageSession } from '@ff/storage'
import { expect, it } from 'vitest'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

/** The calls of a store, by method and kind of record. */
type Calls = Record<string, number>

/** Returns a store that counts its calls, also those in transactions. */
function counting(storage: Storage, calls: Calls): Storage {
  const watched = <T extends StorageSession>(target: T): T =>
    new Proxy(target, {
      get(_, name: keyof T & string) {
        const method = target[name] as unknown as (...input: unknown[]) => unknown
        return (...input: unknown[]) => {
          if (name === 'transaction') {
            const [lock, work] = input as [string, (tx: StorageSession) => Promise<unknown>]
            return storage.transaction(lock, (tx) => work(watched(tx)))
          }
          const isRecord = ['find', 'list', 'insert', 'update', 'revive'].includes(name)
          const call = isRecord ? `${name} ${input[0]}` : name
          calls[call] = (calls[call] ?? 0) + 1
          return method.apply(target, input)
        }
      },
    })
  return watched(storage)
}

interface Scene {
  readonly world: World
  readonly tenant: Tenant
  readonly flag: Json
  /** Returns the calls that a request causes. */
  readonly callsOf: (method: string, address: string, body?: Json) => Promise<Calls>
}

async function createScene(flagCount: number): Promise<Scene> {
  const calls: Calls = {}
  const world = await World.create(counting(memory().storage, calls))
  const tenant = await world.addTenant('Acme')
  const token = tenant.tokens.editor
  let flag: Json
  for (let index = 0; index < flagCount; index += 1) {
    const body = { key: `f-${index}`, type: 'boolean' }
    flag = (await world.call('POST', addressesOf(tenant).flags, { token, body })).data
  }
  const callsOf: Scene['callsOf'] = async (method, address, body) => {
    for (const name of Object.keys(calls)) delete calls[name]
    const answer = await world.call(method, address, { token, body })
    expect([answer.status < 300, answer.message]).toEqual([true, 'OK'])
    return { ...calls }
  }
  return { world, tenant, flag, callsOf }
}

it('The calls of the store for a change and its summary do not depend on the number of flags', async () => {
  const [few, many] = [await createScene(3), await createScene(60)]
  const changes: readonly ((scene: Scene) => Promise<Calls>)[] = [
    ({ tenant, flag, callsOf }) =>
      callsOf('PUT', addressesOf(tenant).live(flag.id), { is_active: false }),
    ({ tenant, flag, callsOf }) =>
      callsOf('PUT', addressesOf(tenant).flag(flag.id), { name: 'changed', tags: ['a'] }),
    ({ tenant, flag, callsOf }) =>
      callsOf('POST', addressesOf(tenant).rules(flag.id), { name: 'r', conditions: [] }),
    ({ tenant, flag, callsOf }) =>
      callsOf('POST', addressesOf(tenant).variations(flag.id), { key: 'x', value: 'true' }),
    ({ tenant, flag, callsOf }) =>
      callsOf('POST', `${addressesOf(tenant).live(flag.id)}/scheduled-changes`, {
        apply_at: '2031-01-01T00:00:00.000Z',
        ...{ operation: 'updateFlagState', body: { is_active: true } },
      }),
    ({ tenant, callsOf }) =>
      callsOf('POST', addressesOf(tenant).flags, { key: 'new', type: 'boolean' }),
  ]
  for (const change of changes) {
    const calls = await change(few)
    expect(await change(many)).toEqual(calls)
    expect(calls['update flag']).toBeGreaterThanOrEqual(1)
  }
})

it('A list of summaries reads one page of flags, and no flag set, rule or rollout', async () => {
  for (const flagCount of [3, 60]) {
    const { tenant, callsOf } = await createScene(flagCount)
    const address = `/projects/${tenant.project.id}/flag-summaries`
    for (const query of ['', '?state=on&search=f', `?env_id=${tenant.live.id}&state=off`]) {
      const calls = await callsOf('GET', `${address}${query}`)
      expect(calls['list flag']).toBe(1)
      expect(calls['list environment']).toBe(1)
      const others = Object.keys(calls).filter((name) => !name.startsWith('find '))
      expect(others.sort()).toEqual(['list accessToken', 'list environment', 'list flag'])
    }
  }
})

it('A list of summaries of any length does not contain values of variations', async () => {
  const { world, tenant, callsOf } = await createScene(1)
  const variations = [{ key: 'a', value: '"secret value"' }]
  const body = { key: 'json', type: 'json', variations }
  await callsOf('POST', addressesOf(tenant).flags, body)
  const address = `/projects/${tenant.project.id}/flag-summaries`
  const { text } = await world.call('GET', address, { token: tenant.tokens.viewer })
  expect(text).toContain('"json"')
  expect(text).not.toContain('secret value')
})
