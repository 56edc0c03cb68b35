import { beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import { type Json, type Tenant, World } from '../world/world.ts'

const NOT_OF_LIST = 'must be `next` of a page of the same list with the same sort order'
const FLAGS = '/projects/shop/flags'
const SUMMARIES = '/projects/shop/flag-summaries'

/** Returns a text in the form of a cursor. */
const cursor = (content: Json) => Buffer.from(JSON.stringify(content)).toString('base64url')

describe.each(stores)('pages after a cursor in %s', (_, open) => {
  let world: World
  let tenant: Tenant

  beforeEach(async () => {
    const { storage, clean } = open()
    world = await World.create(storage)
    tenant = await world.addTenant('Mine')
    for (const key of ['b', 'a', 'c']) {
      const body = { key, type: 'boolean', name: `Flag 😀 ${key}` }
      await world.call('POST', FLAGS, { token: tenant.tokens.owner, body })
    }
    return async () => {
      await storage.close()
      clean()
    }
  })

  const get = (path: string) => world.call('GET', path, { token: tenant.tokens.viewer })
  const read = async (path: string): Promise<Json> => (await get(path)).data

  it('Every page but the last names the next one, and `meta` keeps its three numbers', async () => {
    const first = await read(`${FLAGS}?limit=2`)
    const meta = { total: 3, page: 1, pageCount: 2 }
    expect(first).toEqual({
      data: [expect.anything(), expect.anything()],
      meta,
      next: expect.any(String),
    })
    const second = await read(`${FLAGS}?limit=2&after=${first.next}`)
    expect(second).toEqual({ data: [expect.objectContaining({ key: 'c' })], meta })
    expect((await read(`${FLAGS}?limit=2&page=2`)).next).toBeUndefined()
    expect((await read(`${FLAGS}?limit=3`)).next).toBeUndefined()
  })

  it('A page with a number is followed by a page after its cursor', async () => {
    const { next } = await read(`${FLAGS}?limit=1&page=2`)
    const { data } = await read(`${FLAGS}?limit=5&after=${next}`)
    expect(data.map(({ key }: Json) => key)).toEqual(['c'])
  })

  it('In process, lists accept and return cursors too', async () => {
    const { management } = world
    const params = { projectId: tenant.project.id }
    const { next } = await management.listFlagSummaries({ params, query: { limit: 2 } })
    const query = { limit: 2, ...(next !== undefined && { after: next }) }
    const { data } = await management.listFlagSummaries({ params, query })
    expect(data.map(({ key }) => key)).toEqual(['c'])
  })

  it.each([
    ['x', 'a text that is not a cursor'],
    ['~~~', 'a text that is not base64'],
    [cursor('flag key asc'), 'another JSON value'],
    [cursor(['flag key asc', 'a']), 'too few parts'],
    [cursor(['flag key asc', 'a', 'b', 'c']), 'too many parts'],
    [cursor(['flag key asc', 1, 'b']), 'a part that is not a text'],
    [cursor(['flag key asc', '\u0000', 'b']), 'NUL'],
    [cursor(['segment key asc', 'a', 'b']), 'the cursor of another list'],
    [cursor(['flag key desc', 'a', 'b']), 'the cursor of another order'],
  ])('The cursor %s is refused with 400, because it is %s', async (after) => {
    const { status, data } = await get(`${FLAGS}?after=${after}`)
    expect([status, data.issues]).toEqual([400, [{ path: 'after', message: NOT_OF_LIST }]])
  })

  it('A cursor of another sort order is refused', async () => {
    const { next } = await read(`${SUMMARIES}?limit=1&sort=name:desc`)
    expect((await get(`${SUMMARIES}?limit=1&sort=name:desc&after=${next}`)).status).toBe(200)
    const { status, data } = await get(`${SUMMARIES}?limit=1&sort=key:asc&after=${next}`)
    expect([status, data.issues]).toEqual([400, [{ path: 'after', message: NOT_OF_LIST }]])
  })

  it.each(['0', '-1', '1.5', '1e3', '99999999999', ''])(
    'The cursor of the version %j is refused with 400',
    async (version) => {
      const after = cursor(['version desc', version, ''])
      const { status, data } = await get(`/projects/shop/envs/live/versions?after=${after}`)
      expect([status, data.issues[0].path]).toEqual([400, 'after'])
    },
  )

  it('A request with a page number and a cursor is refused with 400', async () => {
    const { next } = await read(`${FLAGS}?limit=1`)
    const { status, data } = await get(`${FLAGS}?page=2&after=${next}`)
    const message = 'must be absent if there is `after`'
    expect([status, data.issues]).toEqual([400, [{ path: 'page', message }]])
  })

  it('A list without cursors refuses the parameter', async () => {
    const { status, data } = await get('/projects/shop/envs?after=x')
    expect([status, data.issues[0].path]).toEqual([400, 'after'])
    expect((await read('/projects/shop/envs?limit=1')).next).toBeUndefined()
  })

  it('A cursor shows nothing of another project', async () => {
    const theirs = await world.addTenant('Theirs')
    const body = { key: 'z', type: 'boolean' }
    await world.call('POST', FLAGS, { token: theirs.tokens.owner, body })
    const { data } = await read(`${FLAGS}?after=${cursor(['flag key asc', 'c', ''])}`)
    expect(data.map(({ key }: Json) => key)).toEqual(['c'])
  })
})
