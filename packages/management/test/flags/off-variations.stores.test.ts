import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

describe.each(stores)('The off variation of a new flag, in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let clean: () => void

  beforeEach(async () => {
    const opened = open()
    clean = opened.clean
    world = await World.create(opened.storage)
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  async function call(method: string, address: string, body?: Json): Promise<Json> {
    const answer = await world.call(method, address, { token: tenant.tokens.admin, body })
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.data
  }
  const servedFor = async (key: string) =>
    (await world.evaluate(tenant.live, { kind: 'user', key: 'u' }))[key]
  const offOf = async (state: string) => (await call('GET', state)).off_variation_id

  it('A boolean flag with the default true serves false when it is switched off', async () => {
    const flag = await call('POST', at.flags, { key: 'a', type: 'boolean' })
    const [yes, no] = flag.variations
    await call('PUT', at.live(flag.id), { default_variation_id: yes.id })
    expect(await servedFor('a')).toBe(true)
    expect([await offOf(at.live(flag.id)), await offOf(at.staging(flag.id))]).toEqual([
      no.id,
      no.id,
    ])
    await call('PUT', at.live(flag.id), { is_active: false })
    expect(await servedFor('a')).toBe(false)
  })

  it('A boolean flag without a variation with the value false has no off variation', async () => {
    const variations = [{ key: 'on', value: 'true' }]
    const flag = await call('POST', at.flags, { key: 'a', type: 'boolean', variations })
    expect(await offOf(at.live(flag.id))).toBe(null)
  })

  it('A flag of another type serves its first default variation when it is switched off', async () => {
    const variations = [
      { key: 'a', value: 'A' },
      { key: 'b', value: 'B', is_default: true },
    ]
    const flag = await call('POST', at.flags, { key: 't', type: 'string', variations })
    const [a, b] = flag.variations
    expect(await offOf(at.live(flag.id))).toBe(b.id)
    await call('PUT', at.live(flag.id), { default_variation_id: a.id, is_active: false })
    expect(await servedFor('t')).toBe('B')
  })

  it('A flag has the same off variation in an environment that is created later', async () => {
    const flag = await call('POST', at.flags, { key: 'a', type: 'boolean' })
    const environments = `/projects/${tenant.project.id}/envs`
    const later = await call('POST', environments, { key: 'later' })
    const state = `${environments}/${later.id}/flags/${flag.id}`
    expect(await offOf(state)).toBe(flag.variations[1].id)
  })

  it('A copied environment keeps the off variation of its source', async () => {
    const flag = await call('POST', at.flags, { key: 'a', type: 'boolean' })
    await call('PUT', at.live(flag.id), { off_variation_id: null })
    const environments = `/projects/${tenant.project.id}/envs`
    const copy = await call('POST', environments, { key: 'copy', copy_from: tenant.live.id })
    expect(await offOf(`${environments}/${copy.id}/flags/${flag.id}`)).toBe(null)
  })
})
