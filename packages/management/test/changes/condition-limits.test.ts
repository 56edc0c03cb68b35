import { beforeAll, describe, expect, it } from 'vitest'
import { dueChangesJob } from '../../src/scheduling/due-changes.ts'
import { type Answer, addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const LONGEST_VALUE = 65_536
const MOST_CONDITIONS = 64
const MOST_BYTES = 16 * 1024 * 1024
const HOUR_MS = 3_600_000

let world: World
let tenant: Tenant

const as = (method: string, path: string, body?: Json): Promise<Answer> =>
  world.call(method, path, { token: tenant.tokens.editor, body })

const conditionsOf = (count: number, value: string) =>
  Array.from({ length: count }, () => ({ attribute: 'a', operator: 'eq', value }))

async function addFlag(key: string): Promise<Json> {
  return (await as('POST', addressesOf(tenant).flags, { key, type: 'boolean' })).data
}

function expectIssue(answer: Answer, path: string, words: string): void {
  expect([answer.status, answer.data?.issues?.[0]?.path]).toEqual([400, path])
  expect(answer.message).toContain(words)
}

describe('Limits of targeting rules and segments', () => {
  let rules: string
  let segments: string

  beforeAll(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    const flag = await addFlag('banner')
    const at = addressesOf(tenant)
    rules = at.rules(flag.id)
    segments = at.segments
  })

  const ruleWith = (conditions: Json) =>
    as('POST', rules, { name: 'rule', kind: 'custom', conditions })
  const segmentWith = (conditions: Json) =>
    as('POST', segments, { key: `s-${crypto.randomUUID()}`, rules: conditions })

  it('A condition value can have up to 65,536 characters', async () => {
    for (const [send, field] of [
      [ruleWith, 'conditions'],
      [segmentWith, 'rules'],
    ] as const) {
      expect((await send(conditionsOf(1, 'x'.repeat(LONGEST_VALUE)))).status).toBe(201)
      const refused = await send(conditionsOf(1, 'x'.repeat(LONGEST_VALUE + 1)))
      expectIssue(refused, `${field}.0.value`, '65536')
      const listed = await send([
        { attribute: 'a', operator: 'in', value: ['x'.repeat(LONGEST_VALUE)] },
      ])
      expectIssue(listed, `${field}.0.value`, '65536')
    }
  })

  it('A targeting rule or segment can have up to 64 conditions', async () => {
    for (const [send, field] of [
      [ruleWith, 'conditions'],
      [segmentWith, 'rules'],
    ] as const) {
      expect((await send(conditionsOf(MOST_CONDITIONS, 'x'))).status).toBe(201)
      expectIssue(await send(conditionsOf(MOST_CONDITIONS + 1, 'x')), field, '64')
    }
  })

  it('A flag can have at most 500 targeting rules in an environment', async () => {
    const flag = await addFlag('many-rules')
    const path = addressesOf(tenant).rules(flag.id)
    const first = (await as('POST', path, { name: 'rule', kind: 'custom', conditions: [] })).data
    const record = await world.storage.find('targetingRule', first.id)
    if (record === undefined) throw new Error('there is no rule')
    for (let n = 1; n < 499; n += 1) {
      await world.storage.insert('targetingRule', { ...record, id: crypto.randomUUID() })
    }
    const rule = { name: 'rule', kind: 'custom', conditions: [] }
    expect((await as('POST', path, rule)).status).toBe(201)
    const refused = await as('POST', path, rule)
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining('500')])
    expect((await as('GET', path)).data.meta.total).toBe(500)
  })
})

