import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { addressesOf, type Json, type Tenant, World } from '../world/world.ts'

let world: World
let acme: Tenant
let globex: Tenant
/** Returns all entries of Acme from the log, newest first. */
let entries: readonly Json[]

const MINUTE_MS = 60_000
const START = Date.parse('2030-01-01T00:00:00.000Z')
const timeAfter = (minutes: number) => new Date(START + minutes * MINUTE_MS).toISOString()

beforeAll(async () => {
  world = await World.create()
  acme = await world.addTenant('Acme')
  globex = await world.addTenant('Globex')
  for (let n = 0; n < 5; n += 1) {
    await world.clock.advance(MINUTE_MS)
    for (const tenant of [acme, globex]) {
      const token = n % 2 === 0 ? tenant.tokens.editor : tenant.tokens.admin
      const { flags, flag } = addressesOf(tenant)
      const body = { key: `flag-${n}`, type: 'boolean' }
      const { id } = (await world.call('POST', flags, { token, body })).data
      await world.call('PUT', flag(id), { token, body: { name: 'Renamed' } })
    }
  }
  entries = (await list('limit=100')).data
})

async function list(query: string, token = acme.tokens.viewer): Promise<Json> {
  const answer = await world.call('GET', `/audit/logs?${query}`, { token })
  expect([query, answer.status]).toEqual([query, 200])
  return answer.data
}

const idsOf = (list: readonly Json[]) => list.map(({ id }) => id)

/** Returns the texts in the order of a store: by code point. */
const ordered = (texts: readonly string[]) => [...texts].sort()

