import type { Storage } from '@ff/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PasswordHasher } from '../../src/ports/password-hasher.ts'
import { dueChangesJob } from '../../src/scheduling/due-changes.ts'
import { stores } from '../world/stores.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const MINUTE_MS = 60_000
const PASSWORD = 'correct horse battery staple'

/** A hasher for which every hash is outdated, as after an increase of the hashing cost. */
const outdated: PasswordHasher = {
  hash: async (password) => `hash of ${password}`,
  verify: async (password, hash) => (hash === `hash of ${password}` ? 'outdated' : 'wrong'),
}

/** Returns a store that calls `write` before each update of one kind, and each transaction. */
function before(storage: Storage, kind: string, write: () => Promise<unknown>): Storage {
  const update: Storage['update'] = async (updated, ...rest) => {
    if (updated === kind) await write()
    return storage.update(updated, ...rest)
  }
  const transaction: Storage['transaction'] = async (...input) => {
    await write()
    return storage.transaction(...input)
  }
  const changed: Readonly<Record<string, unknown>> = { update, transaction }
  return new Proxy(storage, {
    get: (_, name: keyof Storage) =>
      changed[name] ?? (storage[name] as () => unknown).bind(storage),
  })
}

describe.each(stores)('Writes that depend on a record read earlier, in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let clean: () => void

  beforeEach(async () => {
    const store = open()
    clean = store.clean
    world = await World.create(store.storage, { passwordHasher: outdated })
    tenant = await world.addTenant('Acme')
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  async function done(method: string, address: string, body?: Json): Promise<Json> {
    const answer = await world.call(method, address, { token: tenant.tokens.owner, body })
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.data
  }

  it('The new hash after a log-in does not replace a password that was changed concurrently', async () => {
    const members = `/organizations/${tenant.orgId}/members`
    const email = 'ada@acme.test'
    const { user_id: id, one_time_link: token } = await done('POST', members, {
      email,
      role: 'viewer',
    })
    await done('POST', '/auth/password', { token, new_password: PASSWORD })
    const storage = before(world.storage, 'user', async () => {
      const revision = (await world.storage.find('user', id))?.revision ?? 0
      const changed = { passwordHash: 'hash of another', revision: revision + 1 }
      await world.storage.update('user', id, changed)
    })
    const other = await World.create(storage, { passwordHasher: outdated })
    const body = { email, password: PASSWORD }
    expect((await other.call('POST', '/auth/login', { body })).status).toBe(200)
    expect((await world.storage.find('user', id))?.passwordHash).toBe('hash of another')
  })

  it('A scheduled change that another instance has applied is not marked as failed', async () => {
    const at = addressesOf(tenant)
    const flag = await done('POST', at.flags, { key: 'a', type: 'boolean' })
    const change = await done('POST', `${at.live(flag.id)}/scheduled-changes`, {
      apply_at: new Date(world.clock.now() + MINUTE_MS).toISOString(),
      operation: 'updateFlagState',
      body: { is_active: false },
    })
    // Without its flag, an ordinary change could not record the failure.
    await done('DELETE', at.flag(flag.id))
    await world.clock.advance(MINUTE_MS)
    const storage = before(world.storage, 'scheduledChange', () =>
      world.storage.update('scheduledChange', change.id, { status: 'applied', revision: 2 }),
    )
    await dueChangesJob({ ...world.services, storage }, undefined).run()
    expect((await world.storage.find('scheduledChange', change.id))?.status).toBe('applied')
  })
})
