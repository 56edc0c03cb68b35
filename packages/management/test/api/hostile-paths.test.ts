import type { EndpointName } from '@ff/protocol/management'
import { beforeAll, describe, expect, it } from 'vitest'
import { call } from '../../../server/test/call.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { expectRefused, GUARDED, OPEN_QUERIES, paramsIn, READS, table } from '../world/refusals.ts'
import { addressOf, ask, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import type { Json } from '../world/world.ts'

/**
 * The scene of all tests. The tests can share the scene, because refused requests change nothing.
 */
let scene: Scene
let token: string
let before: unknown

beforeAll(async () => {
  scene = await createScene()
  token = scene.mine.tokens.platform
  before = await tracesOf(scene)
})

const expectUnchanged = async () => expect(await tracesOf(scene)).toEqual(before)

describe('Paginated lists', () => {
  const LISTS = READS.filter((name) => limitOf(name) !== undefined)
  const WRONG = [
    '0',
    '-1',
    '1.5',
    'x',
    '',
    '1e3',
    '99999999999',
    ' 1',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    'null',
    'true',
    '١',
    '1,2',
    '+1',
    '1;2',
    '-0',
    '1n',
    '[1]',
    '{}',
    '%00',
    '１',
    '9'.repeat(400),
  ]

  /** The endpoints of lists that are returned as a whole, because they are short. */
  const WHOLE: readonly EndpointName[] = ['listPlans', 'listInvoices']

  it('Every GET endpoint of a list is paginated, except short lists', () => {
    const inPages = READS.filter((name) => /^list/.test(name) && !WHOLE.includes(name))
    expect(LISTS).toEqual(inPages)
  })

  it.each(LISTS)('%s refuses invalid pages and limits', async (name) => {
    const limit = limitOf(name)
    for (const field of ['page', limit]) {
      const most = name === 'listFlagSummaries' ? 1000 : 100
      const more = field === limit ? [`${most + 1}`, '1000000'] : ['10000000000']
      for (const value of [...WRONG, ...more]) {
        const address = addressOf(scene, name, `${field}=${value}`)
        const answer = await scene.world.call('GET', address, { token })
        expectRefused(answer, [name, field, value])
        expect(answer.data.issues[0].path).toBe(field)
      }
      const twice = addressOf(scene, name, `${field}=1&${field}=1`)
      expectRefused(await scene.world.call('GET', twice, { token }), [name, 'twice', field])
      const list = addressOf(scene, name, `${field}[]=1`)
      expectRefused(await scene.world.call('GET', list, { token }), [name, 'list', field])
    }
    const long = addressOf(scene, name, `page=${'1'.repeat(12_000)}`)
    expectRefused(await scene.world.call('GET', long, { token }), [name, '12 KB'])
  })

  it.each(LISTS)('The pages of %s contain every item once, with correct metadata', async (name) => {
    const limit = limitOf(name)
    const page = async (query: string) => {
      const answer = await scene.world.call('GET', addressOf(scene, name, query), { token })
      expect(answer.status).toBe(200)
      return answer.data
    }
    const whole = await page(`${limit}=100`)
    const { total } = whole.meta
    expect(whole.meta).toEqual({ total, page: 1, pageCount: Math.ceil(total / 100) })
    expect(total).toBeGreaterThan(0)
    const walked: Json[] = []
    for (let number = 1; number <= Math.min(total, 20); number += 1) {
      const { data, meta } = await page(`${limit}=1&page=${number}`)
      expect(meta).toEqual({ total, page: number, pageCount: total })
      walked.push(...data)
    }
    expect(walked).toEqual(whole.data.slice(0, 20))
    expect((await page(`${limit}=100&page=${total + 1}`)).data).toEqual([])
  })
})

describe('Paths that resemble an endpoint', () => {
  const trick = (address: string) => {
    const [path = '', query = ''] = address.split('?')
    const second = path.indexOf('/', 1)
    const tail = query === '' ? '' : `?${query}`
    return [
      `/${path}`,
      `${path}/`,
      `${path}//`,
      `${path}%2F`,
      `/.${path}`,
      `/health/..${path}`,
      `/health/%2e%2e${path}`,
      `/evaluator/..${path}`,
      `/evaluator/evaluate/../..${path}`,
      `${path};x=1`,
      `${path}.json`,
      `${path}%00`,
      `${path}%20`,
      `${path}\t`,
      `${path}/.`,
      `${path}/..`,
      `${path}\\`,
      `/api${path}`,
      path.replaceAll('/', '\\'),
      `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
      path.slice(1),
      ...(second === -1 ? [] : [`${path.slice(0, second)}/${path.slice(second)}`]),
      path.replace(/^\/\w/, (start) => start.toUpperCase()),
    ].map((changed) => changed + tail)
  }
  const overrides = {
    'x-original-url': '/health',
    'x-rewrite-url': '/health',
    'x-forwarded-path': '/health',
    'x-forwarded-prefix': '/health',
    'x-http-method-override': 'GET',
    'x-http-method': 'GET',
    'x-method-override': 'GET',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-user': 'admin',
    'x-real-ip': '127.0.0.1',
    'x-user-id': 'system',
    'x-forwarded-host': 'localhost',
  }

  it.each(READS)('Other spellings of the path of %s never return its data', async (name) => {
    const address = addressOf(scene, name)
    for (const path of trick(address)) {
      expect([path, (await scene.world.call('GET', path)).status]).toEqual([
        path,
        expect.toBeOneOf([401, 404]),
      ])
      const answer = await scene.world.call('GET', path, { token })
      expect([path, answer.status]).toEqual([path, expect.toBeOneOf([400, 404, 405])])
      expect(answer.text).not.toContain('secret')
    }
  })

  it.each(GUARDED)(
    'Headers that override the method, path or user do not authorize %s',
    async (name) => {
      for (const [header, value] of Object.entries(overrides)) {
        expect((await ask(scene, name, undefined, { [header]: value })).status).toBe(401)
      }
      await expectUnchanged()
    },
  )

  it('Unknown paths return 404 with every method', async () => {
    for (const path of [
      '/',
      '/admin',
      '/projects',
      '/organizations/',
      '/users',
      '/auth/login/x',
      '/flags',
      '/debug',
      '/.env',
    ]) {
      for (const method of [
        'GET',
        'POST',
        'PUT',
        'DELETE',
        'PATCH',
        'OPTIONS',
        'TRACE',
        'CONNECT',
      ]) {
        expect([path, (await scene.world.call(method, path, { token })).status]).toEqual([
          path,
          404,
        ])
      }
    }
  })
})

describe('Credentials of the other plane', () => {
  it.each(GUARDED)('An SDK key does not authorize %s', async (name) => {
    const key = await sdkKeyOf(scene)
    const { method } = table[name]
    const body = scene.bodies[name]
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { 'x-api-key': key },
      { authorization: key },
      { cookie: `token=${key}` },
    ]) {
      expect((await ask(scene, name, undefined, headers)).status).toBe(401)
    }
    for (const field of ['api_key', 'access_token', 'sdkKey', 'x-api-key']) {
      const address = addressOf(scene, name, `${field}=${key}`)
      expect((await scene.world.call(method, address, { body })).status).toBe(401)
    }
  })

  it('An access token does not authorize evaluations', async () => {
    const { storage, clock } = scene.world
    const flags = createManagedServer({ storage, clock })
    const body = { context: {} }
    const ofrep = '/ofrep/v1/evaluate/flags'
    for (const path of ['/evaluator/evaluate', '/evaluator/poll', ofrep, `${ofrep}/a`]) {
      for (const headers of [{ 'x-api-key': token }, { authorization: `Bearer ${token}` }]) {
        expect((await call(flags, path, { body, headers })).status).toBe(401)
      }
      expect((await call(flags, `${path}?api_key=${token}`, { body })).status).toBe(401)
    }
    const key = await sdkKeyOf(scene)
    expect((await call(flags, '/evaluator/evaluate', { key, body })).status).toBe(200)
  })
})

describe('The endpoint table', () => {
  it('Every endpoint has a permission and codecs that refuse unknown parameters', () => {
    for (const name of NAMES) {
      const { permission, params, query, body, response } = table[name]
      expect(permission).toMatch(/^([a-z]+\.[a-z]+|anyone|oneself)$/)
      for (const codec of [params, query, body, response]) expect(codec.def, name).toBeDefined()
      const more = query.safeParse({ unknown: '1' })
      expect(more.success, name).toBe(OPEN_QUERIES.includes(name))
      expect(more.data ?? {}).toEqual({})
      expect(params.safeParse({}).success, name).toBe(paramsIn(name).length === 0)
    }
  })
})

/**
 * Returns the name of the parameter for the page size of a list; `undefined` if the list has no
 * pages.
 */
function limitOf(name: EndpointName): string | undefined {
  if (OPEN_QUERIES.includes(name)) return undefined
  return ['limit', 'perPage'].find(
    (field) => table[name].query.safeParse({ page: '1', [field]: '1' }).success,
  )
}

async function sdkKeyOf({ world, mine }: Scene): Promise<string> {
  const params = { projectId: mine.project.id, environmentId: mine.live.id }
  const body = { name: crypto.randomUUID(), kind: 'server' } as const
  return (await world.management.createSdkKey({ params, body })).key
}