describe('GET /audit/logs', () => {
  it('The audit log returns fifty entries per page, newest first, in the format of the interface', async () => {
    const { data, meta } = await list('')
    expect(meta).toEqual({ total: 16, page: 1, pageCount: 1 })
    expect(data.length).toBe(16)
    expect(data[0]).toEqual({
      id: `changes:${acme.orgId}:000000000016`,
      eventType: 'flag.updated',
      payload: { before: expect.any(Object), after: expect.objectContaining({ name: 'Renamed' }) },
      created_at: timeAfter(5),
      stream_id: `flag:${data[0].payload.after.id}`,
      comment: null,
      org_id: acme.orgId,
      project_id: acme.project.id,
      actor_id: data[0].actor.id,
      actor: { id: expect.any(String), email: '', name: 'Acme editor', role: 'editor' },
      sequence: 16,
      previous_hash: data[1].hash,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(data.map(({ sequence }: Json) => sequence)).toEqual(
      Array.from(data, (_, index) => 16 - index),
    )
  })

  it.each([
    ['event_type=flag.created', (entry: Json) => entry.eventType === 'flag.created'],
    ['event_type=no.such', () => false],
    ['actor_id=system', (entry: Json) => entry.actor_id === 'system'],
    ['project_id=PROJECT', (entry: Json) => entry.project_id === acme.project.id],
    ['org_id=ORG', () => true],
    ['org_id=ORG&event_type=flag.updated&actor_id=system', () => false],
    [`from_date=${timeAfter(2)}`, (entry: Json) => entry.created_at >= timeAfter(2)],
    [`to_date=${timeAfter(2)}`, (entry: Json) => entry.created_at <= timeAfter(2)],
    [
      `from_date=${timeAfter(2)}&to_date=${timeAfter(2)}`,
      (entry: Json) => entry.created_at === timeAfter(2),
    ],
    [`to_date=9999-12-31T23:59:59.999Z`, () => true],
    [
      `from_date=2030-01-01T01:02:00%2B01:00&event_type=flag.created`,
      (entry: Json) => entry.created_at >= timeAfter(2) && entry.eventType === 'flag.created',
    ],
  ])(
    'The filter %s selects exactly the matching entries, from every source',
    async (template, isMeant) => {
      const query = template.replace('PROJECT', acme.project.id).replace('ORG', acme.orgId)
      const meant = idsOf(entries.filter(isMeant))
      for (const source of ['', '&source=both', '&source=database', '&source=redis']) {
        const { data, meta } = await list(query + source)
        expect(idsOf(data)).toEqual(meant)
        expect(meta).toEqual({ total: meant.length, page: 1, pageCount: meant.length > 0 ? 1 : 0 })
      }
    },
  )

  it.each(['database', 'redis'])(
    'The source %s sorts by each field in both directions, with a stable order of equal values',
    async (source) => {
      const fields = { created_at: 'created_at', event_type: 'eventType', actor_id: 'actor_id' }
      for (const [name, field] of Object.entries(fields)) {
        const read = async (direction: string): Promise<readonly Json[]> =>
          (await list(`sort=${name}:${direction}&source=${source}`)).data
        const [up, down] = [await read('asc'), await read('desc')]
        const values = ordered(entries.map((entry) => entry[field]))
        expect(up.map((entry) => entry[field])).toEqual(values)
        expect(down.map((entry) => entry[field])).toEqual(values.reverse())
        expect(await read('asc')).toEqual(up)
        if (name !== 'created_at') continue
        expect(idsOf(down)).toEqual(idsOf(entries))
        expect(idsOf(up)).toEqual(idsOf([...entries].reverse()))
      }
    },
  )

  it.each(['both', 'redis'])(
    'The pages of the source %s contain every entry once, with correct metadata',
    async (source) => {
      for (const sort of ['created_at:desc', 'event_type:asc', 'actor_id:desc']) {
        for (const limit of [1, 3, 7, 100]) {
          const walked: string[] = []
          const pageCount = Math.ceil(16 / limit)
          for (let page = 1; page <= pageCount + 1; page += 1) {
            const { data, meta } = await list(
              `page=${page}&limit=${limit}&sort=${sort}&source=${source}`,
            )
            expect(meta).toEqual({ total: 16, page, pageCount })
            expect(data.length).toBeLessThanOrEqual(limit)
            walked.push(...idsOf(data))
          }
          expect(new Set(walked)).toEqual(new Set(idsOf(entries)))
          expect(walked.length).toBe(16)
        }
      }
    },
  )

  it('Members see only the entries of their own organization, with any query', async () => {
    const foreign = [
      `project_id=${globex.project.id}`,
      `actor_id=${(await list('', globex.tokens.viewer)).data[0].actor_id}`,
    ]
    for (const query of foreign) expect((await list(query)).meta.total).toBe(0)
    const unknown = await world.call('GET', `/audit/logs?org_id=${crypto.randomUUID()}`, {
      token: acme.tokens.owner,
    })
    for (const path of ['logs', 'verify', 'export']) {
      for (const orgId of [globex.orgId, globex.orgId.toUpperCase(), 'x', '%27%20or%201=1']) {
        const address = `/audit/${path}?org_id=${orgId}`
        const answer = await world.call('GET', address, { token: acme.tokens.owner })
        expect([answer.status, answer.text]).toEqual([404, unknown.text])
      }
    }
    for (const { org_id } of (await list('limit=100')).data) expect(org_id).toBe(acme.orgId)
  })

  it('The platform sees all entries, or those of one organization', async () => {
    const { platform } = acme.tokens
    expect((await list('limit=100', platform)).meta.total).toBe(16 * 2 + 2)
    const own = await list(`limit=100&org_id=${acme.orgId.toUpperCase()}`, platform)
    expect(own.data).toEqual(entries)
    expect((await list(`org_id=${crypto.randomUUID()}`, platform)).data).toEqual([])
  })

  it.each([
    ...['0', '-1', '1.5', '1e2', '0x10', 'NaN', '', '%20', '101', '99999999999999999999'].map(
      (value) => `limit=${value}`,
    ),
    ...['0', '-1', '1.5', '1e2', '0x1', 'Infinity', '', '1,2', '1%00', '٣', '1000000001'].map(
      (value) => `page=${value}`,
    ),
    'page=1&page=2',
    'page[]=1',
    'limit[$gt]=1',
    'page=null',
    ...[
      '2030',
      '2030-01-01',
      '2030-02-30T00:00:00Z',
      '2030-01-01T00:00:00',
      'now',
      '',
      '0',
    ].flatMap((value) => [`from_date=${value}`, `to_date=${value}`]),
    'from_date=0000-01-01T00:00:00%2B23:59',
    'to_date=9999-12-31T23:59:59-23:59',
    'from_date=2030-01-01T00:00:00Z&from_date=2030-01-02T00:00:00Z',
    ...['created_at', 'created_at:', ':asc', 'created_at:up', 'payload:asc', 'createdAt:asc'].map(
      (value) => `sort=${value}`,
    ),
    'sort=created_at:asc,event_type:asc',
    'sort=__proto__:asc',
    'source=file',
    'source=',
    'source=Redis',
    'event_type=',
    'event_type=%00',
    'org_id=',
    'unknown=1',
    '__proto__=1',
    `actor_id=${'x'.repeat(12_000)}`,
    `event_type=${'%F0%9F%98%80'.repeat(1000)}`,
    `org_id=${'x'.repeat(12_000)}`,
    `${'a=1&'.repeat(3000)}`,
  ])('The audit log refuses the query %s', async (query) => {
    const answer = await world.call('GET', `/audit/logs?${query}`, { token: acme.tokens.viewer })
    expect(answer.status).toBe(400)
    expect(answer.data.issues[0].message.length).toBeGreaterThan(3)
    expect(answer.text.length).toBeLessThan(20_000)
  })

  it('Sorted by time, entries are in the order in which they were written, even if the clock jumps', async () => {
    const world = await World.create()
    const tenant = await world.addTenant('Acme')
    const token = tenant.tokens.editor
    const before = world.clock.now()
    const jumps = [0, -60, 24 * 60, -24 * 60, 60, 1, 2].map(
      (minutes) => before + minutes * MINUTE_MS,
    )
    for (const now of jumps) {
      world.clock.set(now)
      const body = { key: `flag-${crypto.randomUUID()}`, type: 'boolean' }
      await world.call('POST', addressesOf(tenant).flags, { token, body })
    }
    const read = async (sort: string) =>
      (await world.call('GET', `/audit/logs?sort=${sort}`, { token })).data.data
    const newest = await read('created_at:desc')
    expect(newest.map(({ sequence }: Json) => sequence)).toEqual(
      Array.from({ length: 13 }, (_, index) => 13 - index),
    )
    const times = newest.slice(0, 7).map(({ created_at }: Json) => Date.parse(created_at))
    expect(times.reverse()).toEqual(jumps)
    expect((await read('created_at:asc')).reverse()).toEqual(newest)
    const verified = await world.call('GET', '/audit/verify', { token })
    expect(verified.data).toEqual({ valid: true, entries: 13, first_broken: null })
  })
})

describe('GET /audit/export', () => {
  it('The export contains every entry, chain by chain, so that the hashes can be recomputed', async () => {
    const answer = await world.call('GET', '/audit/export', { token: acme.tokens.viewer })
    expect(answer.status).toBe(200)
    expect(answer.headers['Content-Type']).toBe('application/x-ndjson; charset=utf-8')
    expect(answer.text.endsWith('}\n')).toBe(true)
    expect(answer.data).toEqual([...entries].reverse())
    let previousHash = ''
    for (const { hash, comment, ...rest } of answer.data) {
      const content = comment === null ? rest : { ...rest, comment }
      expect(content.previous_hash).toBe(previousHash)
      expect(createHash('sha256').update(canonical(content)).digest('hex')).toBe(hash)
      previousHash = hash
    }
  })

  it('The export accepts the same filters as the log', async () => {
    const filters = [
      'event_type=flag.created',
      `from_date=${timeAfter(2)}&to_date=${timeAfter(3)}`,
      `project_id=${acme.project.id}&actor_id=system`,
      'actor_id=nobody',
    ]
    for (const filter of filters) {
      const exported = await world.call('GET', `/audit/export?${filter}`, {
        token: acme.tokens.viewer,
      })
      const listed = await list(`${filter}&limit=100&sort=created_at:asc`)
      expect(exported.data).toEqual(listed.data)
    }
    for (const unknown of ['page=1', 'sort=created_at:asc', 'to_date=x']) {
      const answer = await world.call('GET', `/audit/export?${unknown}`, {
        token: acme.tokens.viewer,
      })
      expect(answer.status).toBe(400)
    }
  })

  it('The export for the platform contains the chains of all organizations', async () => {
    const answer = await world.call('GET', '/audit/export', { token: acme.tokens.platform })
    const chains = answer.data.map(({ id }: Json) => id.slice(0, id.lastIndexOf(':')))
    const names = [acme.orgId, globex.orgId].map((orgId) => `changes:${orgId}`)
    expect([...new Set(chains)]).toEqual(ordered([...names, 'changes:platform']))
    expect(idsOf(answer.data)).toEqual(ordered(idsOf(answer.data)))
    expect(answer.data.length).toBe(16 * 2 + 2)
  })
})

it('Of forty concurrent changes, the thirty accepted ones have an entry with the correct actor', async () => {
  const world = await World.create()
  const tenants = [await world.addTenant('Acme'), await world.addTenant('Globex')] as const
  const requests = Array.from({ length: 40 }, async (_, n) => {
    const tenant = tenants[n % 2] ?? tenants[0]
    const role = n % 4 === 3 ? 'viewer' : 'editor'
    const token = tenant.tokens[role]
    const body = { key: `flag-${n}`, type: 'boolean' }
    const answer = await world.call('POST', addressesOf(tenant).flags, { token, body })
    return { tenant, key: body.key, status: answer.status }
  })
  const answers = await Promise.all(requests)
  const done = answers.filter(({ status }) => status === 201)
  expect(done.length).toBe(30)
  for (const tenant of tenants) {
    const { data } = (
      await world.call('GET', '/audit/logs?event_type=flag.created', {
        token: tenant.tokens.viewer,
      })
    ).data
    const name = tenant === tenants[0] ? 'Acme editor' : 'Globex editor'
    const keys = done.filter((one) => one.tenant === tenant).map(({ key }) => key)
    expect(ordered(data.map((entry: Json) => entry.payload.after.key))).toEqual(ordered(keys))
    for (const entry of data) {
      expect(entry.org_id).toBe(tenant.orgId)
      expect(entry.actor).toMatchObject({ role: 'editor', name })
      expect(entry.actor.id).toBe(entry.actor_id)
    }
    const all = await world.call('GET', '/audit/export', { token: tenant.tokens.viewer })
    for (const token of Object.values(tenant.tokens)) expect(all.text).not.toContain(token)
    expect(all.text).not.toMatch(/ffat_[0-9a-f]{12}|ff_[0-9a-f]{12}/)
  }
})

/** Returns canonical JSON. It does not use the implementation, to detect mistakes in it. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_name, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
