import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Answer, addressesOf, type Json, type Tenant, World } from '../world/world.ts'

describe.each(stores)('white space in %s', (_name, open) => {
  let world: World
  let tenant: Tenant
  let flag: Json
  let state: string
  let clean: () => void

  beforeEach(async () => {
    const store = open()
    clean = store.clean
    world = await World.create(store.storage)
    tenant = await world.addTenant('Acme')
    const at = addressesOf(tenant)
    flag = (await call('POST', at.flags, { key: 'banner', type: 'boolean' })).data
    state = at.live(flag.id)
  })

  afterEach(async () => {
    await world.storage.close()
    clean()
  })

  const call = (method: string, address: string, body?: Json, headers = {}) =>
    world.call(method, address, { token: tenant.tokens.editor, body, headers })

  function expectRefusal(answer: Answer, path: string, quoted: string): void {
    expect(answer.status).toBe(400)
    expect(answer.data.issues).toEqual([{ path, message: expect.stringContaining(quoted) }])
  }

  const target = (...keys: string[]) => {
    return { variation_id: flag.variations[0].id, kind: 'user', keys }
  }
  const rule = (value: string, attribute = 'plan') => {
    return { name: 'Plans', conditions: [{ attribute, operator: 'in', value }] }
  }

  it('New keys of targets with white space at their ends are refused, and stored ones stay', async () => {
    const refused = await call('PUT', state, { targets: [target('ada', 'grace ')] })
    expectRefusal(refused, 'targets.0.keys.1', '"grace "')
    const [{ id, revision } = { id: '', revision: 0 }] = (
      await world.storage.list('flagState', { where: { flagId: flag.id } })
    ).data.filter(({ environmentId }) => environmentId === tenant.live.id)
    const old = { variationId: flag.variations[0].id, kind: 'user', keys: ['old '] }
    await world.storage.update('flagState', id, { targets: [old] }, revision)
    expect((await call('PUT', state, { targets: [target('old ', 'ada')] })).status).toBe(200)
    const configuration = await call('GET', `${state}/configuration`)
    const { state: current, targeting_rules, rollouts } = configuration.data
    const whole = { state: current, targeting_rules, rollouts }
    whole.state.targets = [target('old ', 'new\t')]
    const headers = { 'if-match': configuration.headers['ETag'] ?? '' }
    const again = await call('PUT', `${state}/configuration`, whole, headers)
    expectRefusal(again, 'state.targets.0.keys.1', '"new\\t"')
  })

  it('New entries of lists in rules and segments are refused, and names of attributes are trimmed', async () => {
    const rules = `${state}/targeting-rules`
    for (const value of ['["free","pro "]', ' pro']) {
      expectRefusal(await call('POST', rules, rule(value)), 'conditions.0', 'white space')
    }
    const created = await call('POST', rules, rule('["pro"]', ' plan '))
    expect([created.status, created.data.conditions[0].attribute]).toEqual([201, 'plan'])
    const spaced = { attribute: 'title', operator: 'contains', value: '[" and "]' }
    expect((await call('POST', rules, { name: 'x', conditions: [spaced] })).status).toBe(201)
    const segments = `/projects/${tenant.project.id}/segments`
    const { id } = (await call('POST', segments, { key: 's', key_attribute: ' user.email' })).data
    const segment = await call('GET', `${segments}/${id}`)
    expect(segment.data.key_attribute).toBe('user.email')
    const listed = await call('POST', `${segments}/${id}/keys`, {
      list: 'included',
      add: ['a', ' b'],
    })
    expectRefusal(listed, 'add.1', '" b"')
    expect((await call('GET', `${segments}/${id}`)).data.included_count).toBe(0)
  })

  it('A stored entry of a rule stays when another condition changes', async () => {
    const rules = `${state}/targeting-rules`
    const { id, revision } = (await call('POST', rules, rule('["pro"]'))).data
    const old = { attribute: 'plan', operator: 'in', value: '["pro "]' }
    await world.storage.update('targetingRule', id, { conditions: [old] }, revision)
    const more = { attribute: 'country', operator: 'in', value: '["at"]' }
    const kept = await call('PUT', `${rules}/${id}`, { conditions: [old, more] })
    expect([kept.status, kept.data.rule.conditions]).toEqual([200, [old, more]])
    const changed = { ...old, value: '["pro ","free"]' }
    const refused = await call('PUT', `${rules}/${id}`, { conditions: [changed, more] })
    expectRefusal(refused, 'conditions.0', '"pro "')
  })
})
