import { bucketOf } from '@ff/core'
import { pickVariation } from '@ff/core/authoring'
import { beforeEach, describe, expect, it } from 'vitest'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const UNKNOWN = '99999999-9999-4999-8999-999999999999'
const HOUR_MS = 3_600_000
const KEYS = Array.from({ length: 10_000 }, (_, index) => `user-${index}`)

describe('Rollouts', () => {
  let world: World
  let tenant: Tenant
  let at: ReturnType<typeof addressesOf>
  let token: string
  let flag: Json
  let a: string
  let b: string
  let c: string

  beforeEach(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    at = addressesOf(tenant)
    token = tenant.tokens.editor
    const variations = ['a', 'b', 'c'].map((key) => ({ key, value: key }))
    const body = { key: 'theme', type: 'string', variations }
    flag = (await world.call('POST', at.flags, { token, body })).data
    ;[a, b, c] = flag.variations.map(({ id }: Json) => id)
  })

  const rollouts = () => at.rollouts(flag.id)
  // A fixed salt, because the number of users that a change moves depends on it.
  const post = (body: Json) => {
    const basis = { name: 'r', salt: 'checkout' }
    return world.call('POST', rollouts(), { token, body: { ...basis, ...body } })
  }
  const put = (id: string, body: Json) => world.call('PUT', `${rollouts()}/${id}`, { token, body })
  const get = async (id: string) => (await world.call('GET', `${rollouts()}/${id}`, { token })).data
  const serve = (rolloutId: string) => {
    const body = { name: 'Everybody', conditions: [], rollout_id: rolloutId }
    return world.call('POST', at.rules(flag.id), { token, body })
  }
  const split = (...weights: number[]) => ({
    strategy: 'variant',
    variants: weights.map((weight, index) => ({
      variation_id: flag.variations[index].id,
      weight,
    })),
  })
  const quarter = () => ({ strategy: 'percentage', variation_id: b, percentage: 25 })
  const ramp = () => ({
    strategy: 'gradual',
    variation_id: b,
    target_percentage: 50,
    increment: 10,
    interval_hours: 1,
  })
  /** Returns the variation of each of ten thousand users. */
  const served = async () => {
    const contexts = await world.evaluateEach(
      tenant.live,
      KEYS.map((key) => ({ kind: 'user', key })),
    )
    return contexts.map(({ theme }) => theme)
  }
  const moved = (before: readonly Json[], after: readonly Json[]) =>
    (after.filter((value, index) => value !== before[index]).length / KEYS.length) * 100

  it('Rollouts are returned individually and as a list sorted by name', async () => {
    const second = (await post({ ...quarter(), name: 'Second' })).data
    const first = (await post({ ...split(10, 20), name: 'First' })).data
    expect(second).toMatchObject({
      flag_id: flag.id,
      environment_id: tenant.live.id,
      project_id: tenant.project.id,
      bucket_by: 'user.key',
      scheme: 'ff',
      percentage: 25,
      variants: null,
      start_at: null,
      ranges: [{ variation_id: b, from: 0, to: 25_000 }],
      revision: 1,
    })
    expect(second).not.toHaveProperty('previous_ranges')
    expect(await get(first.id)).toEqual(first)
    const list = await world.call('GET', `${rollouts()}?limit=1&page=2`, { token })
    expect(list.data).toEqual({ data: [second], meta: { total: 2, page: 2, pageCount: 2 } })
    const elsewhere = `${at.staging(flag.id)}/rollouts`
    expect((await world.call('GET', elsewhere, { token })).data.data).toEqual([])
    const unknown = await world.call('GET', `${elsewhere}/${first.id}`, { token })
    expect([unknown.status, unknown.message]).toEqual([404, 'There is no such rollout.'])
  })

  it('A change of weights moves as few users as possible, returns their percentage, and can be undone', async () => {
    const { id, salt } = (await post(split(30, 30, 20))).data
    await serve(id)
    const before = await served()

    const raised = await put(id, split(33, 28, 22))
    expect(raised.status).toBe(200)
    expect(raised.data.moved_percentage).toBe(5)
    const during = await served()
    for (const [index, value] of before.entries()) {
      if (value === 'c') expect(during[index]).toBe('c')
    }
    // Variation `a` is also the default, so only ranges show which users have no variation.
    const owners = (ranges: Json) =>
      KEYS.map((key) => pickVariation(toRanges(ranges), bucketOf(salt, key)))
    const original = (await world.storage.find('rollout', id))?.previousRanges ?? []
    const [old, now] = [
      KEYS.map((key) => pickVariation(original, bucketOf(salt, key))),
      owners(raised.data.ranges),
    ]
    expect(Math.abs(moved(old, now) - 5)).toBeLessThan(0.5)
    expect(KEYS.filter((_, index) => old[index] === a && now[index] !== a)).toEqual([])

    const undone = await put(id, split(30, 30, 20))
    expect(undone.data.moved_percentage).toBe(5)
    expect(undone.data.ranges).toEqual(original.map(toWireRange))
    expect(await served()).toEqual(before)
    const redone = await put(id, split(33, 28, 22))
    expect(redone.data.ranges).toEqual(raised.data.ranges)
    expect(await served()).toEqual(during)
  })

  it('Raising a percentage step by step never removes the variation from a user', async () => {
    const { id } = (await post(quarter())).data
    await serve(id)
    let last = await served()
    for (const percentage of [26, 30.5, 33.333]) {
      const { data } = await put(id, { percentage })
      const now = await served()
      expect(now.filter((value, index) => last[index] === 'b' && value !== 'b')).toEqual([])
      expect(Math.abs(moved(last, now) - data.moved_percentage)).toBeLessThan(0.5)
      last = now
    }
    expect((await put(id, { percentage: 0 })).data).toMatchObject({
      moved_percentage: 33.333,
      ranges: [],
    })
  })

  it('A change that moves no user keeps the previous ranges, so that an undo is still possible', async () => {
    const { id, ranges } = (await post(quarter())).data
    await put(id, { percentage: 30 })
    const { previousRanges } = (await world.storage.find('rollout', id)) ?? {}
    const version = await world.version(tenant.live)
    expect((await put(id, { name: 'Renamed' })).data).toMatchObject({
      name: 'Renamed',
      moved_percentage: 0,
      revision: 3,
    })
    expect((await put(id, { percentage: 30 })).data).toMatchObject({
      moved_percentage: 0,
      revision: 3,
    })
    expect(await world.version(tenant.live)).toBe(version)
    expect((await world.storage.find('rollout', id))?.previousRanges).toEqual(previousRanges)
    expect((await put(id, { percentage: 25 })).data.ranges).toEqual(ranges)
  })

  it('A change between percentage and variants moves no more users than the weights require', async () => {
    const { id } = (await post(quarter())).data
    const both = await put(id, { strategy: 'variant', variants: split(30, 25).variants })
    expect(both.data).toMatchObject({
      variation_id: null,
      percentage: null,
      moved_percentage: 30,
      ranges: [
        { variation_id: b, from: 0, to: 25_000 },
        { variation_id: a, from: 25_000, to: 55_000 },
      ],
    })
    const back = await put(id, quarter())
    expect(back.data).toMatchObject({ variants: null, percentage: 25, moved_percentage: 30 })
    expect(back.data.ranges).toEqual([{ variation_id: b, from: 0, to: 25_000 }])
  })

  it('A gradual rollout returns its current ranges', async () => {
    const { id, ranges } = (await post(ramp())).data
    expect(ranges).toEqual([{ variation_id: b, from: 0, to: 10_000 }])
    await world.clock.advance(2 * HOUR_MS)
    expect((await get(id)).ranges).toEqual([{ variation_id: b, from: 0, to: 30_000 }])
    const faster = await put(id, { increment: 20 })
    expect(faster.data).toMatchObject({
      moved_percentage: 20,
      ranges: [{ variation_id: b, from: 0, to: 50_000 }],
    })
    const list = (await world.call('GET', rollouts(), { token })).data.data
    expect(list[0].ranges).toEqual(faster.data.ranges)
    expect((await world.storage.find('rollout', id))?.ranges).toEqual([])
  })

  it('A gradual rollout can be stopped at its current percentage and continued', async () => {
    const { id, start_at: startAt } = (await post(ramp())).data
    await serve(id)
    await world.clock.advance(HOUR_MS)
    const before = await served()
    const stopped = await put(id, { strategy: 'percentage', percentage: 20 })
    expect(stopped.data).toMatchObject({ moved_percentage: 0, increment: null, start_at: null })
    await world.clock.advance(HOUR_MS)
    expect(await served()).toEqual(before)
    const schedule = { target_percentage: 50, increment: 10, interval_hours: 1 }
    const resumed = await put(id, { strategy: 'gradual', ...schedule, start_at: startAt })
    expect(resumed.data).toMatchObject({ moved_percentage: 10, percentage: null })
    const continued = await put(id, { strategy: 'percentage', percentage: 20 })
    expect(continued.data.moved_percentage).toBe(10)
    const started = await put(id, { strategy: 'gradual', ...schedule })
    expect(started.data.start_at).toBe(new Date(world.clock.now()).toISOString())
  })

  it('A change of the salt or the attribute returns the expected percentage of moved users', async () => {
    const { id, salt, ranges } = (await post({ ...quarter(), percentage: 10 })).data
    await serve(id)
    const before = await served()
    const salted = await put(id, { salt: 'another' })
    expect(salted.data).toMatchObject({ ranges, moved_percentage: 18 })
    expect(Math.abs(moved(before, await served()) - 18)).toBeLessThan(2)
    expect((await put(id, { bucket_by: 'email' })).data.moved_percentage).toBe(18)
    expect((await put(id, { salt, bucket_by: null })).data.bucket_by).toBe('user.key')
    expect(await served()).toEqual(before)
  })

  it('A rollout with inconsistent settings is refused', async () => {
    const { id } = (await post(quarter())).data
    const { id: gradual } = (await post(ramp())).data
    const refusals: [string, Json, string][] = [
      [id, { percentage: null }, 'percentage'],
      [id, { percentage: 100.5 }, 'percentage'],
      [id, { percentage: 0.0001 }, 'percentage'],
      [id, { percentage: '30' }, 'percentage'],
      [id, { variants: split(10).variants }, 'variants'],
      [id, { strategy: 'variant' }, 'variants'],
      [id, split(60, 40.001), 'variants'],
      [id, { strategy: 'variant', variants: [] }, 'variants'],
      [id, { strategy: 'variant', percentage: 5, variants: split(10).variants }, 'percentage'],
      [id, { variation_id: UNKNOWN }, 'variation_id'],
      [id, { variation_id: null }, 'variation_id'],
      [id, { strategy: 'gradual' }, 'target_percentage'],
      [id, { salt: 'a.b' }, 'salt'],
      [id, { salt: null }, 'salt'],
      [id, { scheme: 'md5' }, 'scheme'],
      [id, { bucket_by: '' }, 'bucket_by'],
      [id, { ranges: [] }, 'ranges'],
      [id, { flag_id: UNKNOWN }, 'flag_id'],
      [gradual, { increment: 0 }, 'increment'],
      [gradual, { start_at: 'tomorrow' }, 'start_at'],
      [gradual, { start_at: null }, 'start_at'],
      [gradual, { percentage: 5 }, 'percentage'],
    ]
    const before = await world.audit()
    for (const [each, given, path] of refusals) {
      const answer = await put(each, given)
      expect([given, answer.status, answer.data?.issues[0].path]).toEqual([given, 400, path])
    }
    expect(await world.audit()).toEqual(before)
  })

  it('A rollout that would have too many ranges is refused with advice', async () => {
    const { id } = (await post(split(50, 50))).data
    const stored = Array.from({ length: 1000 }, (_, index) => {
      const variationId = index % 2 === 0 ? a : b
      return { variationId, from: index * 100, to: index * 100 + 100 }
    })
    await world.storage.update('rollout', id, { ranges: stored })
    const answer = await put(id, split(49.95, 49.95, 0.1))
    expect(answer.status).toBe(400)
    expect(answer.data.issues[0].path).toBe('variants')
    expect(answer.message).toContain('new rollout')
    expect((await get(id)).revision).toBe(1)
  })

  it('A rollout that a rule serves cannot be deleted, but others can', async () => {
    const { id } = (await post(quarter())).data
    const rule = (await serve(id)).data
    const refused = await world.call('DELETE', `${rollouts()}/${id}`, { token })
    expect(refused.status).toBe(409)
    expect(refused.data).toEqual({
      used_by: [{ resource: 'targeting_rule', id: rule.id, name: 'Everybody (live)' }],
    })
    await world.call('PUT', `${at.rules(flag.id)}/${rule.id}`, {
      token,
      body: { rollout_id: null },
    })
    const deleted = await world.call('DELETE', `${rollouts()}/${id}`, { token })
    expect([deleted.status, deleted.data]).toEqual([200, null])
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? {} : undefined
      expect((await world.call(method, `${rollouts()}/${id}`, { token, body })).status).toBe(404)
    }
    const { data } = await world.call('DELETE', `${at.variations(flag.id)}/${c}`, { token })
    expect(data).toBe(null)
  })

  it('A rollout is changed only if it has the expected revision', async () => {
    const { id } = (await post(quarter())).data
    await put(id, { percentage: 30 })
    const headers = { 'if-match': '"1"' }
    const body = { percentage: 50 }
    const stale = await world.call('PUT', `${rollouts()}/${id}`, { token, headers, body })
    expect(stale.status).toBe(409)
    expect(stale.data).toMatchObject({ percentage: 30, revision: 2 })
    const kept = await world.call('DELETE', `${rollouts()}/${id}`, { token, headers })
    expect(kept.status).toBe(409)
  })

  it('A change of a rollout leaves an audit event with the ranges before and after', async () => {
    const { id, ranges } = (await post(quarter())).data
    const { moved_percentage: _, ...after } = (await put(id, { percentage: 30 })).data
    await world.call('DELETE', `${rollouts()}/${id}`, { token })
    const events = (await world.audit()).filter(({ streamId }) => streamId === `rollout:${id}`)
    const payloadOf = (type: string) => events.find(({ eventType }) => eventType === type)?.payload
    expect(events.length).toBe(3)
    expect(payloadOf('rollout.updated')).toMatchObject({ before: { ranges }, after })
    expect(payloadOf('rollout.deleted')).toEqual({ before: after, after: null })
    expect(JSON.stringify(events.map(({ payload }) => payload))).not.toContain('revious')
  })
})

function toRanges(wire: Json): { variationId: string; from: number; to: number }[] {
  return wire.map(({ variation_id: variationId, from, to }: Json) => ({ variationId, from, to }))
}

function toWireRange({ variationId, from, to }: { variationId: string; from: number; to: number }) {
  return { variation_id: variationId, from, to }
}
