import { describe, expect, it } from 'vitest'
import { type Answer, addressesOf, type Json } from '../world/world.ts'
import { createPromotionScene } from './promotion-scene.ts'

describe('Promotion of a flag', () => {
  it('A promotion makes both environments serve the same results, with one version and one event', async () => {
    const { world, tenant, flag, as, at, promote, idOf, addRollout, addRule, listed, answersIn } =
      await createPromotionScene()
    const rollout = await addRollout(tenant.staging)
    await addRule(tenant.staging, { rollout_id: rollout.id })
    const targets = [{ variation_id: idOf('z'), kind: 'user', keys: ['user-1'] }]
    await as('PUT', at(tenant.staging), { targets, off_variation_id: idOf('y') })
    const [version, events] = [await world.version(tenant.live), (await world.audit()).length]

    const { status, data } = await promote()
    expect([status, data.applied]).toEqual([200, true])
    expect(await answersIn(tenant.live)).toEqual(await answersIn(tenant.staging))
    expect(await world.version(tenant.live)).toBe(version + 1)
    const event = (await world.audit()).filter(({ orgId }) => orgId === tenant.orgId).at(-1)
    expect((await world.audit()).length).toBe(events + 1)
    expect(event).toMatchObject({ eventType: 'flag.promoted', streamId: `flag:${flag.id}` })
    expect(event?.payload).toMatchObject({
      before: { from_env_id: tenant.staging.id, to_env_id: tenant.live.id, targeting_rules: [] },
      after: { state: { targets }, targeting_rules: [{ name: 'Everybody' }] },
    })

    const [copied] = await listed(tenant.live, 'rollouts')
    expect(copied).toMatchObject({ name: 'Half', salt: rollout.salt, ranges: rollout.ranges })
    expect(copied.id).not.toBe(rollout.id)
    const [rule] = await listed(tenant.live, 'targeting-rules')
    expect(rule).toMatchObject({ environment_id: tenant.live.id, rollout_id: copied.id })
    expect(
      data.differences.map(({ resource, id, before }: Json) => [resource, id, before]),
    ).toEqual([
      ['flag_state', expect.any(String), { off_variation_id: idOf('x'), targets: [] }],
      ['rollout', copied.id, null],
      ['targeting_rule', rule.id, null],
    ])
    expect(data.differences[0].after).toEqual({ off_variation_id: idOf('y'), targets })
    expect(data.differences[1].after).toMatchObject({
      environment_id: tenant.live.id,
      name: 'Half',
    })
  })

  it('A promotion writes only differences, matches records by name, and removes all others', async () => {
    const { tenant, promote, idOf, addRollout, addRule, listed } = await createPromotionScene()
    const staged = await addRollout(tenant.staging, { percentage: 60 })
    await addRule(tenant.staging, { rollout_id: staged.id, order_index: 4 })
    const lived = await addRollout(tenant.live)
    const same = await addRule(tenant.live, { rollout_id: lived.id, order_index: 4 })
    const extra = await addRule(tenant.live, {
      name: 'Extra',
      conditions: [],
      variation_id: idOf('z'),
    })
    const { data } = await promote()
    expect(data.differences).toEqual([
      {
        resource: 'rollout',
        id: lived.id,
        before: expect.objectContaining({ percentage: 50, salt: lived.salt }),
        after: expect.objectContaining({ percentage: 60, salt: staged.salt }),
      },
      {
        resource: 'targeting_rule',
        id: extra.id,
        before: expect.objectContaining({ name: 'Extra' }),
        after: null,
      },
    ])
    expect(Object.keys(data.differences[0].after).sort()).toEqual(['percentage', 'ranges', 'salt'])
    const rules = await listed(tenant.live, 'targeting-rules')
    expect(rules).toMatchObject([{ id: same.id, revision: same.revision, rollout_id: lived.id }])
  })

  it('The promotion of a rollout can be undone exactly with the previous weights', async () => {
    const { tenant, as, at, promote, idOf, addRollout } = await createPromotionScene()
    const variants = ['x', 'y'].map((key) => ({ variation_id: idOf(key), weight: 30 }))
    const body = { name: 'Half', strategy: 'variant', variants }
    const lived = (await as('POST', at(tenant.live, '/rollouts'), body)).data
    const staged = await addRollout(tenant.staging, { percentage: 60, salt: lived.salt })
    await promote()
    const address = at(tenant.live, `/rollouts/${lived.id}`)
    expect((await as('GET', address)).data).toMatchObject({ percentage: 60, ranges: staged.ranges })
    const undone = await as('PUT', address, { strategy: 'variant', variants })
    expect(undone.data.ranges).toEqual(lived.ranges)
  })

  it('A repeated promotion changes nothing and returns no differences', async () => {
    const { world, tenant, promote, idOf, addRollout, addRule } = await createPromotionScene()
    const rollout = await addRollout(tenant.staging)
    await addRule(tenant.staging, { rollout_id: rollout.id })
    await addRule(tenant.staging, { variation_id: idOf('z') })
    await promote()
    const before = [await world.version(tenant.live), await world.audit()]
    expect((await promote()).data).toEqual({ applied: false, differences: [] })
    expect((await promote({ dry_run: true })).data).toEqual({ applied: false, differences: [] })
    expect([await world.version(tenant.live), await world.audit()]).toEqual(before)
  })

  it('A dry run returns the differences of a promotion and changes nothing', async () => {
    const { world, tenant, promote, idOf, addRollout, addRule } = await createPromotionScene()
    await addRule(tenant.staging, { variation_id: idOf('y') })
    await addRollout(tenant.live)
    const before = [await world.version(tenant.live), await world.audit()]
    const dry = await promote({ dry_run: true })
    expect([dry.status, dry.data.applied]).toEqual([200, false])
    expect([await world.version(tenant.live), await world.audit()]).toEqual(before)
    const real = await promote({ dry_run: false })
    const withoutIds = ({ data }: Answer) =>
      data.differences.map(({ resource, before: was, after }: Json) => {
        return [resource, was, after && { ...after, id: '' }]
      })
    expect(withoutIds(dry)).toEqual(withoutIds(real))
  })

  it('A promotion refuses equal, unknown and foreign environments, and unknown fields', async () => {
    const { world, tenant, as, promote } = await createPromotionScene()
    const others = await world.addTenant('Others')
    for (const [fields, path] of [
      [{ to_env_id: tenant.staging.id }, 'to_env_id'],
      [{ to_env_id: others.live.id }, 'to_env_id'],
      [{ from_env_id: others.live.id }, 'from_env_id'],
      [{ from_env_id: crypto.randomUUID() }, 'from_env_id'],
      [{ from_env_id: 'x' }, 'from_env_id'],
      [{ to_env_id: undefined }, 'to_env_id'],
      [{ dry_run: 'no' }, 'dry_run'],
      [{ other: 1 }, 'other'],
    ] as const) {
      for (const dry of [{}, { dry_run: true }]) {
        const { status, data } = await promote({ ...dry, ...fields })
        expect([status, data?.issues?.[0]?.path]).toEqual([400, path])
      }
    }
    const nowhere = `${addressesOf(tenant).flag(crypto.randomUUID())}/promote`
    const body = { from_env_id: tenant.staging.id, to_env_id: tenant.live.id }
    expect((await as('POST', nowhere, body)).status).toBe(404)
  })

  it('A promotion is refused if the prerequisites in the other environment would become circular', async () => {
    const { world, tenant, flag, as, promote, idOf } = await createPromotionScene()
    const body = { key: 'other', type: 'boolean' }
    const other = (await as('POST', addressesOf(tenant).flags, body)).data
    const mine = { flag_id: flag.id, variation_ids: [idOf('x')] }
    const theirs = { flag_id: other.id, variation_ids: [other.variations[0].id] }
    const { live, staging } = addressesOf(tenant)
    expect((await as('PUT', live(other.id), { prerequisites: [mine] })).status).toBe(200)
    expect((await as('PUT', staging(flag.id), { prerequisites: [theirs] })).status).toBe(200)
    const before = [await world.version(tenant.live), await world.audit()]
    for (const dry of [{}, { dry_run: true }]) {
      const { status, message } = await promote(dry)
      expect(status).toBe(400)
      expect(message).toContain('Prerequisite cycle: ')
    }
    expect([await world.version(tenant.live), await world.audit()]).toEqual(before)
  })
})