describe('The total size of the condition values of an environment', () => {
  let full: Json
  let small: Json
  let smallRule: Json
  let segment: Json

  /** Fills the live environment to the last byte: four rules of 64 conditions of 64 KiB each. */
  beforeAll(async () => {
    world = await World.create()
    tenant = await world.addTenant('Acme')
    full = await addFlag('full')
    small = await addFlag('small')
    const at = addressesOf(tenant)
    const rule = { name: 'small', kind: 'custom', conditions: [] }
    smallRule = (await as('POST', at.rules(small.id), rule)).data
    segment = (await as('POST', at.segments, { key: 'team' })).data
    for (let n = 0; n < 4; n += 1) await fillRule(full, 'é'.repeat(LONGEST_VALUE / 2))
  })

  const params = (flag: Json) => {
    return { projectId: tenant.project.id, environmentId: tenant.live.id, flagId: flag.id }
  }

  /** Creates a rule in process, where bodies have no limit. */
  const fillRule = (flag: Json, value: string) => {
    const conditions = conditionsOf(MOST_CONDITIONS, value)
    const body = { name: 'long', kind: 'custom', conditions } as const
    return world.management.createTargetingRule({ params: params(flag), body })
  }

  /**
   * Expects that the change is refused because of the limit, names the field and leaves no trace.
   */
  async function expectFull(change: () => Promise<Answer>, field: string): Promise<void> {
    const before = [(await world.audit()).length, await world.version(tenant.live)]
    const refused = await change()
    expectIssue(refused, field, `at most ${MOST_BYTES} bytes`)
    expect([(await world.audit()).length, await world.version(tenant.live)]).toEqual(before)
  }

  const addRule = (flag: Json, conditions: Json) =>
    as('POST', addressesOf(tenant).rules(flag.id), { name: 'more', kind: 'custom', conditions })

  it('All condition values of an environment are limited to 16 MiB of UTF-8, for every kind of change', async () => {
    const at = addressesOf(tenant)
    const more = conditionsOf(1, 'x')
    const rule = `${at.rules(small.id)}/${smallRule.id}`
    await expectFull(() => addRule(small, more), 'conditions')
    await expectFull(() => as('PUT', rule, { conditions: more }), 'conditions')
    await expectFull(() => as('POST', at.segments, { key: 'new', rules: more }), 'rules')
    await expectFull(() => as('PUT', `${at.segments}/${segment.id}`, { rules: more }), 'rules')
  })

  it('Condition values can be replaced and removed while the limit is reached', async () => {
    const rule = (await as('GET', addressesOf(tenant).rules(full.id))).data.data[0]
    const path = `${addressesOf(tenant).rules(full.id)}/${rule.id}`
    const first = (await as('GET', path)).data
    const put = (conditions: Json) => as('PUT', path, { conditions })
    expect(first.conditions.length).toBe(MOST_CONDITIONS)
    const others = [...conditionsOf(2, 'y'.repeat(LONGEST_VALUE))]
    expect((await put(others)).status).toBe(200)
    await expectFull(
      () => fillRule(small, 'z'.repeat(LONGEST_VALUE)).then(never, refusalOf),
      'conditions',
    )
    const { conditions } = first
    const again = { name: 'long', kind: 'custom', conditions: conditions.slice(2) } as const
    await world.management.createTargetingRule({ params: params(full), body: again })
    await expectFull(() => addRule(small, conditionsOf(1, 'x')), 'conditions')
  })

  it('Listed keys and conditions without a value can be added while the limit is reached', async () => {
    const path = `${addressesOf(tenant).segments}/${segment.id}`
    const keys = await as('POST', `${path}/keys`, { list: 'included', add: ['user-1', 'user-2'] })
    expect(keys.status).toBe(200)
    const exists = await addRule(small, [{ attribute: 'a', operator: 'exists' }])
    expect(exists.status).toBe(201)
  })

  it('Condition values are counted for each environment separately, and when a flag is promoted', async () => {
    const { project, staging, live } = tenant
    const rules = `/projects/${project.id}/envs/${staging.id}/flags/${small.id}/targeting-rules`
    const rule = { name: 'more', kind: 'custom', conditions: conditionsOf(1, 'x') }
    expect((await as('POST', rules, rule)).status).toBe(201)
    const body = { from_env_id: staging.id, to_env_id: live.id, dry_run: false }
    const promote = () => as('POST', `${addressesOf(tenant).flag(small.id)}/promote`, body)
    await expectFull(promote, 'from_env_id')
    const dry = await as('POST', `${addressesOf(tenant).flag(small.id)}/promote`, {
      ...body,
      dry_run: true,
    })
    expect([dry.status, dry.message]).toEqual([400, expect.stringContaining(`${MOST_BYTES} bytes`)])
  })

  it('Condition values are counted when an environment is copied', async () => {
    const path = `/projects/${tenant.project.id}/envs`
    const copy = (key: string) =>
      world.call('POST', path, {
        token: tenant.tokens.admin,
        body: { key, copy_from: tenant.live.id },
      })
    const { data: created } = await copy('copy')
    const rules = `${path}/${created.id}/flags/${small.id}/targeting-rules`
    const rule = { name: 'more', kind: 'custom', conditions: conditionsOf(1, 'x') }
    expectIssue(await as('POST', rules, rule), 'conditions', 'at most')
    const removed = await world.call('DELETE', `${path}/${created.id}`, {
      token: tenant.tokens.admin,
    })
    expect(removed.status).toBe(200)
  })

  it('Condition values are counted if a version is restored, a flag is unarchived or a scheduled change is due', async () => {
    const at = addressesOf(tenant)
    const version = await world.version(tenant.live)
    const archived = (isArchived: boolean) => as('PUT', at.flag(full.id), { archived: isArchived })
    expect((await archived(true)).status).toBe(200)
    const scheduled = await as('POST', `${at.live(small.id)}/scheduled-changes`, {
      apply_at: new Date(world.clock.now() + HOUR_MS).toISOString(),
      operation: 'createTargetingRule',
      body: { name: 'later', kind: 'custom', conditions: conditionsOf(1, 'x') },
    })
    expect(scheduled.status).toBe(201)
    expect(
      (await as('PUT', `${at.segments}/${segment.id}`, { rules: conditionsOf(1, 'x') })).status,
    ).toBe(200)
    await expectFull(() => archived(false), 'archived')
    expect((await as('PUT', `${at.segments}/${segment.id}`, { rules: [] })).status).toBe(200)
    expect((await archived(false)).status).toBe(200)
    await world.clock.advance(HOUR_MS)
    await dueChangesJob(world.services, undefined).run()
    const [change] = (await as('GET', `${at.live(small.id)}/scheduled-changes`)).data.data
    expect([change.status, change.failure]).toEqual(['failed', expect.stringContaining('at most')])
    const rules = (await as('GET', at.rules(full.id))).data.data
    expect((await as('DELETE', `${at.rules(full.id)}/${rules.at(-1).id}`)).status).toBe(200)
    expect(
      (await as('PUT', `${at.segments}/${segment.id}`, { rules: conditionsOf(1, 'x') })).status,
    ).toBe(200)
    const versions = `/projects/${tenant.project.id}/envs/${tenant.live.id}/versions`
    await expectFull(() => as('POST', `${versions}/${version}/restore`), 'version')
  })
})

function never(): never {
  throw new Error('it was not refused')
}

/** Returns the response for the error of a use case. */
function refusalOf(error: Json): Answer {
  return {
    status: 400,
    headers: {},
    cookies: [],
    text: '',
    message: error.message,
    data: error.details,
  }
}
